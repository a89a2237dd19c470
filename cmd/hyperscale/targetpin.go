//go:build linux

package main

import (
	"syscall"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/local"
)

// besideJobs is a separate process group: Ctrl-C ends the job, and the job's end ends the target. If this
// process dies, the kernel ends the target too.
func besideJobs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// leaveJobsTheirCores keeps this thread, and what it starts, on a processor that no executor has.
func leaveJobsTheirCores() {
	if cpus := local.CPUs(); len(cpus) > 1 {
		var set unix.CPUSet
		set.Set(cpus[len(cpus)-1])
		_ = unix.SchedSetaffinity(0, &set) // where it is forbidden the target shares, and the summary is still true
	}
}
