package gate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/lease"
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
func (m *base) circuitRefuses(env node.Env, a *audience.Ask) bool {
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
func (m *base) later(env node.Env) time.Duration {
	return env.Rand(node.PurposeJitter).Duration(m.config.RetryAfter, 2*m.config.RetryAfter).Round(time.Millisecond)
}

func refuse(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail})
}

// refuseForRoom also tells when to come back: later, and not all at once.
func (m *base) refuseForRoom(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail, RetryAfter: m.later(env)})
}

// refuseOwner sends a client on to who owns a job. Nobody may for a moment: the
// lease of one that is gone has to run out.
func (m *base) refuseOwner(env node.Env, s node.StreamID, r message.RequestID, id message.JobID, holder node.Addr) {
	if holder != "" && !m.group.Alive(holder) {
		holder = ""
	}
	refused := &message.Refused{Request: r, Code: message.CodeNotOwner, Detail: "job " + id.String(), Holder: string(holder)}
	if seen, ok := m.group.Leases.Seen(env.Now(), id); ok {
		refused.Current = message.Fence{JobEpoch: seen.Token.Packed()}
	}
	if holder == "" {
		refused.Detail += ": its owner is gone and no other gate has it yet"
		refused.RetryAfter = m.later(env)
	}
	env.Send(s, refused)
}

// refuseQuorum tells why no majority answered.
func (m *base) refuseQuorum(env node.Env, asks []*audience.Ask, err error) {
	code := message.CodeQuorumTimeout
	switch {
	case errors.Is(err, lease.ErrQuorumUnavailable):
		code = message.CodeQuorumUnavailable
	case errors.Is(err, lease.ErrNotMember):
		code = message.CodeNotMember
	case errors.Is(err, lease.ErrFull):
		code = message.CodeQueueFull
	case errors.Is(err, lease.ErrTooLarge):
		code = message.CodeTooLarge
	}
	for _, a := range asks {
		m.refuseForRoom(env, a.Stream, a.Request, code, err.Error())
	}
}

func ignore(env node.Env, in *node.Input, why string) {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
}

// reached counts a rare state: a swarm names those that it never visited.
func reached(env node.Env, what string) { env.Emit(event.Reached{What: what}) }

// shortened keeps a sentence of somebody else within what a record takes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
