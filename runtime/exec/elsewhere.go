//go:build !linux

package exec

import (
	"errors"
	"fmt"
	osexec "os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// No executor starts here: what follows is never used, but for the number of processors.
const (
	bootClock   = unix.CLOCK_MONOTONIC
	ownSocket   = 0
	ownRights   = 0
	quickSocket = 0
)

// Usable returns the processors that this process may run on.
func Usable() []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

func startPinned(*osexec.Cmd, int) error {
	return fmt.Errorf("executors run on Linux alone: %w", errors.ErrUnsupported)
}
