package loop

import (
	"syscall"
	"time"
	"unsafe"

	"github.com/benbjohnson/clock"
	"golang.org/x/sys/unix"

	"hyperscale/core/node"
)

// source reads the node's clock and knows how long it may be slept on.
type source struct {
	clock clock.Clock
	real  bool
	zero  time.Time // of a clock that was given
}

// sleepMax bounds a sleep on the real clock. Go's timers stand still while the
// machine is suspended and Env.Now does not: after a suspension a timer is late
// by at most this much. A wake a second costs nothing that shows.
const sleepMax = time.Second

func newSource(c clock.Clock) source {
	if c == nil {
		return source{clock: clock.New(), real: true}
	}
	return source{clock: c, zero: c.Now()}
}

// now returns nanoseconds since an arbitrary zero.
func (s *source) now() node.Instant {
	if !s.real {
		return node.Instant(s.clock.Now().Sub(s.zero)) + 1
	}
	var ts unix.Timespec
	// Raw: it never blocks, so the scheduler need not know of it twice for each message.
	if _, _, errno := syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		node.Bug("loop: read CLOCK_BOOTTIME: %v", errno) // Linux has it since 2.6.39
	}
	return node.Instant(ts.Nano())
}

func (s *source) bound(d time.Duration) time.Duration {
	if s.real {
		return min(d, sleepMax)
	}
	return d
}
