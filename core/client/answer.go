package client

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// of returns the command that an answer belongs to: its newest try has this request, and its
// kind is one of those given.
func (m *Machine) of(env node.Env, in *node.Input, r message.RequestID, kinds ...kind) *command {
	c := m.asked[r]
	if c == nil {
		ignore(env, in, "it answers no open question")
		return nil
	}
	if len(kinds) > 0 && !slices.Contains(kinds, c.kind) {
		ignore(env, in, "it does not answer what was asked")
		return nil
	}
	return c
}

func (m *Machine) onAck(env node.Env, in *node.Input, a *message.JobAck) {
	c := m.of(env, in, a.Request, kindSubmit, kindReplay)
	if c == nil {
		return
	}
	if a.Job != c.job {
		ignore(env, in, "it names another job than the key does")
		return
	}
	m.gates.remember(a.Job, c.gate)
	m.returned(env, c, 0, 0)
	m.finish(env, c, a)
}

// onRefused reports a rejection, unless another gate, or the same one later, may have a better
// answer.
func (m *Machine) onRefused(env node.Env, in *node.Input, r *message.Refused) {
	c := m.of(env, in, r.Request)
	if c == nil {
		return
	}
	c.say(c.gate, r.Code.String())
	c.refusal = r
	if !slices.Contains(c.tried, c.gate) {
		c.tried = append(c.tried, c.gate) // it had served a watch until now
	}
	switch {
	case r.Code == message.CodeNotOwner && r.Holder != "":
		m.settle(c)
		m.redirect(env, c, node.Addr(r.Holder))
	case c.passes(r.Code) || r.Code == message.CodeSeatKept && c.ordered():
		if c.job == (message.JobID{}) {
			m.gates.failed(env, c.gate)
		}
		if r.Code != message.CodeQuorumTimeout {
			m.settle(c) // else a gate may still accept it
		}
		if strained(r.Code) {
			c.unserve()
		}
		m.next(env, c)
	default:
		m.refused(env, c, r.Code)
		m.finish(env, c, r)
	}
}

// passes reports that a rejection does not end the command: another gate, or a later try, may
// accept it. The caller waits for a full queue; for a query, asking again costs nothing.
func (c *command) passes(code message.Code) bool {
	switch code {
	case message.CodeNotOwner, message.CodeQuorumUnavailable, message.CodeQuorumTimeout, message.CodeCircuitOpen,
		message.CodeNotMember, message.CodeDraining, message.CodeResultForgotten, message.CodeNoLetter, message.CodeVersion:
		return true
	case message.CodeQueueFull, message.CodeOverloaded, message.CodeRateLimited:
		return c.kind != kindSubmit
	}
	return c.kind == kindList // whatever one gate says, others may list their jobs
}

// shown is the newest status that a watch has shown.
type shown struct {
	teller   node.Peer
	rank     int
	elapsed  time.Duration
	sequence uint64
}

// Progress orders states as a watch may show them, from 1 to 5: until it runs, a job may return to the queue.
func Progress(s message.JobState) int {
	switch {
	case s.Terminal():
		return 5
	case s == message.JobCancelling:
		return 4
	case s == message.JobCompleting:
		return 3
	case s == message.JobRunning:
		return 2
	}
	return 1
}

// older reports that a status contains nothing new. A single gate numbers its statuses. Of two
// gates, which number separately, the one that has got further is newer.
func (was *shown) older(teller node.Peer, s *message.JobStatus) bool {
	switch r := Progress(s.State); {
	case was.rank == 0:
		return false
	case was.teller.ID == teller.ID && was.teller.Incarnation == teller.Incarnation:
		return s.Sequence <= was.sequence || r < was.rank
	case r != was.rank:
		return r < was.rank
	}
	return s.Elapsed < was.elapsed
}

