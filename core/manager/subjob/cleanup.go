package subjob

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// After is the workflow that runs after_all, also when the subjob is stopped; nil: there is none.
func (p *Subjob) After() *Workflow {
	if p.Dispatch == nil {
		return nil
	}
	if i := p.Dispatch.Plan.AfterAll; i > 0 && int(i) <= len(p.Workflows) {
		return p.Workflows[i-1]
	}
	return nil
}

// Stops says that the decided end of the subjob ends a workflow: all but the one that cleans up,
// until its time is over or a gate asks to end at once. Without word of a gate nothing can run.
func (p *Subjob) Stops(f *Workflow) bool {
	return p.Stop.Decided != message.JobNone && (f != p.After() || p.Stop.Over || p.Stop.Decided == message.JobFailed)
}

// StopOf is the end of the subjob that ends a workflow and that a majority has; none if there is none.
func (p *Subjob) StopOf(f *Workflow) message.JobState {
	if p.Stop.Durable == message.JobNone || f == p.After() && !p.Stop.Sealed && p.Stop.Durable != message.JobFailed {
		return message.JobNone
	}
	return p.Stop.Durable
}

// Left is the workflow that cleans up, if it alone is left of a stopped subjob.
func (p *Subjob) Left() *Workflow {
	f := p.After()
	if f == nil || p.Stop.Durable == message.JobNone || p.Stop.Decided == message.JobFailed || p.Stop.Over || f.End != message.WorkflowNone {
		return nil
	}
	for _, other := range p.Workflows {
		if other != f && !other.State.Terminal() {
			return nil
		}
	}
	return f
}

// Began says that there is something to clean up: what comes before all workflows has completed, or
// without that a workflow has begun.
func (p *Subjob) Began() bool {
	f, began := p.After(), false
	for _, on := range f.Plan.Depends {
		if p.Workflows[on].State != message.WorkflowCompleted {
			return false
		}
		began = true
	}
	for _, other := range p.Workflows {
		began = began || other != f && other.Started != 0
	}
	return began
}

// CleanUpLeft is the rest of the time in which a stopped subjob cleans up.
func (p *Subjob) CleanUpLeft(now node.Instant) time.Duration {
	return plan.CleanUp(&p.Dispatch.Plan) - now.Sub(p.Stop.Since)
}

// TimeLeft is the rest of the subjob's time: of its run timeout, or of its clean-up once it is
// stopped.
func (p *Subjob) TimeLeft(now node.Instant) time.Duration {
	if p.Stop.Decided != message.JobNone {
		return p.CleanUpLeft(now)
	}
	return p.RunTimeout - now.Sub(p.Accepted)
}
