package gate

import (
	"errors"
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// question says what a client wants of a job.
type question uint8

const (
	askSubmit question = iota + 1
	askStatus
	askWatch
	askCancel
)

// ask is a client's request about one job, answered now or later.
type ask struct {
	what    question
	stream  node.StreamID
	request message.RequestID
	from    node.ID
	digest  uint64 // of what is submitted
	again   bool   // the key was known
}

// onAsk answers by what this gate owns or has seen the end of, else looks.
func (m *Machine) onAsk(env node.Env, id message.JobID, a *ask) {
	if j := m.jobs[id]; j != nil {
		m.askJob(env, j, a)
		return
	}
	m.look(env, id, a)
}

// askJob answers at once, or when the job is ready. A status that is told while a
// write is open could be older than what a majority has already.
func (m *Machine) askJob(env node.Env, j *job, a *ask) {
	switch {
	case j.ready && (a.what != askStatus || len(j.open) == 0 || j.shown.Terminal()):
		m.serve(env, j, a)
	case len(j.asks) >= m.config.WaitersMax:
		reached(env, "gate/waiters-full")
		env.Emit(event.Shed{What: "request", Why: "too many wait for one job"})
		m.refuseForRoom(env, a.stream, a.request, message.CodeQueueFull, fmt.Sprintf("%d requests wait for this job", len(j.asks)))
	default:
		j.asks = append(j.asks, a)
	}
}

// serveAll answers what has waited for a job.
func (m *Machine) serveAll(env node.Env, j *job) {
	asks := j.asks
	j.asks = nil
	for _, a := range asks {
		m.askJob(env, j, a)
	}
}

// serve answers by what a majority has. What has ended stays as it is; for the
// rest only the owner may speak.
func (m *Machine) serve(env node.Env, j *job, a *ask) {
	if !j.shown.Terminal() && !m.holds(env, j) {
		m.refuseOwner(env, a.stream, a.request, j.id, "")
		return
	}
	switch a.what {
	case askSubmit:
		if a.digest != j.digest {
			m.refuse(env, a.stream, a.request, message.CodeKeyMismatch, fmt.Sprintf("key %q belongs to another payload", j.key))
			return
		}
		env.Send(a.stream, &message.JobAck{Request: a.request, Job: j.id, Duplicate: a.again})
	case askStatus:
		status := m.status(env, j)
		status.Request = a.request
		env.Send(a.stream, status)
	case askWatch:
		m.follow(env, j, a)
	case askCancel:
		m.cancel(env, j, a)
	}
}

// lookup is a job that this gate does not own and asks a majority about.
type lookup struct {
	ticket uint64
	asks   []*ask
}

// look answers for a job of another gate: who owns it, or how it ended.
func (m *Machine) look(env node.Env, id message.JobID, a *ask) {
	if m.elsewhere(env, id, a) {
		return
	}
	l := m.lookups[id]
	switch {
	case l != nil && len(l.asks) >= m.config.WaitersMax, l == nil && len(m.lookups) >= m.config.LookupsMax:
		reached(env, "gate/lookups-full")
		env.Emit(event.Shed{What: "request", Why: "too many jobs are looked up"})
		m.refuseForRoom(env, a.stream, a.request, message.CodeQueueFull, fmt.Sprintf("%d jobs are looked up", len(m.lookups)))
		return
	case l == nil && m.circuitRefuses(env, a):
		return
	case l == nil:
		m.ticket++
		l = &lookup{ticket: m.ticket}
		m.lookups[id] = l
		m.leases.Read(env, id, l.ticket)
	}
	l.asks = append(l.asks, a)
}

// elsewhere answers by what this gate's own acceptor has, where that cannot be
// wrong for long: an end is one for ever, and a holder that has gone redirects.
func (m *Machine) elsewhere(env node.Env, id message.JobID, a *ask) bool {
	if to, ok := m.moved[id]; ok {
		m.refuseOwner(env, a.stream, a.request, id, to)
		return true
	}
	seen, ok := m.leases.Seen(env.Now(), id)
	if !ok {
		return false
	}
	if j := m.see(env, id, seen.Token, seen.Released, seen.Record); j != nil {
		a.again = true
		m.askJob(env, j, a)
		return true
	}
	if seen.Left > 0 && !seen.Released && seen.Holder != env.Self().Addr && m.alive(seen.Holder) {
		m.refuseOwner(env, a.stream, a.request, id, seen.Holder)
		return true
	}
	return false
}

// onRead answers what a majority said about a job.
func (m *Machine) onRead(env node.Env, o lease.Outcome) {
	l := m.lookups[o.Job]
	if l == nil || l.ticket != o.Ticket {
		return
	}
	delete(m.lookups, o.Job)
	switch {
	case o.Err != nil && o.Holder == "":
		m.quorum.failed(env.Now())
		m.refuseQuorum(env, l.asks, o.Err)
		return
	case o.Err == nil:
		m.quorum.worked()
	}
	if j := m.jobs[o.Job]; j != nil { // meanwhile
		for _, a := range l.asks {
			m.askJob(env, j, a)
		}
		return
	}
	j := m.see(env, o.Job, o.State.Token, o.Found && o.State.Released, o.State.Record)
	for _, a := range l.asks {
		switch {
		case j != nil:
			m.askJob(env, j, a)
		case o.Err == nil && !o.Found:
			m.refuse(env, a.stream, a.request, message.CodeUnknownJob, "job "+o.Job.String())
		default:
			m.refuseOwner(env, a.stream, a.request, o.Job, m.holderOf(env, o))
		}
	}
}

// holderOf is who is to be asked about what was read; nobody when that is this
// gate, which does not own the job any more.
func (m *Machine) holderOf(env node.Env, o lease.Outcome) node.Addr {
	holder := o.Holder
	if at := int(o.State.Token.Ordinal) - 1; holder == "" && at >= 0 && at < len(m.gates) {
		holder = m.gates[at]
	}
	if holder == env.Self().Addr {
		return ""
	}
	return holder
}

func (m *Machine) refuse(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail})
}

// refuseForRoom also tells when to come back: later, and not all at once.
func (m *Machine) refuseForRoom(env node.Env, s node.StreamID, r message.RequestID, code message.Code, detail string) {
	env.Send(s, &message.Refused{Request: r, Code: code, Detail: detail, RetryAfter: m.later(env)})
}

// refuseOwner sends a client on to who owns a job. Nobody may for a moment: the
// lease of one that is gone has to run out.
func (m *Machine) refuseOwner(env node.Env, s node.StreamID, r message.RequestID, id message.JobID, holder node.Addr) {
	if holder != "" && !m.alive(holder) {
		holder = ""
	}
	refused := &message.Refused{Request: r, Code: message.CodeNotOwner, Detail: "job " + id.String(), Holder: string(holder)}
	if seen, ok := m.leases.Seen(env.Now(), id); ok {
		refused.Current = message.Fence{JobEpoch: seen.Token.Packed()}
	}
	if holder == "" {
		refused.Detail += ": its owner is gone and no other gate has it yet"
		refused.RetryAfter = m.later(env)
	}
	env.Send(s, refused)
}

// refuseQuorum tells why no majority answered.
func (m *Machine) refuseQuorum(env node.Env, asks []*ask, err error) {
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
		m.refuseForRoom(env, a.stream, a.request, code, err.Error())
	}
}
