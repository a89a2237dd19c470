package gate

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds of the circuit around majorities.
const (
	circuitFailures = 3
	circuitWindow   = 30 * time.Second
	circuitReset    = 10 * time.Second
)

// circuit spares clients a timeout each while majorities fail: after a few
// failures it is open for a while, then one trial decides.
type circuit struct {
	failures []node.Instant // within the window, the oldest first
	until    node.Instant   // open so long
	open     bool
}

// failed counts a majority that was not reached.
func (c *circuit) failed(now node.Instant) {
	c.failures = append(c.failures, now)
	for len(c.failures) > circuitFailures || now.Sub(c.failures[0]) >= circuitWindow {
		c.failures = c.failures[1:]
	}
	if c.open || len(c.failures) == circuitFailures {
		c.open, c.until = true, now.Add(circuitReset)
	}
}

// worked closes it.
func (c *circuit) worked() { *c = circuit{} }

// left says how long to wait before a majority is asked; zero lets one ask, once
// in a while as long as it is open.
func (c *circuit) left(now node.Instant) time.Duration {
	switch {
	case !c.open:
		return 0
	case now < c.until:
		return c.until.Sub(now)
	}
	c.until = now.Add(circuitReset) // the next trial, should this one never end
	return 0
}

// circuitRefuses answers in place of a majority while the circuit is open.
func (m *Machine) circuitRefuses(env node.Env, a *audience.Ask) bool {
	left := m.circuit.left(env.Now())
	if left == 0 {
		return false
	}
	env.Emit(event.Shed{What: "request", Why: "majorities of the gates have failed"})
	env.Send(a.Stream, &message.Refused{
		Request: a.Request, Code: message.CodeCircuitOpen, RetryAfter: left,
		Detail: fmt.Sprintf("%d majorities of the %d gates failed within %v", circuitFailures, len(m.group.Members()), circuitWindow),
	})
	return true
}

// later is when who is refused for want of room may come back.
func (m *Machine) later(env node.Env) time.Duration {
	return env.Rand(node.PurposeJitter).Duration(m.config.RetryAfter, 2*m.config.RetryAfter).Round(time.Millisecond)
}
