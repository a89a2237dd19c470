package manager

import (
	"fmt"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// lose gives up the current attempt of a slice. From here on its result is
// stale; what it last told is reported as lost and counted nowhere else.
func (m *Machine) lose(env node.Env, s *slice, why string) {
	if s.counting || !s.live() {
		return // its result is here, and onResultStored decides; or it ended with a slice that was lost before it
	}
	env.Emit(event.SliceLost{Slice: s.id, Fence: s.fence(), Worker: s.worker, Reason: why})
	m.detach(s)
	started, ok := measured(s.progress)
	s.lost = append(s.lost, message.LostAttempt{
		Slice: s.id, Attempt: s.attempt, Worker: string(s.worker), Reason: why, Started: started, OK: ok,
	})
	if !slices.Contains(s.failed, s.worker) {
		s.failed = append(s.failed, s.worker)
	}
	s.reruns++
	f := s.workflow
	m.touch(env, f.part)
	switch {
	case f.part.stop != message.JobNone:
		m.endSlice(env, s, endOf(f.part.stop), fmt.Sprintf("%s did not confirm that slice %d stopped: %s", s.worker, s.id.Ordinal, why))
	case f.failure != "":
		m.endSlice(env, s, message.WorkflowCancelled, why)
	case s.reruns > m.config.RerunMax || s.dispatches >= m.config.DispatchMax:
		m.endSlice(env, s, message.WorkflowFailed, fmt.Sprintf("slice %d was lost %d times, dispatched %d times; at last on %s: %s", s.id.Ordinal, s.reruns, s.dispatches, s.worker, why))
	default:
		m.back(env, s, 0)
		m.writeSlices(env, []*slice{s})
	}
}

// measured adds up what a progress tells of requests.
func measured(p *message.SliceProgress) (started, ok uint64) {
	if p == nil {
		return 0, 0
	}
	for i := range p.Stats.Steps {
		if step := &p.Stats.Steps[i]; step.Kind == message.StepRequest || step.Kind == message.StepFunction {
			started += step.Started
			ok += step.OK
		}
	}
	return started, ok
}

// onRetry sends again what was not answered: dispatches, cancellations, results,
// and what the disk refused.
func (m *Machine) onRetry(env node.Env) {
	env.SetTimer(node.Key(node.PartManager, node.ManagerRetry), m.config.Retry)
	for _, p := range slices.Clone(m.order) {
		if p.result != nil {
			m.retryResult(env, p)
			continue
		}
		if p.asked != p.stop && !p.stopping {
			m.stopPart(env, p)
		}
		for _, f := range p.workflows {
			for _, s := range f.slices {
				m.retrySlice(env, s)
			}
		}
	}
}

func (m *Machine) retryResult(env node.Env, p *part) {
	switch {
	case !p.recorded && !p.writing:
		m.writeDone(env, p)
	case !p.acked && env.Now().Sub(p.told) >= m.config.Retry/2:
		m.tell(env, p)
	}
}

func (m *Machine) retrySlice(env node.Env, s *slice) {
	switch {
	case s.end != message.WorkflowNone:
		if !s.endWriting && !s.state.Terminal() {
			m.writeEnd(env, s)
		}
	case !s.live() || !s.written || s.counting:
	case s.workflow.stopping():
		m.sendCancel(env, s)
	case s.state == message.WorkflowAssigned && env.Now().Sub(s.sent) >= m.config.Retry/2:
		m.sendDispatch(env, s)
	}
}
