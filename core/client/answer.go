package client

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// of finds the command that an answer is for: one that asked under this very
// request, and asked for that.
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
	c := m.of(env, in, a.Request, kindSubmit)
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

// onRefused passes a refusal on, unless another gate, or a later time, may have a
// better answer.
func (m *Machine) onRefused(env node.Env, in *node.Input, r *message.Refused) {
	c := m.of(env, in, r.Request)
	if c == nil {
		return
	}
	c.say(c.gate, r.Code.String())
	c.refusal = r
	if !slices.Contains(c.tried, c.gate) {
		c.tried = append(c.tried, c.gate) // it had told a watch until now
	}
	switch {
	case r.Code == message.CodeNotOwner && r.Holder != "":
		m.settle(c)
		m.redirect(env, c, node.Addr(r.Holder))
	case c.passes(r.Code):
		if r.Code != message.CodeQuorumTimeout {
			m.settle(c) // else some gates may have it
		}
		m.next(env, c)
	default:
		m.refused(env, c, r.Code)
		m.finish(env, c, r)
	}
}

// passes says that a refusal is not the command's end: it may be met by another
// gate or later. A queue that is full is its owner's to wait for, but for a
// question it costs nothing to ask again.
func (c *command) passes(code message.Code) bool {
	switch code {
	case message.CodeNotOwner, message.CodeQuorumUnavailable, message.CodeQuorumTimeout, message.CodeCircuitOpen,
		message.CodeNotMember, message.CodeDraining, message.CodeResultForgotten:
		return true
	case message.CodeQueueFull:
		return c.kind != kindSubmit
	}
	return false
}

// shown is the newest status that a watch has shown.
type shown struct {
	teller   node.Peer
	rank     int
	elapsed  time.Duration
	sequence uint64
}

// rank orders states as a watch may show them: until it runs, a job may go
// back to the queue.
func rank(s message.JobState) int {
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

// older says that a status tells nothing new. One gate numbers what it tells; of
// two, which count for themselves, the one that has got further is the newer.
func (was *shown) older(teller node.Peer, s *message.JobStatus) bool {
	switch r := rank(s.State); {
	case was.rank == 0:
		return false
	case was.teller.ID == teller.ID && was.teller.Incarnation == teller.Incarnation:
		return s.Sequence <= was.sequence || r < was.rank
	case r != was.rank:
		return r < was.rank
	}
	return s.Elapsed < was.elapsed
}

// onStatus answers a query, and tells a watch what is news to it.
func (m *Machine) onStatus(env node.Env, in *node.Input, s *message.JobStatus) {
	c := m.of(env, in, s.Request, kindWatch, kindQuery)
	if c == nil {
		return
	}
	if s.Job != c.job {
		ignore(env, in, "it is of another job")
		return
	}
	m.gates.remember(s.Job, c.gate)
	if c.kind == kindQuery {
		m.returned(env, c, s.State, 0)
		m.finish(env, c, s)
		return
	}
	c.answered = true
	if !s.State.Terminal() { // else a result follows, or that this gate has forgotten it
		c.refusal, c.said, c.tried, c.redirects, c.rounds = nil, nil, nil, 0, 0
	}
	env.CancelTimer(c.timer())
	if c.shown.older(in.From, s) {
		ignore(env, in, "a newer one has arrived")
		return
	}
	c.shown = shown{in.From, rank(s.State), s.Elapsed, s.Sequence}
	env.Answer(c.id, s)
}

func (m *Machine) onResult(env node.Env, in *node.Input, r *message.JobResult) {
	c := m.of(env, in, r.Request, kindWatch)
	if c == nil {
		return
	}
	if r.Result.Job != c.job {
		ignore(env, in, "it is of another job")
		return
	}
	m.returned(env, c, r.Result.State, digestOf(r))
	m.finish(env, c, r)
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

// onAnswer is for what is about no job.
func (m *Machine) onAnswer(env node.Env, in *node.Input, r message.RequestID, k kind) {
	if c := m.of(env, in, r, k); c != nil {
		m.finish(env, c, in.Message)
	}
}
