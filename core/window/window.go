package window

import (
	"time"

	"hyperscale/core/node"
)

// Granularity bounds how far a reading lags its clock.
const Granularity = time.Millisecond

const million = 1_000_000

// Terms are the settings that all nodes of a chain must share.
type Terms struct {
	Word     time.Duration // D: a manager acts for a subjob at most so long after its request to the gate
	Renewal  time.Duration // R: a worker runs a shard at most so long after its request to the manager
	DriftPPM int64         // r: how far a clock's rate may lie from real time, in millionths
}

// Hold returns how long a manager acts on a gate's answer, by its own clock.
func (t Terms) Hold() time.Duration { return Hold(t.Word, t.DriftPPM) }

// Stopped returns how long load continues after a manager's last act, in real time.
func (t Terms) Stopped() time.Duration {
	return scale(t.Renewal+node.ExecutorEnd+Granularity, million, million-t.DriftPPM)
}

// Load returns how long load continues after a gate's answer, in real time.
func (t Terms) Load() time.Duration { return t.Word + t.Stopped() }

// Patience returns how long a manager waits after its last act for a shard, by its own clock.
func (t Terms) Patience() time.Duration { return Guard(t.Stopped(), t.DriftPPM) }

// Guard returns how long a gate waits after it last named a subjob, by its own clock.
func (t Terms) Guard() time.Duration { return Guard(t.Word+t.Stopped(), t.DriftPPM) }

// TakeOver bounds how long managers wait for the word of the next owner after an owner has died: until its lease is over for
// the others, the turns of as many gates as may have died with it, one majority, and a heartbeat of a manager.
func TakeOver(lease, turns, majority, heartbeat time.Duration, driftPPM int64) time.Duration {
	return Guard(lease, driftPPM) + turns + majority + heartbeat
}

// Hold returns how long a clock may count so that no more than d has passed.
func Hold(d time.Duration, driftPPM int64) time.Duration {
	return d - scale(d, driftPPM, million) - Granularity
}

// Guard returns how long a clock must count so that no less than d has passed. It rounds to
// whole granules, because operators read it.
func Guard(d time.Duration, driftPPM int64) time.Duration {
	return (scale(d, million+driftPPM, million) + Granularity - 1).Truncate(Granularity) + Granularity
}

// scale returns d n / m, rounded up. It does not overflow if the result fits.
func scale(d time.Duration, n, m int64) time.Duration {
	whole, rest := int64(d)/m, int64(d)%m
	return time.Duration(whole*n + (rest*n+m-1)/m)
}
