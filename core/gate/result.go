package gate

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// subjobOf finds the subjob that a manager's answer belongs to, by the manager's datacenter.
// For a manager that has not registered yet it compares the manager's ID.
func (m *roster) subjobOf(j *entry, from node.ID) *job.Subjob {
	if mgr := m.places.Manager(from); mgr != nil {
		return j.Subjob(mgr.Place.Name)
	}
	for _, p := range j.Subjobs {
		if p.Manager == from {
			return p
		}
	}
	return nil
}

// owned finds a job that this gate acts for, and the subjob that a manager's message belongs
// to.
func (m *roster) owned(env node.Env, in *node.Input, id message.JobID) (*entry, *job.Subjob) {
	j := m.jobs[id]
	if j == nil || !j.Ready || j.State.Terminal() || !m.holds(env, j) {
		ignore(env, in, "no such job runs here")
		return nil, nil
	}
	p := m.subjobOf(j, in.From.ID)
	if p == nil {
		ignore(env, in, "the job has no subjob there")
		return nil, nil
	}
	return j, p
}

func stale(env node.Env, j *entry, p *job.Subjob, got message.Fence, what string) {
	env.Emit(event.FenceRefused{Shard: message.ShardID{Job: j.ID}, Subjob: true, Got: got, Current: p.Fence, What: what})
}

// follows says whether a message has the highest fence of the subjob so far, and adopts a
// higher one: the managers have chosen a new owner among themselves.
func follows(env node.Env, in *node.Input, j *entry, p *job.Subjob, f message.Fence) bool {
	switch {
	case f.Less(p.Fence):
		stale(env, j, p, f, message.Name(in.Message.Kind()))
		return false
	case f.JobEpoch > j.Epoch:
		ignore(env, in, "its fence is above any that was given")
		return false
	}
	if p.Fence.Less(f) {
		p.Fence, p.Sequence = f, 0
	}
	if in.From.Role == node.RoleManager {
		p.Manager = in.From.ID
	}
	return true
}

func (m *roster) onAccepted(env node.Env, in *node.Input, a *message.JobAccepted) {
	j, p := m.owned(env, in, a.Job)
	if j == nil || p.Phase == job.Done || p.Phase == job.Saving || !follows(env, in, j, p, a.Fence) {
		return
	}
	p.Renewed = max(p.Renewed, env.Now())
	m.takenUp(env, j, p)
	m.sendCancel(env, j, p)
}

// onRefused dispatches to the manager that owns the subjob, or to another one.
func (m *roster) onRefused(env node.Env, in *node.Input, r *message.JobRefused) {
	j, p := m.owned(env, in, r.Job)
	switch {
	case j == nil || p.Phase != job.Sent && p.Phase != job.Waiting && p.Phase != job.Adopting:
		return
	case r.Fence.JobEpoch < j.Epoch:
		stale(env, j, p, r.Fence, "JobRefused")
		return
	case r.Fence.JobEpoch > j.Epoch || r.Code == message.CodeStaleFence:
		return // a later gate has dispatched the job: this gate's register will tell
	}
	if r.Code == message.CodeNotOwner {
		m.redirected(env, j, p, node.Addr(r.Holder))
		return
	}
	p.Release(m.places)
	p.Refused(in.From.ID)
	switch {
	case j.Stopping():
		if len(p.Asked) == 0 {
			m.endSubjob(env, j, p, j.StoppedState(), "")
		}
	case !r.Code.Retryable():
		p.Fault = message.FaultProgram // it would be refused again
		m.endSubjob(env, j, p, message.JobFailed, shortened(fmt.Sprintf("manager %s refused it: %v: %s", in.From.ID, r.Code, r.Detail), detailMax))
	default:
		switch mgr := m.places.Manager(in.From.ID); {
		case mgr == nil:
		case r.Code == message.CodeNoCores:
			mgr.Spend() // until its next heartbeat
		case r.Code == message.CodeOverloaded:
			m.slowDown(env, p)
			mgr.Spare(env.Now().Add(min(r.RetryAfter, retryAfterMax)))
		}
		p.RefusedBy = append(p.RefusedBy, in.From.ID)
		m.dispatchAgain(env, j, p)
	}
}

// onProgress keeps the newest progress report of the current manager.
func (m *roster) onProgress(env node.Env, in *node.Input, r *message.JobProgress) {
	m.gauge.Waited(env.Now(), in.Waited)
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
		m.cutRows(env, j)
		m.pushLater(env, j)
		m.judgeAborts(env, j)
		if j.Ends.Note(&j.Job) {
			m.save(env, j, tag{})
		}
	}
}

