package manager

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

func (m *Machine) onSliceProgress(env node.Env, w *worker, r *message.SliceProgress) {
	s := m.sliceOf(r.Slice)
	if s == nil || s.fence() != r.Fence || !s.live() || s.worker != w.peer.ID {
		return // of an attempt that was given up: its heartbeat gets it cancelled
	}
	m.becomeAccepted(env, s)
	if s.progress == nil || r.Sequence > s.progress.Sequence {
		s.progress = r
		m.touch(env, s.workflow.part)
	}
}

// onSliceResult counts the result of the current attempt, once, and refuses
// every other one of this manager's.
func (m *Machine) onSliceResult(env node.Env, w *worker, r *message.SliceResult) {
	p := m.parts[r.Slice.Job]
	if p == nil {
		// Its part was acknowledged and reaped, or was on a disk that is lost.
		m.acknowledge(env, w, r, true)
		return
	}
	s := m.sliceOf(r.Slice)
	epochs := r.Fence
	epochs.Attempt = 0
	switch {
	case p.fence.Less(epochs):
		return // of a manager that has taken over: it is not ours to take or refuse
	case s != nil && s.fence() == r.Fence && s.result != nil:
		m.acknowledge(env, w, r, false) // it was counted, the acknowledgement was lost
	case s != nil && s.fence() == r.Fence && s.counting:
		// Acknowledged when it is on disk.
	case s == nil || s.fence() != r.Fence || !s.live() || s.worker != w.peer.ID || !r.State.Terminal():
		if current := m.expected(p, s); r.Fence.Less(current) {
			env.Emit(event.FenceRefused{Slice: r.Slice, Got: r.Fence, Current: current, What: "result"})
		}
		m.acknowledge(env, w, r, true)
	default:
		s.counting = true
		m.writeResult(env, s, r)
	}
}

// expected is the lowest fence whose result could be taken: an attempt that was
// given up counts as past even before the next one is dispatched.
func (m *Machine) expected(p *part, s *slice) message.Fence {
	if s == nil {
		return p.fence
	}
	f := s.fence()
	if !s.live() && s.result == nil {
		f.Attempt++
	}
	return f
}

func (m *Machine) acknowledge(env node.Env, w *worker, r *message.SliceResult, stale bool) {
	if w.stream != 0 {
		env.Send(w.stream, &message.SliceResultAck{Slice: r.Slice, Fence: r.Fence, Stale: stale})
	}
}

// onResultStored counts a result that is on disk.
func (m *Machine) onResultStored(env node.Env, s *slice, r *message.SliceResult, err error) {
	if m.sliceOf(s.id) != s || !s.counting || s.fence() != r.Fence {
		return // its part was superseded meanwhile
	}
	s.counting = false
	w := m.workers[s.worker]
	if err != nil {
		// The worker tells it again. If it is gone by now, so is the result.
		if w == nil || w.slices[s.id] != s {
			m.lose(env, s, "its worker was lost while the disk refused its result")
		}
		return
	}
	m.becomeAccepted(env, s)
	s.result = r
	s.progress = nil
	m.detach(s)
	m.tellCounted(env, s)
	if w != nil {
		m.acknowledge(env, w, r, false)
	}
	s.why = r.Error
	m.becomeSlice(env, s, r.State)
	m.onSliceEnded(env, s)
	m.place(env)
}

// tellCounted tells of a slice's result that is on disk.
func (m *Machine) tellCounted(env node.Env, s *slice) {
	env.Emit(event.SliceCounted{
		Slice: s.id, Fence: s.result.Fence, Datacenter: m.config.Datacenter, Part: s.workflow.part.fence,
		State: s.result.State, Started: starts(&s.result.Stats),
	})
}

// starts is what a result counts for: the starts of all its steps.
func starts(s *message.Stats) uint64 {
	var n uint64
	for i := range s.Steps {
		n += s.Steps[i].Started
	}
	return n
}

// endSlice ends a slice that has no result, once that is on disk: a restart must
// not revive what was told to have ended. Its attempt is over from here on.
func (m *Machine) endSlice(env node.Env, s *slice, to message.WorkflowState, why string) {
	m.detach(s)
	s.end, s.why = to, why
	m.writeEnd(env, s)
}

func (m *Machine) onEndStored(env node.Env, s *slice, err error) {
	s.endWriting = false
	if err != nil || s.state.Terminal() || m.sliceOf(s.id) != s {
		return // onRetry writes it again, or its part was superseded
	}
	m.becomeSlice(env, s, s.end)
	m.onSliceEnded(env, s)
}

// onSliceEnded: the first failure ends the whole workflow, as a share of its
// load is missing; the last end ends it in any case.
func (m *Machine) onSliceEnded(env node.Env, s *slice) {
	f := s.workflow
	if f.state.Terminal() {
		return
	}
	if s.state == message.WorkflowFailed && f.failure == "" {
		if f.failure = s.why; f.failure == "" {
			f.failure = "it failed without a reason"
		}
		if f.part.stop == message.JobNone {
			m.stopSlices(env, f, message.WorkflowCancelled)
		}
	}
	if !f.state.Terminal() {
		m.endWhenAllEnded(env, f)
	}
}

func (m *Machine) endWhenAllEnded(env node.Env, f *workflow) {
	completed := true
	end, why := message.WorkflowFailed, f.failure
	for _, s := range f.slices {
		if !s.state.Terminal() {
			return
		}
		if s.state != message.WorkflowCompleted {
			completed = false
			if f.failure == "" {
				end = s.state
				why = joinReason(why, s.why)
			}
		}
	}
	if completed {
		end, why = message.WorkflowCompleted, ""
	}
	m.endWorkflow(env, f, end, why)
}

func joinReason(a, b string) string {
	if a == "" || a == b {
		return b
	}
	if b == "" || len(a) > 1000 {
		return a
	}
	return a + "; " + b
}
