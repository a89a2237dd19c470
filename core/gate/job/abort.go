package job

import (
	"fmt"
	"slices"

	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
)

// Abort is a workflow that is ended, FAILED, by a condition of its own. The gate
// judges, as thresholds are: over all datacenters, on what they report.
type Abort struct {
	Workflow  uint32
	Condition uint32
	Value     int64 // when it had held for its time
	Known     bool  // a majority has it

	unknown record.Unknown // of a newer version, in the record that had it
}

// Reason is what the workflow fails with.
func (a *Abort) Reason(p *message.Plan) string {
	c := &p.Workflows[a.Workflow].AbortWhen[a.Condition]
	return fmt.Sprintf("abort_when: %s for %v: it was %s", c.When.Expr, c.For, verdict.Text(c.When.Of, a.Value))
}

// Bad says that a record names what its plan has not.
func (a *Abort) Bad(p *message.Plan) bool {
	return int(a.Workflow) >= len(p.Workflows) || int(a.Condition) >= len(p.Workflows[a.Workflow].AbortWhen)
}

// aborted says that a workflow is to end.
func (j *Job) aborted(workflow int) bool {
	return slices.ContainsFunc(j.Aborts, func(a *Abort) bool { return a.Workflow == uint32(workflow) })
}

// Observe looks whether a condition ends a workflow by now, and returns the first that
// does, and what could not be judged. A workflow that is to end is not judged again.
func (j *Job) Observe(workflow int, now node.Instant) (held *Abort, faults []error) {
	w := &j.Spec.Plan.Workflows[workflow]
	if len(w.AbortWhen) == 0 || j.aborted(workflow) {
		return nil, nil
	}
	for k, c := range w.AbortWhen {
		watch := j.watch(workflow, k, c)
		if !watch.Due(now) {
			continue
		}
		value, is, err := watch.Observe(now, j.figures(workflow), result.Quantile, stats.Since)
		if err != nil {
			faults = append(faults, err)
		}
		if is {
			return &Abort{Workflow: uint32(workflow), Condition: uint32(k), Value: value}, faults
		}
	}
	return nil, faults
}

// Watching counts the workflows whose conditions are watched.
func (j *Job) Watching() int { return len(j.watches) }

// StopWatching forgets all watches: nothing is left to abort.
func (j *Job) StopWatching() { j.watches = nil }

// watch returns that of a workflow's condition.
func (j *Job) watch(workflow, condition int, c message.AbortPlan) *verdict.Watch {
	if j.watches == nil {
		j.watches = make([][]*verdict.Watch, len(j.Spec.Plan.Workflows))
	}
	for len(j.watches[workflow]) <= condition {
		j.watches[workflow] = append(j.watches[workflow], nil)
	}
	if j.watches[workflow][condition] == nil {
		j.watches[workflow][condition] = verdict.NewWatch(c)
	}
	return j.watches[workflow][condition]
}

// told is what a subjob has said of a workflow last, or nil.
func (p *Subjob) told(workflow int) *message.WorkflowResult {
	from := p.Result
	if from == nil {
		from = p.Progress
	}
	if from == nil || workflow >= len(from.Workflows) {
		return nil
	}
	return &from.Workflows[workflow]
}

// figures are what the subjobs tell of a workflow that send load, with time to go: what
// is in flight at the end is no measure of it.
func (j *Job) figures(workflow int) []verdict.Part {
	var subjobs []verdict.Part
	until := j.Spec.Plan.Workflows[workflow].Duration
	for _, p := range j.Subjobs {
		w := p.told(workflow)
		if w != nil && w.State == message.WorkflowRunning && len(w.Stats.Steps) > 0 && (until == 0 || w.Stats.Elapsed < until) {
			subjobs = append(subjobs, verdict.Part{Name: p.Datacenter, Teller: p.Fence.SubjobEpoch, Sequence: p.Sequence, Stats: w.Stats})
		}
	}
	return subjobs
}

// Aborting says that a subjob may still run what a majority knows to be aborted.
func (p *Subjob) Aborting(a *Abort) bool {
	w := p.told(int(a.Workflow))
	return a.Known && p.Phase != Done && (w == nil || !w.State.Terminal())
}

// Aborting says that a subjob may still run what is to end.
func (j *Job) Aborting() bool {
	return slices.ContainsFunc(j.Aborts, func(a *Abort) bool {
		return slices.ContainsFunc(j.Subjobs, func(p *Subjob) bool { return p.Aborting(a) })
	})
}
