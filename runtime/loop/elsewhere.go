//go:build !linux

package loop

import (
	"golang.org/x/sys/unix"

	"hyperscale/core/node"
)

// sinceBoot reads the clock that goes on while the machine is suspended: on macOS that is the monotonic one.
func sinceBoot() node.Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		node.Bug("loop: read CLOCK_MONOTONIC: %v", err)
	}
	return node.Instant(ts.Nano())
}
