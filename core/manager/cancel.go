package manager

import (
	"fmt"

	"hyperscale/core/event"
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
		case p.orders != nil:
			p.orders.cancelled(l.Addr, c)
		case c.Fence.JobEpoch < max(p.epoch, p.fence.JobEpoch):
			m.refuseStale(env, l, c.Job, c.Fence, p, "cancel")
		default:
			p.gate = l.Addr
			m.cancel(env, p, c)
		}
		return
	}
	if k := m.claims[c.Job]; k != nil {
		k.cancelled(l.Addr, c)
		return
	}
	if holder, ok := m.elsewhere(env, c.Job); ok {
		m.refuseHolder(env, l, c.Job, c.Fence, holder)
		return
	}
	sight, _ := m.leases.Seen(env.Now(), c.Job)
	if _, known := m.ended[c.Job]; known || sight.Released || m.leases.Releasing(c.Job) {
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
	k := &claim{gate: l.Addr, cancel: c, began: env.Now()}
	m.claims[c.Job] = k
	seed := &subjob{job: c.Job, epoch: c.Fence.JobEpoch, gate: l.Addr, asked: c.State, why: c.Reason, accepted: env.Now()}
	m.acquire(env, c.Job, k, seed.record(env.Now()))
}

// cancel ends a subjob that is held here, under the present or a later epoch of its
// job.
func (m *Machine) cancel(env node.Env, p *subjob, c *message.SubjobCancel) {
	if c.Fence.JobEpoch > max(p.epoch, p.fence.JobEpoch) {
		m.adoptEpoch(env, p, c.Fence.JobEpoch, "cancel")
	}
	if p.result != nil || p.asked != message.JobNone {
		m.tell(env, p)
		return
	}
	p.asked, p.why = c.State, c.Reason
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.job}, Subjob: true, Fence: p.fence, What: "cancel"})
	m.stopSubjob(env, p)
}

func (m *Machine) onRunTimeout(env node.Env, id message.JobID) {
	if p := m.owned(env, id); p != nil && p.result == nil && p.asked == message.JobNone {
		p.asked, p.why = message.JobTimedOut, fmt.Sprintf("it ran longer than its run timeout of %v", p.runTimeout)
		m.stopSubjob(env, p)
	}
}

// stopPart makes a subjob end as it was asked to, once a majority knows: whoever
// takes it over must not go on with what was told to have ended.
func (m *Machine) stopSubjob(env node.Env, p *subjob) {
	if p.stopping || p.missing > 0 {
		return // gathered goes on
	}
	p.stopping = true
	m.commit(env, p, func(env node.Env) {
		p.stopping = false
		if p.result == nil {
			p.stop = p.asked
			m.halt(env, p)
		}
	})
}

// halt ends what has not started and asks workers to end the rest.
func (m *Machine) halt(env node.Env, p *subjob) {
	if p.stop == message.JobCancelled && p.state < message.JobCompleting {
		m.becomeSubjob(env, p, message.JobCancelling, p.why)
	}
	for _, f := range p.workflows {
		if f.end == message.WorkflowNone {
			m.stopWorkflow(env, f)
		}
	}
	m.finishWhenEnded(env, p)
}

func (m *Machine) stopWorkflow(env node.Env, f *workflow) {
	switch {
	case len(f.shards) > 0:
		m.stopShards(env, f, endOf(f.subjob.stop))
	case f.failure != "" && f.subjob.asked == message.JobNone:
		m.endWorkflow(env, f, message.WorkflowFailed, f.failure)
	default:
		m.endWorkflow(env, f, endOf(f.subjob.stop), f.subjob.why)
	}
}

func (f *workflow) stopping() bool {
	return f.subjob.asked != message.JobNone || f.failure != "" || f.abort != ""
}

// stopSlices: what no worker can have ended is over at once; what one has is
// over when the worker says so, or is lost; what one may have is, when its time
// is over.
func (m *Machine) stopShards(env node.Env, f *workflow, to message.WorkflowState) {
	for _, s := range f.shards {
		switch {
		case f.end != message.WorkflowNone || s.state.Terminal() || s.end != message.WorkflowNone || s.counting || s.losing || s.open:
		case s.live() && s.written:
			m.sendCancel(env, s)
		default:
			m.endShard(env, s, to, f.subjob.why)
		}
	}
}

// sendCancel asks a worker to end a shard, once a majority has the stop or the failure:
// another holder must not go on with what this one has stopped.
func (m *Machine) sendCancel(env node.Env, s *shard) {
	w := m.roster.Of(s.worker)
	p := s.workflow.subjob
	if !w.Stands() || p.stop == message.JobNone && s.workflow.failure == "" {
		return
	}
	why := p.why
	if p.stop == message.JobNone {
		why = "the workflow failed: " + s.workflow.failure
	}
	env.Send(w.Stream, &message.ShardCancel{Shard: s.id, Fence: s.fence, State: endOf(p.stop), Reason: why})
}
