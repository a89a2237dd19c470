package gate

import (
	"hyperscale/core/event"
	"hyperscale/core/gate/job"
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
	p := j.Subjob(r.Subjob.Name)
	switch {
	case p == nil:
		ignore(env, in, "the job has no subjob there")
	case p.Phase == job.Done || p.Phase == job.Saving:
		ignore(env, in, "the subjob is not running")
	case !follows(env, in, j, p, r.Fence):
	case r.Sequence <= p.Sequence:
		ignore(env, in, "a newer one has arrived")
	default:
		p.Sequence, p.Progress = r.Sequence, &r.Subjob
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
	case j != nil && j.Ready && (j.Shown.Terminal() || m.holds(env, j)):
		m.onOwnResult(env, in, j, r)
	case j != nil && !j.Ready:
		ignore(env, in, "its job is being taken over") // it comes again
	default:
		m.passOn(env, in, r)
	}
}

func (m *Machine) onOwnResult(env node.Env, in *node.Input, j *entry, r *message.SubjobResult) {
	p := j.Subjob(r.Subjob.Name)
	ack := &message.SubjobResultAck{Job: r.Job, Fence: r.Fence}
	switch {
	case p == nil:
		ack.Stale, ack.Current = true, j.Fence()
		env.Emit(event.FenceRefused{Shard: message.ShardID{Job: j.ID}, Subjob: true, Got: r.Fence, Current: ack.Current, What: "SubjobResult"})
		m.answer(env, in, ack)
	case p.End == job.Counted && r.Fence.SubjobEpoch == p.Fence.SubjobEpoch, p.Phase == job.Done && p.End == job.Unheard:
		m.answer(env, in, ack)
	case r.Fence.Less(p.Fence):
		stale(env, j, p, r.Fence, "SubjobResult")
		ack.Stale, ack.Current = true, p.Fence
		m.answer(env, in, ack)
	case p.End == job.Counted || j.Shown.Terminal():
		m.answer(env, in, ack) // a manager that took the subjob up once more told it anew: it counted
	case r.Fence.JobEpoch > j.Epoch || r.Fence.SubjobEpoch == 0 || !r.Subjob.State.Terminal():
		ignore(env, in, "it is under a fence that was never given, or not an end")
	case p.Phase == job.Done:
		p.AnswerTo(in.From, in.Stream)
	case p.Phase == job.Saving:
		ignore(env, in, "its dispatch was not sent")
	case follows(env, in, j, p, r.Fence):
		m.count(env, in, j, p, r)
	}
}

// answer tells a manager, or the gate that passed its result on.
func (m *Machine) answer(env node.Env, in *node.Input, ack *message.SubjobResultAck) {
	if in.From.Role == node.RoleGate {
		m.group.Links.Post(env, in.From.Addr, ack)
		return
	}
	env.Send(in.Stream, ack)
}

// count takes the result of a subjob. An end proves that the subjob was taken up,
// also when that answer is still on its way.
func (m *Machine) count(env node.Env, in *node.Input, j *entry, p *job.Subjob, r *message.SubjobResult) {
	p.Release(m.places)
	p.Accepted, p.Result = true, &r.Subjob
	p.AnswerTo(in.From, in.Stream)
	p.Become(env.Now(), job.Done)
	if j.Done() {
		m.endSubjobs(env, j)
		return
	}
	file := encoded(r)
	p.File = fileOf(file)
	m.save(env, &put{job: j, files: [][]byte{file}, then: tag{counted: []*job.Subjob{p}}})
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

// confirmCounted: the results are on a majority.
func (m *Machine) confirmCounted(env node.Env, j *entry, counted []*job.Subjob) {
	for _, p := range counted {
		if p.End == job.Counted {
			continue
		}
		p.End = job.Counted
		env.Emit(event.SubjobCounted{
			Job: j.ID, Fence: p.Fence, Datacenter: p.Datacenter, Manager: p.From, State: p.Result.State, Started: result.Started(p.Result),
		})
		ack := &message.SubjobResultAck{Job: j.ID, Fence: p.Fence}
		if p.AckBy != "" {
			m.group.Links.Post(env, p.AckBy, ack)
		} else {
			env.Send(p.AckTo, ack)
		}
	}
}

// endPart ends a subjob without a word of a manager.
func (m *Machine) endSubjob(env node.Env, j *entry, p *job.Subjob, to message.JobState, reason string) {
	p.Release(m.places)
	p.GiveUp(to, reason, j.Started, env.Now())
	if m.endIfDone(env, j); j.State.Terminal() {
		return
	}
	m.save(env, &put{job: j})
	m.runIfAccepted(env, j)
	m.arm(env, j)
}
