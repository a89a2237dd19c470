package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// becomePart moves a subjob on; nothing else writes its state.
func (m *Machine) becomeSubjob(env node.Env, p *subjob, to message.JobState, why string) {
	if !lifecycle.LegalJob(p.state, to) {
		node.Bug("subjob %v %v: %v cannot follow %v", p.job, p.fence, to, p.state)
	}
	env.Emit(event.SubjobChanged{Job: p.job, Fence: p.fence, From: p.state, To: to, Reason: why})
	p.state = to
	m.touch(env, p)
}

func (m *Machine) becomeWorkflow(env node.Env, f *workflow, to message.WorkflowState, why string) {
	if !lifecycle.LegalWorkflow(f.state, to) {
		node.Bug("workflow %v/%d: %v cannot follow %v", f.subjob.job, f.index, to, f.state)
	}
	env.Emit(event.WorkflowChanged{Job: f.subjob.job, Fence: f.subjob.fence, Workflow: f.index, From: f.state, To: to, Reason: why})
	f.state = to
	m.touch(env, f.subjob)
}

func (m *Machine) becomeShard(env node.Env, s *shard, to message.WorkflowState) {
	if !lifecycle.LegalWorkflow(s.state, to) {
		node.Bug("shard %v %v: %v cannot follow %v", s.id, s.fence, to, s.state)
	}
	s.state = to
	if !to.Terminal() || s.result != nil {
		m.follow(env, s.workflow, to) // of an end without a result endWhenAllEnded judges
	}
}

// becomeAccepted: its worker runs it, whichever message said so first.
func (m *Machine) becomeAccepted(env node.Env, s *shard) {
	if s.state != message.WorkflowAssigned || !s.live() {
		return
	}
	s.accepted, s.denials = env.Now(), 0
	m.becomeShard(env, s, message.WorkflowRunning)
	p := s.workflow.subjob
	if p.state == message.JobQueued { // taken over
		m.becomeSubjob(env, p, message.JobDispatching, "")
	}
	if p.state == message.JobDispatching {
		m.becomeSubjob(env, p, message.JobRunning, "")
	}
}

// announce tells observers how a subjob stands under its present fence, from the
// beginning: nobody can know what was told of it elsewhere.
func (m *Machine) announce(env node.Env, p *subjob) {
	from := message.JobNone
	for _, to := range pathOfSubjob(p.state) {
		env.Emit(event.SubjobChanged{Job: p.job, Fence: p.fence, From: from, To: to})
		from = to
	}
	for _, f := range p.workflows {
		was := message.WorkflowNone
		for _, to := range pathOfWorkflow(f.state) {
			if to.Terminal() {
				m.announceCounted(env, f)
			}
			env.Emit(event.WorkflowChanged{Job: p.job, Fence: p.fence, Workflow: f.index, From: was, To: to, Reason: f.failure})
			was = to
		}
		if !f.state.Terminal() {
			m.announceCounted(env, f)
		}
	}
	m.touch(env, p)
}

func (m *Machine) announceCounted(env node.Env, f *workflow) {
	for _, s := range f.shards {
		if s.kept != nil && s.state.Terminal() {
			m.tellCounted(env, s)
		}
	}
}

// pathOfPart is a legal way to a state.
func pathOfSubjob(to message.JobState) []message.JobState {
	path := []message.JobState{message.JobSubmitted}
	switch to {
	case message.JobNone:
		return nil
	case message.JobSubmitted:
		return path
	case message.JobCancelling:
		return append(path, to)
	case message.JobCancelled:
		return append(path, message.JobCancelling, to)
	}
	path = append(path, message.JobQueued)
	switch to {
	case message.JobQueued:
		return path
	case message.JobFailed, message.JobTimedOut, message.JobDispatching:
		return append(path, to)
	}
	path = append(path, message.JobDispatching, message.JobRunning)
	if to == message.JobRunning {
		return path
	}
	path = append(path, message.JobCompleting)
	if to == message.JobCompleting {
		return path
	}
	return append(path, to)
}

// pathOfWorkflow is the same for a workflow.
func pathOfWorkflow(to message.WorkflowState) []message.WorkflowState {
	path := []message.WorkflowState{message.WorkflowPending}
	switch to {
	case message.WorkflowNone:
		return nil
	case message.WorkflowPending:
		return path
	case message.WorkflowAssigned:
		return append(path, to)
	case message.WorkflowRunning:
		return append(path, message.WorkflowAssigned, to)
	case message.WorkflowCompleted:
		return append(path, message.WorkflowAssigned, message.WorkflowRunning, to)
	}
	return append(path, to)
}

// touch makes the subjob's progress go out with the next push.
func (m *Machine) touch(env node.Env, p *subjob) {
	p.dirty = true
	if !m.pushing {
		m.pushing = true
		env.SetTimer(node.Key(node.PartManager, node.ManagerPush), m.config.ProgressInterval)
	}
}

// follow derives the state of a workflow that has not ended from its shards, one of which
// has moved on: the furthest of them counts, and one that has run does not fall back to
// ASSIGNED.
func (m *Machine) follow(env node.Env, f *workflow, moved message.WorkflowState) {
	if f.end != message.WorkflowNone || moved == f.state || moved == message.WorkflowAssigned && f.state == message.WorkflowRunning {
		return // it stands no further than its workflow does: most of a large cut do not
	}
	furthest := f.furthest()
	switch {
	case furthest == f.state || furthest == message.WorkflowAssigned && f.state == message.WorkflowRunning:
	case furthest == message.WorkflowRunning && f.state == message.WorkflowPending:
		m.becomeWorkflow(env, f, message.WorkflowAssigned, "")
		m.becomeWorkflow(env, f, message.WorkflowRunning, "")
	default:
		m.becomeWorkflow(env, f, furthest, "")
	}
}

// furthest is how far the furthest shard is.
func (f *workflow) furthest() message.WorkflowState {
	furthest := message.WorkflowPending
	for _, s := range f.shards {
		switch {
		case s.state == message.WorkflowRunning || s.result != nil:
			return message.WorkflowRunning
		case s.state == message.WorkflowAssigned:
			furthest = message.WorkflowAssigned
		}
	}
	return furthest
}
