package gate

import (
	"hyperscale/core/event"
	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onProgress keeps the newest of what the current manager tells.
func (m *Machine) onProgress(env node.Env, in *node.Input, r *message.JobProgress) {
	j, _ := m.owned(env, in, r.Job)
	if j == nil {
		return
	}
	p := j.subjob(r.Subjob.Name)
	switch {
	case p == nil:
		m.ignore(env, in, "the job has no subjob there")
	case p.phase == subjobDone || p.phase == subjobSaving:
		m.ignore(env, in, "the subjob is not running")
	case !m.follows(env, in, j, p, r.Fence):
	case r.Sequence <= p.sequence:
		m.ignore(env, in, "a newer one has arrived")
	default:
		p.sequence, p.progress = r.Sequence, &r.Subjob
		m.takenUp(env, j, p)
		m.pushLater(env, j)
		m.judgeAborts(env, j)
	}
}

// onPartResult counts a subjob once. It is acknowledged when it is on a majority, and
// whenever it comes again; what another gate owns is passed on to it.
func (m *Machine) onSubjobResult(env node.Env, in *node.Input, r *message.SubjobResult) {
	j := m.jobs[r.Job]
	switch {
	case j != nil && j.ready && (j.shown.Terminal() || m.holds(env, j)):
		m.onOwnResult(env, in, j, r)
	case j != nil && !j.ready:
		m.ignore(env, in, "its job is being taken over") // it comes again
	default:
		m.passOn(env, in, r)
	}
}

func (m *Machine) onOwnResult(env node.Env, in *node.Input, j *job, r *message.SubjobResult) {
	p := j.subjob(r.Subjob.Name)
	ack := &message.SubjobResultAck{Job: r.Job, Fence: r.Fence}
	switch {
	case p == nil:
		ack.Stale, ack.Current = true, j.fence()
		env.Emit(event.FenceRefused{Shard: message.ShardID{Job: j.id}, Subjob: true, Got: r.Fence, Current: ack.Current, What: "SubjobResult"})
		m.answer(env, in, ack)
	case p.counted && r.Fence.SubjobEpoch == p.fence.SubjobEpoch, p.phase == subjobDone && p.unheard:
		m.answer(env, in, ack)
	case r.Fence.Less(p.fence):
		m.stale(env, j, p, r.Fence, "SubjobResult")
		ack.Stale, ack.Current = true, p.fence
		m.answer(env, in, ack)
	case p.counted || j.shown.Terminal():
		m.answer(env, in, ack) // a manager that took the subjob up once more told it anew: it counted
	case r.Fence.JobEpoch > j.epoch || r.Fence.SubjobEpoch == 0 || !r.Subjob.State.Terminal():
		m.ignore(env, in, "it is under a fence that was never given, or not an end")
	case p.phase == subjobDone:
		m.ackTo(p, in)
	case p.phase == subjobSaving:
		m.ignore(env, in, "its dispatch was not sent")
	case m.follows(env, in, j, p, r.Fence):
		m.count(env, in, j, p, r)
	}
}

// answer tells a manager, or the gate that passed its result on.
func (m *Machine) answer(env node.Env, in *node.Input, ack *message.SubjobResultAck) {
	if in.From.Role == node.RoleGate {
		m.links.Post(env, in.From.Addr, ack)
		return
	}
	env.Send(in.Stream, ack)
}

// ackTo keeps who is to be told once a result is on a majority.
func (m *Machine) ackTo(p *subjob, in *node.Input) {
	p.from, p.ackTo, p.ackBy = in.From.ID, in.Stream, ""
	if in.From.Role == node.RoleGate {
		p.from, p.ackBy = p.manager, in.From.Addr
	}
}

// count takes the result of a subjob. An end proves that the subjob was taken up,
// also when that answer is still on its way.
func (m *Machine) count(env node.Env, in *node.Input, j *job, p *subjob, r *message.SubjobResult) {
	p.release(m.places)
	p.accepted, p.result = true, &r.Subjob
	m.ackTo(p, in)
	p.become(env.Now(), subjobDone)
	if j.done() {
		m.endSubjobs(env, j)
		return
	}
	file := encoded(r)
	p.file = fileOf(file)
	m.save(env, &put{what: "count a result", job: j, counted: []*subjob{p}, files: [][]byte{file}})
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

// confirmCounted: the results are on a majority.
func (m *Machine) confirmCounted(env node.Env, j *job, counted []*subjob) {
	for _, p := range counted {
		if p.counted {
			continue
		}
		p.counted = true
		env.Emit(event.SubjobCounted{
			Job: j.id, Fence: p.fence, Datacenter: p.datacenter, Manager: p.from, State: p.result.State, Started: result.Started(p.result),
		})
		ack := &message.SubjobResultAck{Job: j.id, Fence: p.fence}
		if p.ackBy != "" {
			m.links.Post(env, p.ackBy, ack)
		} else {
			env.Send(p.ackTo, ack)
		}
	}
}

// endPart ends a subjob without a word of a manager.
func (m *Machine) endSubjob(env node.Env, j *job, p *subjob, to message.JobState, reason string) {
	m.markEnded(env, j, p, to, reason)
	if m.endIfDone(env, j); j.state.Terminal() {
		return
	}
	m.save(env, &put{what: "give up a subjob", job: j})
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

func (m *Machine) markEnded(env node.Env, j *job, p *subjob, to message.JobState, reason string) {
	p.release(m.places)
	p.become(env.Now(), subjobDone)
	p.unheard = true
	p.result = &message.DatacenterResult{Name: p.datacenter, State: to, Error: reason, Duration: env.Now().Sub(j.started)}
}
