package exec

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// machineMemory is what this process's machine has left of its memory, and has; zeros if neither is
// known. In a container, the machine is what its control group may have.
func machineMemory() (left, machine uint64) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0
	}
	if info, err := fs.Meminfo(); err == nil && info.MemAvailableBytes != nil && info.MemTotalBytes != nil {
		left, machine = *info.MemAvailableBytes, *info.MemTotalBytes
	}
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return left, machine
	}
	return withinGroups(left, machine, "/sys/fs/cgroup", groupOf(string(self)))
}

// groupOf is the path of a process's control group of version 2 by the text of its file; empty if it is
// in none.
func groupOf(text string) string {
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path
		}
	}
	return ""
}

// withinGroups bounds memory by what a control group and those above it may have. What the kernel keeps
// of files counts as left: it gives that up first.
func withinGroups(left, machine uint64, root, group string) (uint64, uint64) {
	if group == "" {
		return left, machine
	}
	for path := filepath.Clean("/" + group); ; path = filepath.Dir(path) {
		folder := filepath.Join(root, path)
		if most, ok := number(filepath.Join(folder, "memory.max")); ok && most > 0 {
			used, _ := number(filepath.Join(folder, "memory.current"))
			used -= min(used, inactiveFiles(filepath.Join(folder, "memory.stat")))
			if free := most - min(most, used); machine == 0 || free < left {
				left = free
			}
			if machine == 0 || most < machine {
				machine = most
			}
		}
		if path == "/" {
			return min(left, machine), machine
		}
	}
}

// number reads a file with one number; false if there is none, or if it says max.
func number(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// inactiveFiles reads what the kernel keeps of files that were not used lately.
func inactiveFiles(path string) uint64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "inactive_file "); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64) // what is no number counts as none
			return n
		}
	}
	return 0
}
