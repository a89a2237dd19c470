package loop

import (
	"time"

	"github.com/benbjohnson/clock"

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
	return sinceBoot()
}

func (s *source) bound(d time.Duration) time.Duration {
	if s.real {
		return min(d, sleepMax)
	}
	return d
}
