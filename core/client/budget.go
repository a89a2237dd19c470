package client

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// budget bounds what a client repeats, over all its commands. What gates did not serve would otherwise
// come back on top of what is asked anew, and keep them overloaded.
type budget struct {
	limit retry.Limit
	spent retry.Budget
}

// repeats says whether the next try of a command repeats one that a gate did not serve.
type repeats struct {
	state  repeat
	held   int // times that the budget had no room for this try
	waited int // the same of all tries
}

// repeat is what has become of a command's tries since a gate last served it.
type repeat uint8

const (
	unsent   repeat = iota // there was none
	sent                   // the newest is open, or a gate said which one to ask
	unserved               // the newest had no answer, or a gate had no room for it
)

// served notes that a gate serves the command: what follows is a request of its own.
func (r *repeats) served() { r.state = unsent }

// unserve notes that a try failed.
func (r *repeats) unserve() {
	if r.state == sent {
		r.state = unserved
	}
}

// owed reports that a command has no budget. A cancel must not wait. A watch has no deadline, and must
// not starve behind questions: gates say when it may come back.
func (c *command) owed() bool { return c.kind == kindCancel || c.kind == kindWatch }

// hold returns how long a command must not be sent; 0: it may be now.
func (b *budget) hold(c *command, now node.Instant) time.Duration {
	if c.state != unserved || c.owed() {
		return 0
	}
	wait := b.spent.Wait(b.limit, now)
	if wait > 0 {
		c.held, c.waited = c.held+1, c.waited+1
	}
	return wait
}

// spend notes what the client sends.
func (b *budget) spend(env node.Env, c *command, m node.Message) {
	switch {
	case c.state == unserved:
		env.Emit(event.AskedAgain{What: message.Name(m.Kind()), Held: c.held})
		if !c.owed() {
			b.spent.Again(b.limit, env.Now())
		}
	case !c.owed():
		b.spent.Ask(b.limit, env.Now())
	}
	c.state, c.held = sent, 0
}

// strained reports that a gate has no room for a request, or no majority. Other rejections say which
// gate to ask: to follow them repeats nothing.
func strained(code message.Code) bool {
	switch code {
	case message.CodeQueueFull, message.CodeOverloaded, message.CodeRateLimited,
		message.CodeQuorumUnavailable, message.CodeQuorumTimeout, message.CodeCircuitOpen:
		return true
	}
	return false
}
