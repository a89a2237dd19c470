package nodetest

import (
	"time"

	"hyperscale/core/node"
)

// Clock is a node's time and its timers.
type Clock struct {
	recorder *Recorder
	now      node.Instant
	sequence uint64
	timers   map[node.TimerKey]firing
}

type firing struct {
	at       node.Instant
	sequence uint64
}

// Now implements node.Env.
func (c *Clock) Now() node.Instant { return c.now }

// Oversleep advances time while the node does not run: no timer fires until Advance.
func (c *Clock) Oversleep(d time.Duration) { c.now = c.now.Add(d) }

// SetTimer implements node.Env.
func (c *Clock) SetTimer(k node.TimerKey, d time.Duration) {
	if d < 0 {
		node.Bug("nodetest: %v set to %v", k, d)
	}
	c.sequence++
	c.timers[k] = firing{c.now.Add(d), c.sequence}
	if c.recorder.Timers {
		c.recorder.line("set %v %v", k, d)
	}
}

// CancelTimer implements node.Env.
func (c *Clock) CancelTimer(k node.TimerKey) {
	if _, ok := c.timers[k]; ok && c.recorder.Timers {
		c.recorder.line("cancel %v", k)
	}
	delete(c.timers, k)
}

// fire takes the first timer that is due until an instant, in the order of (time, setting), and
// moves to its time.
func (c *Clock) fire(until node.Instant) (next node.TimerKey, due bool) {
	best := firing{until, ^uint64(0)}
	//lint:orderfree the least of a total order does not depend on the way to it
	for k, f := range c.timers {
		if f.at < best.at || f.at == best.at && f.sequence < best.sequence {
			next, best = k, f
		}
	}
	if best.sequence == ^uint64(0) {
		return next, false
	}
	c.now = max(c.now, best.at)
	delete(c.timers, next)
	return next, true
}
