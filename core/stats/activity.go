package stats

import (
	"time"

	"hyperscale/core/message"
)

// Activity is what a schedule does over time: users that are active, iterations that begin, and
// iterations that no user was free for. Its windows count iterations begun as Started, dropped as
// Failed, and the microseconds of active users as OK: so sums of executors are those of their users.
type Activity struct {
	windows                Windows
	at                     time.Duration
	active, begun, dropped uint64
}

// activityEvery is the resolution of Turn.
const activityEvery = 10 * time.Millisecond

// NewActivity watches a schedule from then on.
func NewActivity(now time.Duration) Activity { return Activity{at: now.Truncate(time.Microsecond)} }

// Turn counts what happened since the last call. It does nothing while that is less than its
// resolution ago.
func (a *Activity) Turn(now time.Duration, active, begun, dropped uint64) {
	if now-a.at >= activityEvery {
		a.Finish(now, active, begun, dropped)
	}
}

// Finish counts what happened since the last call, however short that is.
func (a *Activity) Finish(now time.Duration, active, begun, dropped uint64) {
	now = now.Truncate(time.Microsecond)
	for a.at < now {
		w := a.windows.At(a.at)
		until := min(now, a.windows.until)
		w.OK += a.active * uint64((until - a.at).Microseconds())
		a.at = until
	}
	w := a.windows.At(now)
	w.Started, w.Failed = w.Started+begun-a.begun, w.Failed+dropped-a.dropped
	a.active, a.begun, a.dropped = active, begun, dropped
}

// Wire writes the windows as a message.
func (a *Activity) Wire() message.Windows { return a.windows.Wire() }

// UsersMilli is how many users were active on average in a window that lasted so long, in
// thousandths.
func (w *Window) UsersMilli(lasted time.Duration) uint64 {
	us := uint64(lasted.Microseconds())
	if us == 0 {
		return 0
	}
	return w.OK/us*1000 + w.OK%us*1000/us
}
