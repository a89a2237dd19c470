//go:build linux

package exec

import (
	osexec "os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// What this kernel calls a clock that goes on while the machine is suspended, sockets and descriptors that no other
// program gets, and sockets that do not block.
const (
	bootClock   = unix.CLOCK_BOOTTIME
	ownSocket   = unix.SOCK_CLOEXEC
	ownRights   = unix.MSG_CMSG_CLOEXEC
	quickSocket = unix.SOCK_NONBLOCK
)

// Usable returns the processors that this process may run on.
func Usable() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return []int{0}
	}
	var cpus []int
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// slice is the scheduler's time slice of an executor. The shorter it is, the sooner an executor
// that wakes up for a due request gets the processor; its share stays the same. It is the least
// that the kernel accepts; kernels before 6.12 ignore it.
const slice = 100 * time.Microsecond

// startPinned starts cmd with the affinity of its processor, and its shard. Both belong to
// a thread and are inherited at fork, so this thread wears them for a moment.
func startPinned(cmd *osexec.Cmd, cpu int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if before, err := unix.SchedGetAttr(0, 0); err == nil && before.Policy == unix.SCHED_NORMAL {
		short := *before
		short.Runtime = uint64(slice)
		if err := unix.SchedSetAttr(0, &short, 0); err == nil {
			defer func() { _ = unix.SchedSetAttr(0, before, 0) }() // it was ours a moment ago
		}
	}
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err == nil {
		one.Set(cpu)
		if err := unix.SchedSetaffinity(0, &one); err == nil {
			defer func() { _ = unix.SchedSetaffinity(0, &before) }() // it was ours a moment ago
		}
	}
	return cmd.Start()
}
