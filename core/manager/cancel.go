package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onPartCancel ends a part. It may come before the dispatch that it cancels:
// cancellations are in a faster lane.
func (m *Machine) onPartCancel(env node.Env, g *gate, c *message.PartCancel) {
	if c.State != message.JobCancelled && c.State != message.JobTimedOut || c.Fence.Job == 0 || c.Fence.Manager == 0 || c.Fence.Attempt != 0 {
		env.Emit(event.Ignored{Peer: g.peer.ID, Message: "PartCancel", Why: "it has no part's fence, or says neither CANCELLED nor TIMED_OUT"})
		return
	}
	high, known := m.high(c.Job)
	switch {
	case !known || high.Less(c.Fence):
		m.cancelUnseen(env, g, c)
	case c.Fence.Less(high):
		m.refuseStale(env, g, c.Job, c.Fence, high, "cancel")
	case m.incoming[c.Job] != nil:
		p := m.incoming[c.Job]
		if p.asked == message.JobNone {
			p.asked, p.why = c.State, c.Reason // onPartStored goes on
		}
	default:
		p := m.parts[c.Job]
		p.gate = g.peer.ID
		if p.result != nil || p.asked != message.JobNone {
			m.tell(env, p)
			return
		}
		p.asked, p.why = c.State, c.Reason
		env.Emit(event.Acted{Slice: message.SliceID{Job: p.job}, Part: true, Fence: p.fence, What: "cancel"})
		m.stopPart(env, p)
	}
}

// cancelUnseen puts an ended part where the dispatch, still under way, will find
// it, and in the place of what runs under a lower fence.
func (m *Machine) cancelUnseen(env node.Env, g *gate, c *message.PartCancel) {
	if m.unfinished() >= m.config.PartsMax {
		env.Emit(event.Shed{What: "cancel of job " + c.Job.String(), Why: fmt.Sprintf("%d jobs are under way here, which is the bound", m.config.PartsMax)})
		return // it will be sent again
	}
	p := &part{job: c.Job, fence: c.Fence, gate: g.peer.ID, asked: c.State, stop: c.State, why: c.Reason}
	p.result = &message.PartResult{Job: c.Job, Fence: c.Fence, Part: message.DatacenterResult{Name: m.config.Datacenter, State: c.State, Error: c.Reason}}
	m.incoming[c.Job] = p
	m.writePart(env, p, func(env node.Env, err error) {
		if m.incoming[p.job] != p {
			return
		}
		delete(m.incoming, p.job)
		if err != nil {
			return // it will be sent again
		}
		m.install(env, p)
		env.Emit(event.Acted{Slice: message.SliceID{Job: p.job}, Part: true, Fence: p.fence, What: "cancel"})
		m.becomePart(env, p, message.JobSubmitted, "")
		if p.stop == message.JobCancelled {
			m.becomePart(env, p, message.JobCancelling, p.why)
		} else {
			m.becomePart(env, p, message.JobQueued, "")
		}
		m.onDoneStored(env, p, nil)
	})
}

func (m *Machine) onRunTimeout(env node.Env, id message.JobID) {
	if p := m.parts[id]; p != nil && p.result == nil && p.asked == message.JobNone {
		p.asked, p.why = message.JobTimedOut, fmt.Sprintf("it ran longer than its run timeout of %v", p.dispatch.RunTimeout)
		m.stopPart(env, p)
	}
}

// stopPart makes a part end as it was asked to. That goes to the disk first, so
// that a restart does not go on with what was told to have ended. A disk that
// refuses it keeps nothing running: onRetry cancels what workers have, and writes
// again.
func (m *Machine) stopPart(env node.Env, p *part) {
	if m.incoming[p.job] != nil {
		return // a higher fence is being written, which this record must not follow
	}
	p.stopping = true
	m.writeStop(env, p, func(env node.Env, err error) {
		p.stopping = false
		if err == nil && m.parts[p.job] == p && p.result == nil {
			p.stop = p.asked
			m.halt(env, p)
		}
	})
}

// halt ends what has not started and asks workers to end the rest.
func (m *Machine) halt(env node.Env, p *part) {
	if p.stop == message.JobCancelled {
		m.becomePart(env, p, message.JobCancelling, p.why)
	}
	for _, f := range p.workflows {
		switch {
		case f.state.Terminal():
		case len(f.slices) == 0:
			m.endWorkflow(env, f, endOf(p.stop), p.why)
		default:
			m.stopSlices(env, f, endOf(p.stop))
		}
	}
}

func (f *workflow) stopping() bool { return f.part.asked != message.JobNone || f.failure != "" }

// stopSlices: what no worker can have ended is over at once; what one has is
// over when the worker says so, or is lost.
func (m *Machine) stopSlices(env node.Env, f *workflow, to message.WorkflowState) {
	for _, s := range f.slices {
		switch {
		case f.state.Terminal() || s.state.Terminal() || s.end != message.WorkflowNone || s.counting:
		case s.live() && s.written:
			m.sendCancel(env, s)
		default:
			m.endSlice(env, s, to, f.part.why)
		}
	}
}

func (m *Machine) sendCancel(env node.Env, s *slice) {
	w := m.workers[s.worker]
	if w == nil || w.stream == 0 {
		return
	}
	p := s.workflow.part
	why := p.why
	if p.asked == message.JobNone {
		why = "another slice of the workflow failed: " + s.workflow.failure
	}
	env.Send(w.stream, &message.SliceCancel{Slice: s.id, Fence: s.fence(), State: endOf(p.asked), Reason: why})
}
