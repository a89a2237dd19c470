package retry

import (
	"time"

	"hyperscale/core/node"
)

// Fuse says when a Circuit opens, and how long until a trial.
type Fuse struct {
	Failures int // within Window that open it
	Window   time.Duration
	Reset    time.Duration // from the last failure, or from a trial without an outcome, to the next trial
}

// Circuit is a circuit breaker around a peer, or around majorities: after a few failures it stays open
// for a while, then a single trial decides. It spares callers what is about to fail. The zero value is
// closed.
type Circuit struct {
	failures []node.Instant // within the window, oldest first
	until    node.Instant   // while it is open: when the next trial may go
	open     bool
	trial    bool // one is on its way
}

// Open says that the circuit is not closed: it lets trials through at most.
func (c *Circuit) Open() bool { return c.open }

// Tries says that a trial is on its way.
func (c *Circuit) Tries() bool { return c.trial }

// Failures counts those within the window of the last one.
func (c *Circuit) Failures() int { return len(c.failures) }

// Failed counts a failure, and says whether it has opened the circuit. The failure of a trial opens it
// again.
func (c *Circuit) Failed(f Fuse, now node.Instant) (opened bool) {
	c.failures = append(c.failures, now)
	for len(c.failures) > f.Failures || now.Sub(c.failures[0]) >= f.Window {
		c.failures = c.failures[1:]
	}
	if !c.open && len(c.failures) < f.Failures {
		return false
	}
	opened, c.open, c.trial, c.until = !c.open, true, false, now.Add(f.Reset)
	return opened
}

// Worked closes the circuit, and says whether it was open.
func (c *Circuit) Worked() (closed bool) {
	closed = c.open
	*c = Circuit{}
	return closed
}

// Left returns how long until the next trial; 0: the circuit is closed, or a trial may go now.
func (c *Circuit) Left(now node.Instant) time.Duration {
	if !c.open {
		return 0
	}
	return max(0, c.until.Sub(now))
}

// Try lets a request through, or returns how long it must wait. While the circuit is open it lets one
// through at a time: the next one after Reset, should this one never end.
func (c *Circuit) Try(f Fuse, now node.Instant) (wait time.Duration) {
	if wait = c.Left(now); wait == 0 && c.open {
		c.trial, c.until = true, now.Add(f.Reset)
	}
	return wait
}
