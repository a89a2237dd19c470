package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// cancel ends a subjob that this manager holds, under the current or a later epoch of its job.
func (m *workflows) cancel(env node.Env, p *subjob.Subjob, c *message.SubjobCancel) {
	if c.Fence.JobEpoch > max(p.Epoch, p.Fence.JobEpoch) {
		m.adoptEpoch(env, p, c.Fence.JobEpoch, "cancel")
	}
	if p.Result != nil || p.Stop.Decided != message.JobNone {
		if c.Now {
			m.endCleanUp(env, p)
		}
		m.tell(env, p)
		return
	}
	p.Stop.Decided, p.Stop.Over, p.Why = c.State, c.Now, c.Reason
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.Job}, Subjob: true, Fence: p.Fence, What: "cancel"})
	m.stopSubjob(env, p)
}

func (m *workflows) onRunTimeout(env node.Env, id message.JobID) {
	p := m.owned(env, id)
	switch {
	case p == nil || p.Result != nil:
	case p.Stop.Decided != message.JobNone:
		m.endCleanUp(env, p)
	default:
		p.Stop.Decided, p.Why = message.JobTimedOut, fmt.Sprintf("it ran longer than its run timeout of %v", p.RunTimeout)
		m.stopSubjob(env, p)
	}
}

// stopSubjob records the decided end on a majority before the manager acts on it: a later
// holder must not continue what a gate believes to be ended.
func (m *workflows) stopSubjob(env node.Env, p *subjob.Subjob) {
	if p.Stop.Writing || p.Missing > 0 {
		return // gathered continues
	}
	p.Stop.Writing = true
	if p.Stop.Since == 0 {
		p.Stop.Since = env.Now()
	}
	m.commit(p, tag{step: stopRecorded, subjob: p})
	if p.Stop.Over {
		m.commit(p, tag{step: overRecorded, subjob: p})
	}
}

// onStopped acts on the end: it is on a majority.
func (m *workflows) onStopped(env node.Env, p *subjob.Subjob) {
	p.Stop.Writing = false
	if p.Result == nil {
		p.Stop.Durable = p.Stop.Decided
		m.setRunTimeout(env, p)
		m.halt(env, p)
	}
}

// endCleanUp ends after_all of a stopped subjob, once a majority knows: its time is over, or a gate
// asks to end at once.
func (m *attempts) endCleanUp(env node.Env, p *subjob.Subjob) {
	if f := p.After(); f == nil || f.End != message.WorkflowNone || p.Result != nil || p.Stop.Over || p.Missing > 0 {
		return
	}
	p.Stop.Over = true
	m.commit(p, tag{step: overRecorded, subjob: p})
}

// onOver acts on the end of the clean-up: it is on a majority.
func (m *workflows) onOver(env node.Env, p *subjob.Subjob) {
	p.Stop.Sealed = true
	if p.Result == nil && p.Stop.Durable != message.JobNone {
		m.halt(env, p)
	}
}

// cleanUp runs after_all of a stopped subjob once all other workflows have ended.
func (m *workflows) cleanUp(env node.Env, p *subjob.Subjob) {
	switch f := p.Left(); {
	case f == nil:
	case len(f.Shards) == 0 && !p.Began():
		m.endWorkflow(env, f, subjob.EndOf(p.Stop.Durable), "the job had not begun: there is nothing to clean up")
	default:
		m.place(env)
	}
}

// halt ends the shards that have not started and asks workers to end the rest.
func (m *workflows) halt(env node.Env, p *subjob.Subjob) {
	if p.Stop.Durable == message.JobCancelled && p.State < message.JobCompleting {
		m.becomeSubjob(env, p, message.JobCancelling, p.Why)
	}
	for _, f := range p.Workflows {
		if f.End == message.WorkflowNone && p.StopOf(f) != message.JobNone {
			m.stopWorkflow(env, f)
		}
	}
	m.cleanUp(env, p)
	m.finishWhenEnded(env, p)
}

func (m *workflows) stopWorkflow(env node.Env, f *subjob.Workflow) {
	switch {
	case len(f.Shards) > 0:
		m.stopShards(env, f, subjob.EndOf(f.Subjob.Stop.Durable))
	case f.Failure != "" && f.Subjob.Stop.Decided == message.JobNone:
		m.endWorkflow(env, f, f.Fails(), f.Failure)
	default:
		m.endWorkflow(env, f, subjob.EndOf(f.Subjob.Stop.Durable), f.Subjob.Why)
	}
}

// onAborted acts on an abort: it is on a majority.
func (m *workflows) onAborted(env node.Env, f *subjob.Workflow) {
	if f.End != message.WorkflowNone {
		return // it was about to end
	}
	if f.Failure == "" {
		f.Failure, f.Client = f.Abort.Why, f.Abort.Client
	}
	if f.Subjob.Stop.Decided == message.JobNone {
		m.stopWorkflow(env, f)
	}
}

// resume continues from the state in the record.
func (m *workflows) resume(env node.Env, p *subjob.Subjob) {
	if p.Dispatch == nil { // its cancellation came first
		m.finish(env, p)
		return
	}
	for _, f := range p.Workflows {
		if f.End != message.WorkflowNone {
			continue
		}
		if len(f.Shards) > 0 {
			m.endWhenAllEnded(env, f)
		}
		if f.End == message.WorkflowNone && f.Stopping() {
			m.stopWorkflow(env, f)
		}
	}
	m.cleanUp(env, p)
	m.finishWhenEnded(env, p)
}

// cutOff ends the subjobs that no gate has named for a lease, neither before nor since this
// manager took them over. Their shards have already lost their renewal.
func (m *workflows) cutOff(env node.Env) {
	hold := m.config.terms().Hold()
	for _, p := range m.order {
		if p.Result != nil || p.Stop.Decided != message.JobNone || p.Fresh(env.Now()) || env.Now().Sub(p.Granted) < hold || p.Missing > 0 || !m.holds(env, p) {
			continue
		}
		p.Stop.Decided, p.Why = message.JobFailed, "cut off from the gates for "+hold.String()+": nobody could say that the job was still this datacenter's"
		m.stopSubjob(env, p)
	}
}

// adoptEpoch adopts a later epoch of the job once a majority has it. Running shards keep the
// fence of their dispatch.
func (m *workflows) adoptEpoch(env node.Env, p *subjob.Subjob, epoch uint64, what string) {
	if epoch <= p.Epoch && p.Epoch > p.Fence.JobEpoch {
		return // its record is on its way
	}
	p.Epoch = max(p.Epoch, epoch)
	m.commit(p, tag{step: epochAdopted, subjob: p, epoch: epoch, why: what})
}

// onEpochAdopted acts on the later epoch: it is on a majority.
func (m *workflows) onEpochAdopted(env node.Env, p *subjob.Subjob, epoch uint64, what string) {
	if epoch <= p.Fence.JobEpoch {
		return
	}
	p.Fence.JobEpoch = epoch
	env.Emit(event.Acted{Shard: message.ShardID{Job: p.Job}, Subjob: true, Fence: p.Fence, What: what})
	if p.Result != nil {
		p.Restamp()
	}
	if what == "result" {
		m.tell(env, p)
	} else {
		m.answer(env, p)
	}
}
