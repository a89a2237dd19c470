//go:build linux

package loop

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"hyperscale/core/node"
)

// sinceBoot reads the clock that goes on while the machine is suspended.
func sinceBoot() node.Instant {
	var ts unix.Timespec
	// Raw: it never blocks, so the scheduler need not know of it twice for each message.
	if _, _, errno := syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		node.Bug("loop: read CLOCK_BOOTTIME: %v", errno) // Linux has it since 2.6.39
	}
	return node.Instant(ts.Nano())
}
