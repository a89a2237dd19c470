package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"hyperscale/core/node"
	"hyperscale/runtime/config"
	"hyperscale/runtime/local"
)

// folders are the control groups (version 2) of this process, the innermost first. In none: empty.
func (m *machine) folders() (all []string) {
	b, err := os.ReadFile(filepath.Join(m.root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		path, is := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !is {
			continue
		}
		for path = filepath.Clean("/" + path); ; path = filepath.Dir(path) {
			all = append(all, filepath.Join("sys/fs/cgroup", path))
			if path == "/" {
				return all
			}
		}
	}
	return nil
}

// keyed reads a number behind a word of a file, such as "nr_throttled 7".
func (m *machine) keyed(path, key string) int64 {
	b, err := os.ReadFile(filepath.Join(m.root, path))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if word, value, _ := strings.Cut(strings.TrimSpace(line), " "); word == key {
			n, _ := strconv.ParseInt(value, 10, 64) // what is no number counts as none
			return n
		}
	}
	return 0
}

// quota is the least quota of the control groups in cores; zero: there is none.
func (m *machine) quota() (least float64, of string) {
	for _, folder := range m.folders() {
		path := filepath.Join(folder, "cpu.max")
		if v := m.numbers(path); len(v) == 2 && v[1] > 0 {
			if cores := float64(v[0]) / float64(v[1]); least == 0 || cores < least {
				least, of = cores, "/"+path
			}
		}
	}
	return least, of
}

// throttledMost is the share of periods, in percent, in which a quota may stop a process.
const throttledMost = 1

// cpu looks at the quota of processors, and how often it has stopped a process.
func (m *machine) cpu(c *config.Node) (all []Finding) {
	const check = "cpu"
	cores := c.Cores
	if cores == 0 {
		cores = local.Cores()
	}
	quota, of := m.quota()
	switch wants := float64(cores + 1); {
	case quota == 0:
		all = append(all, ok(check, "quota", "none; this process may use %d processors", runtime.NumCPU()))
	case c.Role == node.RoleWorker && quota < wants:
		all = append(all, fail(check, of, "raise the quota (limits.cpu, CPUQuota=) to one core more than --cores, lower --cores, or take the quota away",
			"a quota of %.2g cores for %d executors and the worker: the kernel stops them, and latencies are wrong", quota, cores))
	case quota < 1:
		all = append(all, warn(check, of, "give the node one core", "a quota of %.2g cores", quota))
	default:
		all = append(all, ok(check, of, "a quota of %.3g cores", quota))
	}
	for _, folder := range m.folders() {
		path := filepath.Join(folder, "cpu.stat")
		periods, throttled := m.keyed(path, "nr_periods"), m.keyed(path, "nr_throttled")
		if periods > 0 && 100*throttled > throttledMost*periods {
			return append(all, warn("throttling", "/"+path, "raise or remove the quota of CPU", "the kernel stopped this group in %.0f %% of its periods", 100*float64(throttled)/float64(periods)))
		}
	}
	return all
}

// What a role needs of memory and processes, in bytes: docs/operations.md.
const (
	memoryOwner    = 512 << 20
	memoryWorker   = 256 << 20
	memoryExecutor = 64 << 20
	tasksLeast     = 512
)

// memory looks at the bounds of memory and of processes.
func (m *machine) memory(c *config.Node) (all []Finding) {
	need := int64(memoryOwner)
	if c.Role == node.RoleWorker {
		cores := c.Cores
		if cores == 0 {
			cores = local.Cores()
		}
		need = memoryWorker + int64(cores)*memoryExecutor
	}
	least, of := m.least("memory.max")
	switch {
	case of == "":
		all = append(all, ok("memory", "control group", "no limit"))
	case least < need:
		all = append(all, warn("memory", of, "raise it (limits.memory, MemoryMax=), or lower --cores", "a limit of %d MiB, a %s wants %d MiB", least>>20, c.Role, need>>20))
	default:
		all = append(all, ok("memory", of, "a limit of %d MiB", least>>20))
	}
	for _, folder := range m.folders() {
		path := filepath.Join(folder, "memory.events")
		if n := m.keyed(path, "oom_kill"); n > 0 {
			all = append(all, warn("memory", "/"+path, "raise the limit of memory, or lower --cores", "the kernel has killed %d processes of this group for want of memory", n))
			break
		}
	}
	if n, of := m.least("pids.max"); of != "" && n < tasksLeast {
		all = append(all, warn("tasks", of, "raise it (TasksMax=)", "%d processes and threads at most", n))
	}
	return all
}

// least is the lowest bound of a kind in the control groups; of is empty without one.
func (m *machine) least(file string) (least int64, of string) {
	for _, folder := range m.folders() {
		path := filepath.Join(folder, file)
		if v := m.numbers(path); len(v) == 1 && (of == "" || v[0] < least) {
			least, of = v[0], "/"+path
		}
	}
	return least, of
}