// onStatus answers a query, and passes news to a watch.
func (m *Machine) onStatus(env node.Env, in *node.Input, s *message.JobStatus) {
	if c := m.asked[s.Request]; c != nil && c.kind == kindQuery {
		if s.Job != c.job {
			ignore(env, in, "it is of another job")
			return
		}
		m.gates.remember(s.Job, c.gate)
		m.returned(env, c, s.State, 0)
		m.finish(env, c, s)
		return
	}
	all := m.watches(env, in, s.Request, s.Job)
	news := false
	for _, c := range all {
		m.gates.remember(s.Job, c.gate)
		news = c.show(env, in, s) || news
	}
	if len(all) > 0 && !news {
		ignore(env, in, "a newer one has arrived")
	}
}

// watches lists the watches that an answer of a gate serves. A gate knows one watch of a client for each job, by its
// newest request: what it tells is for all of them.
func (m *Machine) watches(env node.Env, in *node.Input, r message.RequestID, job message.JobID) (all []*command) {
	c := m.of(env, in, r, kindWatch)
	switch {
	case c == nil:
	case c.job != job:
		ignore(env, in, "it is of another job")
	default:
		all = m.sharing(c)
	}
	return all
}

// show passes a status to a watch, unless that has a newer one.
func (c *command) show(env node.Env, in *node.Input, s *message.JobStatus) bool {
	c.answered = true
	c.served()
	if !s.State.Terminal() { // else a result follows, or the gate's report that it has forgotten it
		c.refusal, c.said, c.tried, c.redirects, c.rounds = nil, nil, nil, 0, 0
	}
	env.CancelTimer(c.timer())
	if c.shown.older(in.From, s) {
		return false
	}
	c.shown = shown{in.From, Progress(s.State), s.Elapsed, s.Sequence}
	env.Answer(c.id, s)
	return true
}

// onEnded tells a watch how a workflow ended. Gates count the ends of a job alike, so the watch
// gets each once, whichever gate it asks.
func (m *Machine) onEnded(env node.Env, in *node.Input, e *message.WorkflowEnded) {
	all := m.watches(env, in, e.Request, e.Job)
	has, news := uint32(0), false
	for _, c := range all {
		if has = c.ends; e.Number != has+1 {
			continue
		}
		c.ends++
		m.told(env, c, e)
		env.Answer(c.id, e)
		news = true
	}
	if len(all) > 0 && !news {
		ignore(env, in, fmt.Sprintf("it is end %d, and the watch has told %d", e.Number, has))
	}
}

func (m *Machine) onResult(env node.Env, in *node.Input, r *message.JobResult) {
	for _, c := range m.watches(env, in, r.Request, r.Result.Job) {
		m.returned(env, c, r.Result.State, digestOf(r))
		m.finish(env, c, r)
	}
}

func (m *Machine) onCancelAck(env node.Env, in *node.Input, a *message.JobCancelAck) {
	c := m.of(env, in, a.Request, kindCancel)
	if c == nil {
		return
	}
	m.gates.remember(c.job, c.gate)
	m.returned(env, c, a.State, 0)
	m.finish(env, c, a)
}

// ordered says that a change of seats has happened, or may have.
func (c *command) ordered() bool { return c.seated != nil || c.kind == kindSeat && c.exposed }

// unsure reports whether a change of seats is asked again: until a majority of the set is known to have it on disk, the set
// may stay as it was.
func (c *command) unsure(now node.Instant, answer node.Message) bool {
	r, ok := answer.(*message.SeatReplaced)
	if !ok {
		return false
	}
	c.seated = r
	if r.Majority() || now >= c.deadline {
		return false
	}
	c.say(c.gate, "it knows of no majority that has the set")
	c.confirm(now)
	return true
}

// confirm bounds how long a change of seats that may have happened is asked again.
func (c *command) confirm(now node.Instant) {
	if c.confirming == 0 {
		c.confirming = now.Add(confirmMax)
	}
	c.deadline = min(c.deadline, c.confirming)
}

// onAnswer handles answers that concern no job.
func (m *Machine) onAnswer(env node.Env, in *node.Input, r message.RequestID, kinds ...kind) {
	c := m.of(env, in, r, kinds...)
	switch {
	case c == nil:
	case c.unsure(env.Now(), in.Message):
		m.settle(c)
		m.next(env, c)
	default:
		m.finish(env, c, in.Message)
	}
}
