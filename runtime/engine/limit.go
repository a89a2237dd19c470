package engine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// descriptorReserve is for descriptors that are no virtual user's connection: standard streams,
// the epoll set, the pipe to the parent, the interpreter's files.
const descriptorReserve = 32

// sharers counts the owners of connections: virtual users, or places in a pool.
func sharers(c Config) uint64 {
	if shared := c.Workflow.Plan.Connections; shared > 0 {
		return min(c.VUs, uint64(shared))
	}
	return c.VUs
}

// checkDescriptors rejects a run that would run out of descriptors on the way.
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

// growDescriptors grows the table of open files to its final size. When a process with several
// threads outgrows it, at 64, 256, 512 files and so on, the kernel waits for all processors: 10
// to 20 ms in which no request starts. If this fails, the table grows during the run.
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

// DescriptorError says that the process may not open enough connections.
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
