package manager

import (
	"fmt"

	"hyperscale/core/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// kindRefused is how executors call a connection that nobody listens for.
const kindRefused = "refused"

// endWorkflow ends a workflow, fails what depends on it unless it is COMPLETED,
// and ends its part if it was the last.
func (m *Machine) endWorkflow(env node.Env, f *workflow, to message.WorkflowState, why string) {
	f.ended = env.Now()
	var parts []*message.Stats
	for _, s := range f.slices {
		if s.result != nil {
			parts = append(parts, &s.result.Stats)
		}
	}
	sum, err := stats.Sum(parts)
	switch {
	case err != nil:
		to, why = message.WorkflowFailed, fmt.Sprintf("add up the slices' figures: %v", err)
	case to == message.WorkflowCompleted && f.plan.Test && allRefused(&sum):
		to = message.WorkflowFailed
		why = "the target refused every connection: check that it runs, and the host and port of the requests"
	}
	f.stats, f.failure = sum, why
	m.becomeWorkflow(env, f, to, why)
	p := f.part
	if p.stop == message.JobNone {
		for _, other := range p.workflows {
			m.isReady(env, other)
		}
	}
	for _, other := range p.workflows {
		if !other.state.Terminal() {
			return
		}
	}
	m.finish(env, p)
}

func allRefused(s *message.Stats) bool {
	var started, refused uint64
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Kind != message.StepRequest && step.Kind != message.StepFunction {
			continue
		}
		started += step.Started
		for _, e := range step.Errors {
			if e.Kind == kindRefused {
				refused += e.Count
			}
		}
	}
	return started > 0 && refused >= started
}

// finish makes the result of a part whose workflows have ended. The part has
// ended once that is on disk.
func (m *Machine) finish(env node.Env, p *part) {
	if p.result != nil || p.state.Terminal() {
		return
	}
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.job))
	if p.state == message.JobRunning {
		m.becomePart(env, p, message.JobCompleting, "")
	}
	r := &message.PartResult{Job: p.job, Fence: p.fence, Part: m.snapshot(env, p)}
	r.Part.State, r.Part.Error = p.outcome()
	fit(&r.Part, r.Size)
	if size := message.HeaderSize + r.Size(); size > message.FrameMax {
		slim(&r.Part)
		r.Part.Error = joinReason(r.Part.Error, fmt.Sprintf("the figures take %d bytes, %d is the bound: latencies are left out; use fewer steps", size, message.FrameMax))
	}
	p.result = r
	m.writeDone(env, p)
}

func (p *part) outcome() (message.JobState, string) {
	var ends []message.JobState
	why := p.why
	for _, f := range p.workflows {
		ends = append(ends, job.OfWorkflow(f.state))
		if why == "" && f.state != message.WorkflowCompleted {
			why = fmt.Sprintf("workflow %q: %s", f.plan.Name, f.failure)
		}
	}
	end := job.Outcome(ends)
	switch {
	case p.state == message.JobCancelling:
		return message.JobCancelled, why
	case len(ends) > 0 && end == message.JobCompleted:
		return end, ""
	case p.stop == message.JobTimedOut:
		return message.JobTimedOut, why
	case end == message.JobCancelled || len(ends) == 0:
		return message.JobFailed, why // nobody asked for it
	}
	return end, why
}

// fit makes the distributions of a part too large for a frame coarser, in equal
// shares of it; slim is for what even that does not help.
func fit(d *message.DatacenterResult, size func() int) {
	for i := range d.Workflows {
		if message.HeaderSize+size() <= message.FrameMax {
			return
		}
		stats.Fit(&d.Workflows[i].Stats, message.FrameMax/2/len(d.Workflows))
	}
}

// slim leaves out the distributions, which are all that can be large.
func slim(d *message.DatacenterResult) {
	for i := range d.Workflows {
		s := &d.Workflows[i].Stats
		s.Generator.Lag = message.Histogram{}
		steps := append([]message.StepStats(nil), s.Steps...)
		for j := range steps {
			steps[j].Latency, steps[j].Service, steps[j].Metric = message.Histogram{}, message.Histogram{}, message.Histogram{}
		}
		s.Steps = steps
	}
}

// onDoneStored: the part has ended for good. Only its result is kept.
func (m *Machine) onDoneStored(env node.Env, p *part, err error) {
	p.writing = false
	if m.parts[p.job] != p || err != nil {
		return // superseded meanwhile, or written again by onRetry
	}
	p.recorded = true
	p.finished = env.Now()
	m.becomePart(env, p, p.result.Part.State, p.result.Part.Error)
	p.dispatch, p.workflows = nil, nil
	m.tell(env, p)
	m.beatAll(env) // jobs that wait for its cores are at the gates
	m.drained(env)
}

func (m *Machine) tell(env node.Env, p *part) {
	if g := m.gateBy(p.gate); g != nil && p.recorded {
		p.told = env.Now()
		env.Send(g.stream, p.result)
	}
}

func (m *Machine) onPartResultAck(env node.Env, a *message.PartResultAck) {
	p := m.parts[a.Job]
	if p == nil || !p.recorded || p.fence != a.Fence || p.acked {
		return
	}
	p.acked = true
	p.finished = env.Now()
	m.drained(env)
}
