package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// becomePart moves a subjob on; nothing else writes its state.
func (m *Machine) becomeSubjob(env node.Env, p *subjob.Subjob, to message.JobState, why string) {
	if !lifecycle.LegalJob(p.State, to) {
		node.Bug("subjob %v %v: %v cannot follow %v", p.Job, p.Fence, to, p.State)
	}
	env.Emit(event.SubjobChanged{Job: p.Job, Fence: p.Fence, From: p.State, To: to, Reason: why})
	p.State = to
	m.touch(env, p)
}

func (m *Machine) becomeWorkflow(env node.Env, f *subjob.Workflow, to message.WorkflowState, why string) {
	if !lifecycle.LegalWorkflow(f.State, to) {
		node.Bug("workflow %v/%d: %v cannot follow %v", f.Subjob.Job, f.Index, to, f.State)
	}
	env.Emit(event.WorkflowChanged{Job: f.Subjob.Job, Fence: f.Subjob.Fence, Workflow: f.Index, From: f.State, To: to, Reason: why})
	f.State = to
	m.touch(env, f.Subjob)
}

func (m *Machine) becomeShard(env node.Env, s *subjob.Shard, to message.WorkflowState) {
	if !lifecycle.LegalWorkflow(s.State, to) {
		node.Bug("shard %v %v: %v cannot follow %v", s.ID, s.Fence, to, s.State)
	}
	s.State = to
	if !to.Terminal() || s.Result != nil {
		m.follow(env, s.Workflow, to) // of an end without a result endWhenAllEnded judges
	}
}

// becomeAccepted: its worker runs it, whichever message said so first.
func (m *Machine) becomeAccepted(env node.Env, s *subjob.Shard) {
	if s.State != message.WorkflowAssigned || !s.Live() {
		return
	}
	s.Accepted, s.Denials = env.Now(), 0
	m.becomeShard(env, s, message.WorkflowRunning)
	p := s.Workflow.Subjob
	if p.State == message.JobQueued { // taken over
		m.becomeSubjob(env, p, message.JobDispatching, "")
	}
	if p.State == message.JobDispatching {
		m.becomeSubjob(env, p, message.JobRunning, "")
	}
}

// announce tells observers how a subjob stands under its present fence, from the
// beginning: nobody can know what was told of it elsewhere.
func (m *Machine) announce(env node.Env, p *subjob.Subjob) {
	from := message.JobNone
	for _, to := range subjob.PathOfSubjob(p.State) {
		env.Emit(event.SubjobChanged{Job: p.Job, Fence: p.Fence, From: from, To: to})
		from = to
	}
	for _, f := range p.Workflows {
		was := message.WorkflowNone
		for _, to := range subjob.PathOfWorkflow(f.State) {
			if to.Terminal() {
				m.announceCounted(env, f)
			}
			env.Emit(event.WorkflowChanged{Job: p.Job, Fence: p.Fence, Workflow: f.Index, From: was, To: to, Reason: f.Failure})
			was = to
		}
		if !f.State.Terminal() {
			m.announceCounted(env, f)
		}
	}
	m.touch(env, p)
}

func (m *Machine) announceCounted(env node.Env, f *subjob.Workflow) {
	for _, s := range f.Shards {
		if s.Kept != nil && s.State.Terminal() {
			m.tellCounted(env, s)
		}
	}
}

// touch makes the subjob's progress go out with the next push.
func (m *Machine) touch(env node.Env, p *subjob.Subjob) {
	p.Dirty = true
	if !m.pushing {
		m.pushing = true
		env.SetTimer(node.Key(node.PartManager, node.ManagerPush), m.config.ProgressInterval)
	}
}

// follow derives the state of a workflow that has not ended from its shards, one of which
// has moved on: the furthest of them counts, and one that has run does not fall back to
// ASSIGNED.
func (m *Machine) follow(env node.Env, f *subjob.Workflow, moved message.WorkflowState) {
	if f.End != message.WorkflowNone || moved == f.State || moved == message.WorkflowAssigned && f.State == message.WorkflowRunning {
		return // it stands no further than its workflow does: most of a large cut do not
	}
	furthest := f.Furthest()
	switch {
	case furthest == f.State || furthest == message.WorkflowAssigned && f.State == message.WorkflowRunning:
	case furthest == message.WorkflowRunning && f.State == message.WorkflowPending:
		m.becomeWorkflow(env, f, message.WorkflowAssigned, "")
		m.becomeWorkflow(env, f, message.WorkflowRunning, "")
	default:
		m.becomeWorkflow(env, f, furthest, "")
	}
}
