package gate

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// passedMax bounds what is remembered of results that were passed on.
const passedMax = 1024

// passed is a result on its way to the gate that owns its job.
type passed struct {
	job    message.JobID
	fence  message.Fence
	stream node.StreamID // of the manager that is to be told
	at     node.Instant
}

// passOn takes a result to the gate that owns its job, once: what another gate has
// passed on already goes no further. Nothing is acknowledged here.
func (m *Machine) passOn(env node.Env, in *node.Input, r *message.SubjobResult) {
	seen, ok := m.group.Leases.Seen(env.Now(), r.Job)
	if ok {
		if j := m.see(env, r.Job, seen.Token, seen.Released, seen.Record); j != nil {
			m.onOwnResult(env, in, j, r)
			return
		}
	}
	switch {
	case !ok || seen.Left <= 0 || seen.Holder == env.Self().Addr:
		ignore(env, in, "nobody owns its job") // it comes again
	case in.From.Role == node.RoleGate:
		ignore(env, in, "its job has moved on, and so has its owner")
	case m.group.Links.Send(env, seen.Holder, r):
		reached(env, "gate/passed-on")
		m.remembers(passed{r.Job, r.Fence, in.Stream, env.Now()})
	default:
		reached(env, "gate/sent-on")
		env.Send(in.Stream, &message.SubjobResultAck{
			Job: r.Job, Fence: r.Fence, Current: message.Fence{JobEpoch: seen.Token.Packed()}, Holder: string(seen.Holder),
		})
	}
}

func (m *Machine) remembers(p passed) {
	m.forwarded = slices.DeleteFunc(m.forwarded, func(o passed) bool { return o.job == p.job && o.fence == p.fence })
	if len(m.forwarded) >= passedMax {
		m.forwarded = m.forwarded[1:]
	}
	m.forwarded = append(m.forwarded, p)
}

// onPassedAck hands an owner's acknowledgement back to the manager.
func (m *Machine) onPassedAck(env node.Env, in *node.Input, a *message.SubjobResultAck) {
	at := slices.IndexFunc(m.forwarded, func(p passed) bool { return p.job == a.Job && p.fence == a.Fence })
	if at < 0 {
		ignore(env, in, "nobody waits for it")
		return
	}
	env.Send(m.forwarded[at].stream, a)
	m.forwarded = slices.Delete(m.forwarded, at, at+1)
}

// forgetPassed drops results whose owner has not acknowledged them: it is gone, or its
// acknowledgement is lost. The manager sends each again, perhaps to another gate.
func (m *Machine) forgetPassed(now node.Instant) {
	m.forwarded = slices.DeleteFunc(m.forwarded, func(o passed) bool { return now.Sub(o.at) >= m.config.AnswerTimeout })
}
