package manager

import (
	"fmt"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// refusedWait is what a slice waits after its first refusal; each dispatch doubles
// it, so that a disk that is full for a moment does not spend them all.
const refusedWait = 150 * time.Millisecond

// assign begins an attempt. It is sent once it is on disk.
func (m *Machine) assign(env node.Env, s *slice, w *worker) {
	s.attempt++
	s.dispatches++
	s.worker, s.written, s.progress, s.denials = w.peer.ID, false, nil, 0
	w.slices[s.id] = s
	m.becomeSlice(env, s, message.WorkflowAssigned)
	f := s.workflow
	if f.started == 0 {
		f.started = env.Now()
	}
	if f.part.state == message.JobQueued {
		m.becomePart(env, f.part, message.JobDispatching, "")
	}
}

// onAttemptStored sends an attempt that still stands.
func (m *Machine) onAttemptStored(env node.Env, s *slice, attempt uint64, err error) {
	if s.attempt != attempt || s.state != message.WorkflowAssigned || !s.live() || s.written || m.sliceOf(s.id) != s {
		return
	}
	if err != nil {
		m.detach(s)
		s.dispatches-- // it was never sent; its number is not used again
		m.back(env, s, m.config.Retry)
		return
	}
	s.written = true
	env.Emit(event.SliceDispatched{Slice: s.id, Fence: s.fence(), Worker: s.worker, Cores: s.cores, VUs: s.vus})
	m.sendDispatch(env, s)
}

func (m *Machine) sendDispatch(env node.Env, s *slice) {
	w := m.workers[s.worker]
	if w == nil || w.stream == 0 {
		return // onRetry sends it when the worker is back
	}
	s.sent = env.Now()
	p, plan := s.workflow.part, s.workflow.plan
	left := p.dispatch.RunTimeout - env.Now().Sub(p.accepted)
	env.Send(w.stream, &message.SliceDispatch{
		Slice: s.id, Fence: s.fence(), Workflow: plan.Name,
		Program: p.dispatch.Program, PlanDigest: p.digest,
		VUs: s.vus, FirstVU: s.first, Cores: s.cores,
		Duration: plan.Duration, Timeout: plan.Timeout, RunTimeout: max(left, time.Second),
	})
}

// back returns a slice to those that wait for cores.
func (m *Machine) back(env node.Env, s *slice, wait time.Duration) {
	s.notBefore = env.Now().Add(wait)
	m.becomeSlice(env, s, message.WorkflowPending)
}

func (m *Machine) onSliceAccepted(env node.Env, w *worker, a *message.SliceAccepted) {
	s := m.sliceOf(a.Slice)
	if s == nil || s.fence() != a.Fence || !s.live() || s.worker != w.peer.ID {
		m.orphans(env, w, []message.SliceRef{{Slice: a.Slice, Fence: a.Fence}})
		return
	}
	m.becomeAccepted(env, s)
}

func (m *Machine) onSliceRefused(env node.Env, w *worker, r *message.SliceRefused) {
	w.reported = min(r.CoresFree, w.total)
	s := m.sliceOf(r.Slice)
	if s == nil || s.fence() != r.Fence || s.state != message.WorkflowAssigned || !s.live() || !s.written || s.counting || s.worker != w.peer.ID {
		return // of an attempt that is over, or of a cancellation
	}
	m.detach(s)
	why := fmt.Sprintf("%s refused it: %v: %s", w.peer.ID, r.Code, r.Detail)
	if s.workflow.part.stop != message.JobNone {
		m.endSlice(env, s, endOf(s.workflow.part.stop), "")
		return
	}
	switch r.Code {
	case message.CodeStaleFence:
		if c := r.Current; c.Job == s.fence().Job && c.Manager == s.fence().Manager {
			s.attempt = max(s.attempt, c.Attempt)
		}
	case message.CodeNoCores:
		s.dispatches-- // another manager was faster: that says nothing of the slice
	case message.CodeDraining:
		w.draining = true
	case message.CodeStoreFull, message.CodeQueueFull:
		s.failed = append(s.failed, w.peer.ID)
	default:
		m.endSlice(env, s, message.WorkflowFailed, why)
		return
	}
	if s.dispatches >= m.config.DispatchMax {
		m.endSlice(env, s, message.WorkflowFailed, fmt.Sprintf("dispatched %d times; at last %s", s.dispatches, why))
		return
	}
	m.back(env, s, refusedWait<<min(s.dispatches, 6))
	m.place(env)
}

// endOf maps how a part is made to end to how its workflows end then.
func endOf(s message.JobState) message.WorkflowState {
	if s == message.JobTimedOut {
		return message.WorkflowTimedOut
	}
	return message.WorkflowCancelled
}
