package gate

import (
	"errors"
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onAsk answers by what this gate owns or has seen the end of, else looks.
func (m *Machine) onAsk(env node.Env, id message.JobID, a *audience.Ask) {
	if j := m.jobs[id]; j != nil {
		m.askJob(env, j, a)
		return
	}
	m.look(env, id, a)
}

// askJob answers at once, or when the job is ready. A status that is told while a
// write is open could be older than what a majority has already.
func (m *Machine) askJob(env node.Env, j *entry, a *audience.Ask) {
	switch {
	case j.Ready && (a.What != audience.Status || len(j.open) == 0 || j.Shown.Terminal()):
		m.serve(env, j, a)
	case !j.waiting.Add(a, m.config.WaitersMax):
		reached(env, "gate/waiters-full")
		env.Emit(event.Shed{What: "request", Why: "too many wait for one job"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeQueueFull, fmt.Sprintf("%d requests wait for this job", j.waiting.Asks()))
	}
}

// serveAll answers what has waited for a job.
func (m *Machine) serveAll(env node.Env, j *entry) {
	for _, a := range j.waiting.TakeAsks() {
		m.askJob(env, j, a)
	}
}

// serve answers by what a majority has. What has ended stays as it is; for the
// rest only the owner may speak.
func (m *Machine) serve(env node.Env, j *entry, a *audience.Ask) {
	if !j.Shown.Terminal() && !m.holds(env, j) {
		m.refuseOwner(env, a.Stream, a.Request, j.ID, "")
		return
	}
	switch a.What {
	case audience.Submit:
		if a.Digest != j.Digest {
			refuse(env, a.Stream, a.Request, message.CodeKeyMismatch, fmt.Sprintf("key %q belongs to another payload", j.Key))
			return
		}
		env.Send(a.Stream, &message.JobAck{Request: a.Request, Job: j.ID, Duplicate: a.Again})
	case audience.Status:
		status := m.status(env, j)
		status.Request = a.Request
		env.Send(a.Stream, status)
	case audience.Watch:
		m.follow(env, j, a)
	case audience.Cancel:
		m.cancel(env, j, a)
	}
}

// look answers for a job of another gate: who owns it, or how it ended.
func (m *Machine) look(env node.Env, id message.JobID, a *audience.Ask) {
	if m.elsewhere(env, id, a) {
		return
	}
	room, first := m.lookups.Room(id)
	switch {
	case !room:
		reached(env, "gate/lookups-full")
		env.Emit(event.Shed{What: "request", Why: "too many jobs are looked up"})
		m.refuseForRoom(env, a.Stream, a.Request, message.CodeQueueFull, fmt.Sprintf("%d jobs are looked up", m.lookups.Len()))
		return
	case first && m.circuitRefuses(env, a):
		return
	case first:
		m.ticket++
		m.lookups.Open(id, m.ticket)
		m.group.Leases.Read(env, id, m.ticket)
	}
	m.lookups.Add(id, a)
}

// elsewhere answers by what this gate's own acceptor has, where that cannot be
// wrong for long: an end is one for ever, and a holder that has gone redirects.
func (m *Machine) elsewhere(env node.Env, id message.JobID, a *audience.Ask) bool {
	if to, ok := m.moved[id]; ok {
		m.refuseOwner(env, a.Stream, a.Request, id, to)
		return true
	}
	seen, ok := m.group.Leases.Seen(env.Now(), id)
	if !ok {
		return false
	}
	if j := m.see(env, id, seen.Token, seen.Released, seen.Record); j != nil {
		a.Again = true
		m.askJob(env, j, a)
		return true
	}
	if seen.Left > 0 && !seen.Released && seen.Holder != env.Self().Addr && m.group.Alive(seen.Holder) {
		m.refuseOwner(env, a.Stream, a.Request, id, seen.Holder)
		return true
	}
	return false
}

// onRead answers what a majority said about a job.
func (m *Machine) onRead(env node.Env, o lease.Outcome) {
	asks, ok := m.lookups.Take(o.Job, o.Ticket)
	if !ok {
		return
	}
	switch {
	case o.Err != nil && o.Holder == "":
		m.circuit.failed(env.Now())
		m.refuseQuorum(env, asks, o.Err)
		return
	case o.Err == nil:
		m.circuit.worked()
	}
	if j := m.jobs[o.Job]; j != nil { // meanwhile
		for _, a := range asks {
			m.askJob(env, j, a)
		}
		return
	}
	j := m.see(env, o.Job, o.State.Token, o.Found && o.State.Released, o.State.Record)
	for _, a := range asks {
		switch {
		case j != nil:
			m.askJob(env, j, a)
		case o.Err == nil && !o.Found:
			refuse(env, a.Stream, a.Request, message.CodeUnknownJob, "job "+o.Job.String())
		default:
			m.refuseOwner(env, a.Stream, a.Request, o.Job, m.holderOf(env, o))
		}
	}
}

// holderOf is who is to be asked about what was read; nobody when that is this
// gate, which does not own the job any more.
func (m *Machine) holderOf(env node.Env, o lease.Outcome) node.Addr {
	holder := o.Holder
	if at := int(o.State.Token.Ordinal) - 1; holder == "" && at >= 0 && at < len(m.group.Members()) {
		holder = m.group.Members()[at]
	}
	if holder == env.Self().Addr {
		return ""
	}
	return holder
}

func refuse(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail})
}

// refuseForRoom also tells when to come back: later, and not all at once.
func (m *Machine) refuseForRoom(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail, RetryAfter: m.later(env)})
}

// refuseOwner sends a client on to who owns a job. Nobody may for a moment: the
// lease of one that is gone has to run out.
func (m *Machine) refuseOwner(env node.Env, s node.StreamID, r message.RequestID, id message.JobID, holder node.Addr) {
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
func (m *Machine) refuseQuorum(env node.Env, asks []*audience.Ask, err error) {
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
