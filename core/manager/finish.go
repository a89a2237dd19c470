package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// endWorkflow ends a workflow once a majority knows: what depends on it starts, or
// fails, only then; and its subjob ends with the last.
func (m *Machine) endWorkflow(env node.Env, f *subjob.Workflow, to message.WorkflowState, why string) {
	if f.End != message.WorkflowNone {
		return
	}
	sum, err := f.Total()
	switch {
	case err != nil:
		to, why = message.WorkflowFailed, fmt.Sprintf("add up the shards' figures: %v", err)
	case to == message.WorkflowCompleted && f.Plan.Test && subjob.AllRefused(&sum):
		to = message.WorkflowFailed
		why = "the target refused every connection: check that it runs, and the host and port of the requests"
	}
	f.End, f.Ended, f.Stats, f.Failure = to, env.Now(), sum, why
	m.commit(f.Subjob, tag{step: workflowEnded, workflow: f})
}

// onWorkflowEnded: a majority has the end.
func (m *Machine) onWorkflowEnded(env node.Env, f *subjob.Workflow) {
	m.becomeWorkflow(env, f, f.End, f.Failure)
	p := f.Subjob
	if p.Stop.Decided == message.JobNone {
		for _, other := range p.Workflows {
			m.isReady(env, other)
		}
		m.place(env)
	}
	m.finishWhenEnded(env, p)
}

// finishWhenEnded ends a subjob whose last workflow has ended.
func (m *Machine) finishWhenEnded(env node.Env, p *subjob.Subjob) {
	if p.Missing > 0 || p.Stop.Writing || p.Stop.Decided != p.Stop.Durable {
		return
	}
	for _, f := range p.Workflows {
		if !f.State.Terminal() {
			return
		}
	}
	m.finish(env, p)
}

// finish makes the result of a subjob whose workflows have ended. The subjob has
// ended once a majority has that.
func (m *Machine) finish(env node.Env, p *subjob.Subjob) {
	if p.Result != nil || p.State.Terminal() {
		return
	}
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.Job))
	if p.State == message.JobRunning {
		m.becomeSubjob(env, p, message.JobCompleting, "")
	}
	r := &message.SubjobResult{Job: p.Job, Fence: p.Fence, Subjob: m.snapshot(env, p)}
	r.Subjob.State, r.Subjob.Error = p.Outcome()
	subjob.Fit(&r.Subjob, r.Size)
	if size := message.HeaderSize + r.Size(); size > message.FrameMax {
		subjob.Slim(&r.Subjob, r.Size)
		r.Subjob.Error = subjob.JoinReason(r.Subjob.Error, fmt.Sprintf("the figures take %d bytes, %d is the bound: latencies are left out; use fewer steps", size, message.FrameMax))
	}
	p.Result = r
	m.keepResult(env, p)
}

// keepResult keeps a subjob's result, then its digest in the record.
func (m *Machine) keepResult(env node.Env, p *subjob.Subjob) {
	p.Stage = subjob.Recording
	m.ledger.Keep(env, p.Job, encode(p.Result), tag{step: resultKept, subjob: p})
}

// onResultKept records the result's digest.
func (m *Machine) onResultKept(env node.Env, p *subjob.Subjob, file message.FileDigest, err error) {
	if m.subjobs[p.Job] != p {
		return
	}
	if err != nil {
		p.Stage = subjob.Unrecorded // onRetry keeps it again
		env.Emit(event.StoreFailed{What: "result of job " + p.Job.String(), Err: err.Error()})
		return
	}
	p.Kept = file
	m.commit(p, tag{step: resultRecorded, subjob: p})
}

// onResultRecorded: the subjob has ended for good.
func (m *Machine) onResultRecorded(env node.Env, p *subjob.Subjob) {
	p.Stage = subjob.Recorded
	p.Finished = env.Now()
	p.Restamp()
	m.becomeSubjob(env, p, p.Result.Subjob.State, p.Result.Subjob.Error)
	m.tell(env, p)
	m.beatAll(env) // jobs that wait for its cores are at the gates
}

// tell sends a subjob's end to its gate; while that is away, to another one, which
// says whom to tell.
func (m *Machine) tell(env node.Env, p *subjob.Subjob) {
	if p.Result == nil || p.Stage != subjob.Recorded || !m.holds(env, p) {
		return
	}
	p.Told, p.Redirected = env.Now(), false
	if m.gates.Send(env, p.Gate, p.Result) {
		return
	}
	all := m.gates.All()
	for range all {
		p.Tries++
		if l := all[p.Tries%len(all)]; l.Stands {
			env.Send(l.Stream, p.Result)
			return
		}
	}
}

func (m *Machine) onSubjobResultAck(env node.Env, l *uplink.Link, a *message.SubjobResultAck) {
	p := m.owned(env, a.Job)
	if p == nil || p.Stage != subjob.Recorded {
		return
	}
	switch {
	case a.Holder != "":
		p.Gate = node.Addr(a.Holder)
		if p.Gate != l.Addr && !p.Redirected { // two that name each other wait for onRetry
			m.tell(env, p)
			p.Redirected = true
		}
	case a.Stale && a.Current.JobEpoch > max(p.Fence.JobEpoch, p.Epoch):
		p.Gate = l.Addr
		m.adoptEpoch(env, p, a.Current.JobEpoch, "result")
	case a.Fence.JobEpoch != p.Fence.JobEpoch || a.Fence.SubjobEpoch != p.Fence.SubjobEpoch:
		// Of one that was told under an earlier epoch: the gate answers this one too.
	default:
		m.dismiss(env, p)
	}
}

// dismiss releases a subjob whose end its gate has.
func (m *Machine) dismiss(env node.Env, p *subjob.Subjob) {
	p.Stage = subjob.Acknowledged
	m.lapse(env, p)
	m.group.Leases.Release(env, p.Job)
	m.drained(env)
}
