package gate

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onProgress keeps the newest of what the current manager tells.
func (m *Machine) onProgress(env node.Env, in *node.Input, r *message.JobProgress) {
	j := m.jobs[r.Job]
	if j == nil || j.state.Terminal() {
		m.ignore(env, in, "no such job runs")
		return
	}
	p := j.part(r.Part.Name)
	switch {
	case p == nil:
		m.ignore(env, in, "the job has no part there")
	case r.Fence.Less(p.fence):
		m.stale(env, j, p, r.Fence, "JobProgress")
	case p.fence.Less(r.Fence) || p.phase == partDone || p.phase == partSaving:
		m.ignore(env, in, "the part is not running")
	case r.Sequence <= p.sequence:
		m.ignore(env, in, "a newer one has arrived")
	default:
		p.sequence, p.progress = r.Sequence, &r.Part
		if p.manager == in.From.ID {
			m.takenUp(env, j, p)
		}
		m.pushLater(env, j)
	}
}

// onPartResult counts a part once. It is acknowledged when it is on disk, and
// whenever it comes again.
func (m *Machine) onPartResult(env node.Env, in *node.Input, r *message.PartResult) {
	j := m.jobs[r.Job]
	if j == nil {
		m.ignore(env, in, "no such job")
		env.Send(in.Stream, &message.PartResultAck{Job: r.Job, Fence: r.Fence, Stale: true})
		return
	}
	p := j.part(r.Part.Name)
	current := message.Fence{Job: jobEpoch, Manager: j.epochs[r.Part.Name]}
	if p != nil {
		current = p.fence
	}
	switch {
	case r.Fence.Less(current) || p == nil && r.Fence == current:
		env.Emit(event.FenceRefused{Slice: message.SliceID{Job: j.id}, Part: true, Got: r.Fence, Current: current, What: "PartResult"})
		env.Send(in.Stream, &message.PartResultAck{Job: r.Job, Fence: r.Fence, Stale: true, Current: current})
	case p == nil || current.Less(r.Fence) || !r.Part.State.Terminal():
		m.ignore(env, in, "it is under a fence that was never given, or not an end")
	case p.counted:
		env.Send(in.Stream, &message.PartResultAck{Job: r.Job, Fence: r.Fence})
	case p.phase == partDone && p.unheard:
		m.ignore(env, in, "it comes after the gate gave the part up")
		env.Send(in.Stream, &message.PartResultAck{Job: r.Job, Fence: r.Fence})
	case p.phase == partDone:
		p.ackTo = in.Stream
	case p.phase == partSaving:
		m.ignore(env, in, "its dispatch was not sent")
	default:
		m.count(env, in, j, p, r)
	}
}

// count takes the result of a part. An end proves that the part was taken up,
// also when that answer is still on its way.
func (m *Machine) count(env node.Env, in *node.Input, j *job, p *part, r *message.PartResult) {
	m.release(p)
	p.accepted, p.from, p.ackTo, p.result = true, in.From.ID, in.Stream, &r.Part
	p.become(env.Now(), partDone)
	if j.done() {
		m.endParts(env, j)
		return
	}
	m.save(env, &put{
		what: "count a result", job: j, counted: []*part{p},
		extra: []node.Record{encoded(partKey(j, p), r)},
	})
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

func partKey(j *job, p *part) string { return partPrefix + j.id.String() + "/" + p.datacenter }

// confirmCounted: the results are on disk.
func (m *Machine) confirmCounted(env node.Env, j *job, counted []*part) {
	for _, p := range counted {
		if p.counted {
			continue
		}
		p.counted = true
		env.Emit(event.PartCounted{
			Job: j.id, Fence: p.fence, Datacenter: p.datacenter, Manager: p.from, State: p.result.State, Started: startedOf(p.result),
		})
		env.Send(p.ackTo, &message.PartResultAck{Job: j.id, Fence: p.fence})
	}
}

func startedOf(d *message.DatacenterResult) uint64 {
	var sum uint64
	for i := range d.Workflows {
		for k := range d.Workflows[i].Stats.Steps {
			sum += d.Workflows[i].Stats.Steps[k].Started
		}
	}
	return sum
}

// endPart ends a part without a word of a manager.
func (m *Machine) endPart(env node.Env, j *job, p *part, to message.JobState, reason string) {
	m.markEnded(env, j, p, to, reason)
	if m.endIfDone(env, j); j.state.Terminal() {
		return
	}
	m.save(env, &put{what: "give up a part", job: j})
	m.runIfAccepted(env, j)
	m.arm(env, j)
}

func (m *Machine) markEnded(env node.Env, j *job, p *part, to message.JobState, reason string) {
	m.release(p)
	p.become(env.Now(), partDone)
	p.unheard = true
	p.result = &message.DatacenterResult{Name: p.datacenter, State: to, Error: reason, Duration: env.Now().Sub(j.started)}
}