// onSubjobResult counts a subjob once. It acknowledges the result when it is on a majority, and
// again for each repetition. It passes results of another gate's job on.
func (m *roster) onSubjobResult(env node.Env, in *node.Input, r *message.SubjobResult) {
	j := m.jobs[r.Job]
	switch {
	case j != nil && j.Ready && (j.Shown.Terminal() || m.holds(env, j)):
		m.onOwnResult(env, in, j, r)
	case j != nil && !j.Ready:
		ignore(env, in, "its job is being taken over") // the manager repeats it
	default:
		m.passOn(env, in, r)
	}
}

func (m *roster) onOwnResult(env node.Env, in *node.Input, j *entry, r *message.SubjobResult) {
	p := j.Subjob(r.Subjob.Name)
	ack := &message.SubjobResultAck{Job: r.Job, Fence: r.Fence}
	switch {
	case j.Buried():
		m.answer(env, in, ack) // its job has ended, with this result or without it
	case p == nil:
		ack.Stale, ack.Current = true, j.Fence()
		env.Emit(event.FenceRefused{Shard: message.ShardID{Job: j.ID}, Subjob: true, Got: r.Fence, Current: ack.Current, What: "SubjobResult"})
		m.answer(env, in, ack)
	case p.End == job.Counted && r.Fence.SubjobEpoch == p.Fence.SubjobEpoch:
		m.answer(env, in, ack)
	case p.Phase == job.Done && p.End == job.Unheard:
		m.onLate(env, in, j, r)
	case r.Fence.Less(p.Fence):
		stale(env, j, p, r.Fence, "SubjobResult")
		ack.Stale, ack.Current = true, p.Fence
		m.answer(env, in, ack)
	case p.End == job.Counted || j.Shown.Terminal():
		m.answer(env, in, ack) // a manager took the subjob up again and repeated a result that the gate has counted
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

// onLate acknowledges a result of a subjob that has ended without it. It counts nowhere.
func (m *roster) onLate(env node.Env, in *node.Input, j *entry, r *message.SubjobResult) {
	if j.State.Terminal() && !j.Shown.Terminal() {
		ignore(env, in, "the end of its job is on no majority yet") // the manager repeats it
		return
	}
	env.Emit(event.SubjobLate{Job: r.Job, Fence: r.Fence, Datacenter: r.Subjob.Name, State: r.Subjob.State, Started: result.Started(&r.Subjob)})
	m.answer(env, in, &message.SubjobResultAck{Job: r.Job, Fence: r.Fence})
}

// answer replies to a manager, directly or through the gate that passed its result on.
func (m *roster) answer(env node.Env, in *node.Input, ack *message.SubjobResultAck) {
	if in.From.Role == node.RoleGate {
		m.group.Links.Post(env, in.From.Addr, ack)
		return
	}
	env.Send(in.Stream, ack)
}

// passOn sends a result to the gate that owns its job. It never passes on what another gate
// passed on, and it acknowledges nothing itself.
func (m *roster) passOn(env node.Env, in *node.Input, r *message.SubjobResult) {
	seen, ok := m.group.Leases.Seen(env.Now(), r.Job)
	if ok {
		if j := m.see(env, r.Job, seen.Token, seen.Released, seen.Record); j != nil {
			m.onOwnResult(env, in, j, r)
			return
		}
	}
	switch {
	case !ok || seen.Left <= 0 || seen.Holder == env.Self().Addr:
		ignore(env, in, "nobody owns its job") // the manager repeats it
	case in.From.Role == node.RoleGate:
		ignore(env, in, "its job has moved on, and so has its owner")
	case m.group.Links.Send(env, seen.Holder, r):
		reached(env, "gate/passed-on")
		m.relay.Pass(r.Job, r.Fence, in.Stream, env.Now())
	default:
		reached(env, "gate/sent-on")
		env.Send(in.Stream, &message.SubjobResultAck{
			Job: r.Job, Fence: r.Fence, Current: message.Fence{JobEpoch: seen.Token.Packed()}, Holder: string(seen.Holder),
		})
	}
}

// onPassedAck forwards the owner's acknowledgement to the manager.
func (m *roster) onPassedAck(env node.Env, in *node.Input, a *message.SubjobResultAck) {
	s, ok := m.relay.Take(a.Job, a.Fence)
	if !ok {
		ignore(env, in, "nobody waits for it")
		return
	}
	env.Send(s, a)
}
