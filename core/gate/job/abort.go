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

// Abort says that a workflow ends as FAILED because its own condition held. The gate judges the
// condition as it judges thresholds: over the reports of all datacenters.
type Abort struct {
	Workflow  uint32
	Condition uint32
	Value     int64 // when it had held for the required time
	Known     bool  // a majority has it

	unknown record.Unknown // fields of a newer version, from the record
}

// Reason is the workflow's error text.
func (a *Abort) Reason(p *message.Plan) string {
	c := &p.Workflows[a.Workflow].AbortWhen[a.Condition]
	return fmt.Sprintf("abort_when: %s for %v: it was %s", c.When.Expr, c.For, verdict.Text(c.When.Of, a.Value))
}

// Bad says that a record names a workflow or a condition that the plan does not have.
func (a *Abort) Bad(p *message.Plan) bool {
	return int(a.Workflow) >= len(p.Workflows) || int(a.Condition) >= len(p.Workflows[a.Workflow].AbortWhen)
}

// aborted says that the job aborts a workflow.
func (j *Job) aborted(workflow int) bool {
	return slices.ContainsFunc(j.Aborts, func(a *Abort) bool { return a.Workflow == uint32(workflow) })
}

// Observe evaluates a workflow's conditions. It returns the first that aborts the workflow, and
// the errors of those that it could not evaluate. It skips a workflow that the job aborts
// already.
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

// Watching counts the workflows whose conditions the job watches.
func (j *Job) Watching() int { return len(j.watches) }

// StopWatching drops all watches: nothing is left to abort.
func (j *Job) StopWatching() { j.watches = nil }

// watch returns the watch of a workflow's condition, and creates it at first use.
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

// told returns the last report of a subjob about a workflow, or nil.
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

// figures lists the reports about a workflow of subjobs that still send load. At the end of a
// workflow, requests in flight would distort them.
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

// Aborting says that a subjob may still run a workflow whose abort is on a majority.
func (p *Subjob) Aborting(a *Abort) bool {
	w := p.told(int(a.Workflow))
	return a.Known && p.Phase != Done && (w == nil || !w.State.Terminal())
}

// Aborting says that a subjob may still run a workflow that the job aborts.
func (j *Job) Aborting() bool {
	return slices.ContainsFunc(j.Aborts, func(a *Abort) bool {
		return slices.ContainsFunc(j.Subjobs, func(p *Subjob) bool { return p.Aborting(a) })
	})
}
