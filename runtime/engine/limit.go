package engine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// descriptorReserve is kept for what is not a virtual user's connection: standard
// streams, the epoll set, the way to the parent, the interpreter's files.
const descriptorReserve = 32

// sharers is how many have connections of their own: virtual users, or places in a pool.
func sharers(c Config) uint64 {
	if shared := c.Workflow.Plan.Connections; shared > 0 {
		return min(c.VUs, uint64(shared))
	}
	return c.VUs
}

// checkDescriptors refuses a run that would fail for want of descriptors in the middle.
func checkDescriptors(vus, lanes uint64) error {
	need := vus*lanes + descriptorReserve
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	if need <= limit.Cur {
		return nil
	}
	if need <= limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &raised); err != nil {
			return fmt.Errorf("raise the limit of open files from %d to %d: %w", limit.Cur, limit.Max, err)
		}
		return nil
	}
	return &DescriptorError{VUs: vus, Lanes: lanes, Need: need, Limit: limit.Max}
}

// growDescriptors makes the table of open files as large as it will have to be. When a
// process with several threads outgrows it, at 64, 256, 512 files and so on, the kernel
// waits for all processors: 10 to 20 ms in which no request starts. It may fail; then
// that happens in the middle of a run.
func growDescriptors(vus, lanes uint64) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if last, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, int(vus*lanes+descriptorReserve-1)); err == nil {
		_ = unix.Close(last)
	}
}

// DescriptorError tells that the process may not open enough connections.
type DescriptorError struct {
	VUs, Lanes  uint64 // connections of each virtual user
	Need, Limit uint64
}

func (e *DescriptorError) Error() string {
	most := uint64(0)
	if e.Limit > descriptorReserve {
		most = (e.Limit - descriptorReserve) / max(e.Lanes, 1)
	}
	return fmt.Sprintf("%d virtual users with %d connection(s) each need %d open files, but the limit is %d: raise it (ulimit -Hn %d), run on more cores, or use at most %d virtual users a core",
		e.VUs, e.Lanes, e.Need, e.Limit, e.Need, most)
}
