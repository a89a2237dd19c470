package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// startOn starts a command that may only run on these processors. Affinity belongs
// to a thread and is inherited by what it starts. What is started ends with us.
func startOn(cmd *exec.Cmd, cpus []int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("read the affinity: %w", err)
	}
	for _, cpu := range cpus {
		want.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &want); err != nil {
		return fmt.Errorf("run on processors %v: %w", cpus, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }() // it was ours a moment ago
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd.Start()
}

// tree returns a process and all below it, the root first. What ends meanwhile is
// left out.
func tree(root int) []int {
	pids := []int{root}
	for i := 0; i < len(pids); i++ {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pids[i]))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pids[i], task.Name()))
			if err != nil {
				continue
			}
			for _, field := range bytes.Fields(text) {
				if pid, err := strconv.Atoi(string(field)); err == nil {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}

// memory is what processes have resident, in KiB.
type memory struct {
	Anon int // RssAnon
	RSS  int // VmRSS
}

func (m *memory) add(o memory) { m.Anon, m.RSS = m.Anon+o.Anon, m.RSS+o.RSS }

// memoryOf reads /proc/PID/status; a process that has ended has none.
func memoryOf(pid int) memory {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}
	}
	return memory{Anon: kilobytes(text, "RssAnon:"), RSS: kilobytes(text, "VmRSS:")}
}

func kilobytes(status []byte, name string) int {
	_, rest, ok := bytes.Cut(status, []byte("\n"+name))
	if !ok {
		return 0
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		return 0
	}
	return n
}
