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
