package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// onPartCancel ends a subjob. It may come before the dispatch that it cancels:
// cancellations are in a faster lane.
func (m *Machine) onSubjobCancel(env node.Env, l *uplink.Link, c *message.SubjobCancel) {
	if c.State != message.JobCancelled && c.State != message.JobTimedOut || c.Fence.JobEpoch == 0 || c.Fence.Attempt != 0 {
		env.Emit(event.Ignored{Peer: l.Peer.ID, Message: "SubjobCancel", Why: "it has no subjob's fence, or says neither CANCELLED nor TIMED_OUT"})
		return
	}
	if p := m.subjobs[c.Job]; p != nil {
		switch {
		case !m.holds(env, p):
		case p.Orders != nil:
			p.Orders.Cancelled(l.Addr, c)
		case c.Fence.JobEpoch < max(p.Epoch, p.Fence.JobEpoch):
			m.refuseStale(env, l, c.Job, c.Fence, p, "cancel")
		default:
			p.Gate = l.Addr
			m.cancel(env, p, c)
		}
		return
	}
	if k := m.claims[c.Job]; k != nil {
		k.Cancelled(l.Addr, c)
		return
	}
	if holder, ok := m.elsewhere(env, c.Job); ok {
		m.refuseHolder(env, l, c.Job, c.Fence, holder)
		return
	}
	sight, _ := m.group.Leases.Seen(env.Now(), c.Job)
	if _, known := m.ended[c.Job]; known || sight.Released || m.group.Leases.Releasing(c.Job) {
		return // its end was acknowledged: taking it up once more would tell it anew, to be cancelled again
	}
	m.cancelUnseen(env, l, c)
}

// cancelUnseen puts an ended subjob where the dispatch, still under way, will find
// it.
func (m *Machine) cancelUnseen(env node.Env, l *uplink.Link, c *message.SubjobCancel) {
	if code, why := m.room(); code != message.CodeNone {
		env.Emit(event.Shed{What: "cancel of job " + c.Job.String(), Why: why})
		return // it will be sent again
	}
	k := &subjob.Claim{Gate: l.Addr, Cancel: c, Began: env.Now()}
	m.claims[c.Job] = k
	seed := &subjob.Subjob{Job: c.Job, Epoch: c.Fence.JobEpoch, Gate: l.Addr, Stop: subjob.Pending{Decided: c.State}, Why: c.Reason, Accepted: env.Now()}
	m.acquire(env, c.Job, k, seed.Record(env.Now()))
}

// cancel ends a subjob that is held here, under the present or a later epoch of its
// job.
func (m *Machine) cancel(env node.Env, p *subjob.Subjob, c *message.SubjobCancel) {
	if c.Fence.JobEpoch > max(p.Epoch, p.Fence.JobEpoch) {
		m.adoptEpoch(env, p, c.Fence.JobEpoch, "cancel")
	}
	if p.Result != nil || p.Stop.Decided != message.JobNone {
		m.tell(env, p)
		return
	}
	p.Stop.Decided, p.Why = c.State, c.Reason
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.Job}, Subjob: true, Fence: p.Fence, What: "cancel"})
	m.stopSubjob(env, p)
}

func (m *Machine) onRunTimeout(env node.Env, id message.JobID) {
	if p := m.owned(env, id); p != nil && p.Result == nil && p.Stop.Decided == message.JobNone {
		p.Stop.Decided, p.Why = message.JobTimedOut, fmt.Sprintf("it ran longer than its run timeout of %v", p.RunTimeout)
		m.stopSubjob(env, p)
	}
}

// stopPart makes a subjob end as it was asked to, once a majority knows: whoever
// takes it over must not go on with what was told to have ended.
func (m *Machine) stopSubjob(env node.Env, p *subjob.Subjob) {
	if p.Stop.Writing || p.Missing > 0 {
		return // gathered goes on
	}
	p.Stop.Writing = true
	m.commit(p, tag{step: stopRecorded, subjob: p})
}

// onStopped: a majority has the stop.
func (m *Machine) onStopped(env node.Env, p *subjob.Subjob) {
	p.Stop.Writing = false
	if p.Result == nil {
		p.Stop.Durable = p.Stop.Decided
		m.halt(env, p)
	}
}

// halt ends what has not started and asks workers to end the rest.
func (m *Machine) halt(env node.Env, p *subjob.Subjob) {
	if p.Stop.Durable == message.JobCancelled && p.State < message.JobCompleting {
		m.becomeSubjob(env, p, message.JobCancelling, p.Why)
	}
	for _, f := range p.Workflows {
		if f.End == message.WorkflowNone {
			m.stopWorkflow(env, f)
		}
	}
	m.finishWhenEnded(env, p)
}

func (m *Machine) stopWorkflow(env node.Env, f *subjob.Workflow) {
	switch {
	case len(f.Shards) > 0:
		m.stopShards(env, f, subjob.EndOf(f.Subjob.Stop.Durable))
	case f.Failure != "" && f.Subjob.Stop.Decided == message.JobNone:
		m.endWorkflow(env, f, message.WorkflowFailed, f.Failure)
	default:
		m.endWorkflow(env, f, subjob.EndOf(f.Subjob.Stop.Durable), f.Subjob.Why)
	}
}

// stopSlices: what no worker can have ended is over at once; what one has is
// over when the worker says so, or is lost; what one may have is, when its time
// is over.
func (m *Machine) stopShards(env node.Env, f *subjob.Workflow, to message.WorkflowState) {
	for _, s := range f.Shards {
		switch {
		case f.End != message.WorkflowNone || s.State.Terminal() || s.End != message.WorkflowNone || s.Commit != subjob.Settled || s.Open:
		case s.Live() && s.Written:
			m.sendCancel(env, s)
		default:
			m.endShard(env, s, to, f.Subjob.Why)
		}
	}
}

// sendCancel asks a worker to end a shard, once a majority has the stop or the failure:
// another holder must not go on with what this one has stopped.
func (m *Machine) sendCancel(env node.Env, s *subjob.Shard) {
	w := m.roster.Of(s.Worker)
	p := s.Workflow.Subjob
	if !w.Stands() || p.Stop.Durable == message.JobNone && s.Workflow.Failure == "" {
		return
	}
	why := p.Why
	if p.Stop.Durable == message.JobNone {
		why = "the workflow failed: " + s.Workflow.Failure
	}
	env.Send(w.Stream, &message.ShardCancel{Shard: s.ID, Fence: s.Fence, State: subjob.EndOf(p.Stop.Durable), Reason: why})
}
