package client

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// of finds the command that an answer is for: one that asked under this very
// request, and asked for that.
func (m *Machine) of(env node.Env, in *node.Input, r message.RequestID, kinds ...kind) *command {
	c := m.asked[r]
	if c == nil {
		m.ignore(env, in, "it answers no open question")
		return nil
	}
	if len(kinds) > 0 && !slices.Contains(kinds, c.kind) {
		m.ignore(env, in, "it does not answer what was asked")
		return nil
	}
	return c
}

func (m *Machine) onAck(env node.Env, in *node.Input, a *message.JobAck) {
	if c := m.of(env, in, a.Request, kindSubmit); c != nil {
		m.remember(a.Job, c.gate)
		m.finish(env, c, a)
	}
}

// remember keeps who knows a job.
func (m *Machine) remember(job message.JobID, gate int) {
	if _, ok := m.homes[job]; !ok {
		m.known = append(m.known, job)
		if len(m.known) > m.config.HomesMax {
			delete(m.homes, m.known[0])
			m.known = slices.Delete(m.known, 0, 1)
		}
	}
	m.homes[job] = gate
}

// onRefused passes a refusal on, unless another gate may know better: a job is
// known to one of them only, and a draining gate has not taken a submission.
func (m *Machine) onRefused(env node.Env, in *node.Input, r *message.Refused) {
	c := m.of(env, in, r.Request)
	if c == nil {
		return
	}
	switch {
	case c.kind == kindSubmit && r.Code == message.CodeDraining:
		c.exposed = nowhere
	case c.kind != kindSubmit && (r.Code == message.CodeUnknownJob || r.Code == message.CodeNotOwner):
	default:
		m.finish(env, c, r)
		return
	}
	c.denied[c.gate], c.refusal = true, r
	next := m.elsewhere(c)
	if next == nowhere {
		m.finish(env, c, r)
		return
	}
	m.bound(env, c)
	c.gate = next
	m.try(env, c)
}

// onStatus answers a query, and tells a watch what is news to it.
func (m *Machine) onStatus(env node.Env, in *node.Input, s *message.JobStatus) {
	c := m.of(env, in, s.Request, kindWatch, kindQuery)
	if c == nil {
		return
	}
	m.remember(s.Job, c.gate)
	if c.kind == kindQuery {
		m.finish(env, c, s)
		return
	}
	c.answered, c.bounded, c.refusal = true, false, nil
	clear(c.denied)
	m.arm(env, c)
	if s.Sequence <= c.sequence {
		m.ignore(env, in, "a newer one has arrived")
		return
	}
	c.sequence = s.Sequence
	env.Answer(c.id, s)
}

func (m *Machine) onResult(env node.Env, in *node.Input, r *message.JobResult) {
	if c := m.of(env, in, r.Request, kindWatch); c != nil {
		m.finish(env, c, r)
	}
}

func (m *Machine) onCancelAck(env node.Env, in *node.Input, a *message.JobCancelAck) {
	if c := m.of(env, in, a.Request, kindCancel); c != nil {
		m.finish(env, c, a)
	}
}

func (m *Machine) onList(env node.Env, in *node.Input, r message.RequestID, k kind) {
	if c := m.of(env, in, r, k); c != nil {
		m.finish(env, c, in.Message)
	}
}
