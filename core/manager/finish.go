package manager

import (
	"fmt"

	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/core/uplink"
)

// kindRefused is how executors call a connection that nobody listens for.
const kindRefused = "refused"

// endWorkflow ends a workflow once a majority knows: what depends on it starts, or
// fails, only then; and its subjob ends with the last.
func (m *Machine) endWorkflow(env node.Env, f *workflow, to message.WorkflowState, why string) {
	if f.end != message.WorkflowNone {
		return
	}
	sum, err := f.total()
	switch {
	case err != nil:
		to, why = message.WorkflowFailed, fmt.Sprintf("add up the shards' figures: %v", err)
	case to == message.WorkflowCompleted && f.plan.Test && allRefused(&sum):
		to = message.WorkflowFailed
		why = "the target refused every connection: check that it runs, and the host and port of the requests"
	}
	f.end, f.ended, f.stats, f.failure = to, env.Now(), sum, why
	m.commit(env, f.subjob, func(env node.Env) {
		m.becomeWorkflow(env, f, f.end, f.failure)
		p := f.subjob
		if p.asked == message.JobNone {
			for _, other := range p.workflows {
				m.isReady(env, other)
			}
			m.place(env)
		}
		m.finishWhenEnded(env, p)
	})
}

// total adds up what the shards of a workflow counted.
func (f *workflow) total() (message.Stats, error) {
	var subjobs []*message.Stats
	for _, s := range f.shards {
		if s.result != nil {
			subjobs = append(subjobs, &s.result.Stats)
		}
	}
	return stats.Sum(subjobs)
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

// finishWhenEnded ends a subjob whose last workflow has ended.
func (m *Machine) finishWhenEnded(env node.Env, p *subjob) {
	if p.missing > 0 || p.stopping || p.asked != p.stop {
		return
	}
	for _, f := range p.workflows {
		if !f.state.Terminal() {
			return
		}
	}
	m.finish(env, p)
}

// finish makes the result of a subjob whose workflows have ended. The subjob has
// ended once a majority has that.
func (m *Machine) finish(env node.Env, p *subjob) {
	if p.result != nil || p.state.Terminal() {
		return
	}
	env.CancelTimer(node.KeyID(node.PartManager, node.ManagerJob, p.job))
	if p.state == message.JobRunning {
		m.becomeSubjob(env, p, message.JobCompleting, "")
	}
	r := &message.SubjobResult{Job: p.job, Fence: p.fence, Subjob: m.snapshot(env, p)}
	r.Subjob.State, r.Subjob.Error = p.outcome()
	fit(&r.Subjob, r.Size)
	if size := message.HeaderSize + r.Size(); size > message.FrameMax {
		slim(&r.Subjob, r.Size)
		r.Subjob.Error = joinReason(r.Subjob.Error, fmt.Sprintf("the figures take %d bytes, %d is the bound: latencies are left out; use fewer steps", size, message.FrameMax))
	}
	p.result = r
	m.keepResult(env, p)
}

// keepResult keeps a subjob's result, then its digest in the record.
func (m *Machine) keepResult(env node.Env, p *subjob) {
	p.writing = true
	var file message.FileDigest
	file = m.keep(env, encode(p.result), func(env node.Env, err error) {
		if m.subjobs[p.job] != p {
			return
		}
		if err != nil {
			p.writing = false // onRetry keeps it again
			env.Emit(event.StoreFailed{What: "result of job " + p.job.String(), Err: err.Error()})
			return
		}
		p.kept = file
		m.commit(env, p, func(env node.Env) { m.onResultKept(env, p) })
	})
}

// restamp puts a subjob's result under its present fence: the figures are the same
// for ever.
func (m *Machine) restamp(p *subjob) {
	r := *p.result
	r.Fence = p.fence
	p.result = &r
}

func (p *subjob) outcome() (message.JobState, string) {
	var ends []message.JobState
	why := p.why
	for _, f := range p.workflows {
		ends = append(ends, lifecycle.OfWorkflow(f.state))
		if why == "" && f.state != message.WorkflowCompleted {
			why = fmt.Sprintf("workflow %q: %s", f.plan.Name, f.failure)
		}
	}
	end := lifecycle.Outcome(ends)
	switch {
	case p.state == message.JobCancelling:
		return message.JobCancelled, why
	case len(ends) > 0 && end == message.JobCompleted:
		return end, ""
	case p.stop == message.JobTimedOut:
		return message.JobTimedOut, why
	case p.stop == message.JobFailed:
		return message.JobFailed, why // cut off: what has ended is only a part of it
	case end == message.JobCancelled || len(ends) == 0:
		return message.JobFailed, why // nobody asked for it
	}
	return end, why
}

// fit makes the distributions of a subjob too large for a frame coarser, in equal
// shares of it; slim is for what even that does not help.
func fit(d *message.DatacenterResult, size func() int) {
	for i := range d.Workflows {
		if message.HeaderSize+size() <= message.FrameMax {
			return
		}
		stats.Fit(&d.Workflows[i].Stats, message.FrameMax/2/len(d.Workflows))
	}
}

// slim leaves out the distributions, which are all that can be large; and its workers,
// where names fill the frame.
func slim(d *message.DatacenterResult, size func() int) {
	for i := range d.Workflows {
		s := &d.Workflows[i].Stats
		s.Generator.Lag = message.Histogram{}
		steps := append([]message.StepStats(nil), s.Steps...)
		for j := range steps {
			stats.Bare(&steps[j])
		}
		s.Steps = steps
	}
	if message.HeaderSize+size() > message.FrameMax {
		d.Workers = nil
	}
}

// onResultKept: the subjob has ended for good.
func (m *Machine) onResultKept(env node.Env, p *subjob) {
	p.writing, p.recorded = false, true
	p.finished = env.Now()
	m.restamp(p)
	m.becomeSubjob(env, p, p.result.Subjob.State, p.result.Subjob.Error)
	m.tell(env, p)
	m.beatAll(env) // jobs that wait for its cores are at the gates
}

// tell sends a subjob's end to its gate; while that is away, to another one, which
// says whom to tell.
func (m *Machine) tell(env node.Env, p *subjob) {
	if p.result == nil || !p.recorded || p.acked || !m.holds(env, p) {
		return
	}
	p.told, p.redirected = env.Now(), false
	if m.gates.Send(env, p.gate, p.result) {
		return
	}
	all := m.gates.All()
	for range all {
		p.tries++
		if l := all[p.tries%len(all)]; l.Stands {
			env.Send(l.Stream, p.result)
			return
		}
	}
}

func (m *Machine) onSubjobResultAck(env node.Env, l *uplink.Link, a *message.SubjobResultAck) {
	p := m.owned(env, a.Job)
	if p == nil || !p.recorded || p.acked {
		return
	}
	switch {
	case a.Holder != "":
		p.gate = node.Addr(a.Holder)
		if p.gate != l.Addr && !p.redirected { // two that name each other wait for onRetry
			m.tell(env, p)
			p.redirected = true
		}
	case a.Stale && a.Current.JobEpoch > max(p.fence.JobEpoch, p.epoch):
		p.gate = l.Addr
		m.adoptEpoch(env, p, a.Current.JobEpoch, "result")
	case a.Fence.JobEpoch != p.fence.JobEpoch || a.Fence.SubjobEpoch != p.fence.SubjobEpoch:
		// Of one that was told under an earlier epoch: the gate answers this one too.
	default:
		m.dismiss(env, p)
	}
}

// dismiss releases a subjob whose end its gate has.
func (m *Machine) dismiss(env node.Env, p *subjob) {
	p.acked = true
	m.lapse(env, p)
	m.leases.Release(env, p.job)
	m.drained(env)
}
