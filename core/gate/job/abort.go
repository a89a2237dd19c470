package job

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
)

// Abort says that a workflow ends before its time: as FAILED because its own condition held, or as
// CANCELLED because a client asked for it. The gate judges a condition as it judges thresholds: over
// the reports of all datacenters.
type Abort struct {
	Workflow  uint32
	Condition uint32
	Value     int64  // when it had held for the required time
	By        string // the client that asked for it; empty: the condition did
	Why       string // as that client said
	Known     bool   // a majority has it

	unknown record.Unknown // fields of a newer version, from the record
}

// Reason is the workflow's error text.
func (a *Abort) Reason(p *message.Plan) string {
	if a.By != "" {
		return CancelReason(a.By, a.Why)
	}
	c := &p.Workflows[a.Workflow].AbortWhen[a.Condition]
	return fmt.Sprintf("abort_when: %s for %v: it was %s", c.When.Expr, c.For, verdict.Text(c.When.Of, a.Value))
}

// CancelReason tells people who cancelled, and why.
func CancelReason(by, why string) string {
	if why == "" {
		return "cancelled by " + by
	}
	return "cancelled by " + by + ": " + why
}

// Bad says that a record names a workflow or a condition that the plan does not have.
func (a *Abort) Bad(p *message.Plan) bool {
	return int(a.Workflow) >= len(p.Workflows) || a.By == "" && int(a.Condition) >= len(p.Workflows[a.Workflow].AbortWhen)
}

// AbortOf returns what ends a workflow before its time, or nil.
func (j *Job) AbortOf(workflow int) *Abort {
	at := slices.IndexFunc(j.Aborts, func(a *Abort) bool { return a.Workflow == uint32(workflow) })
	if at < 0 {
		return nil
	}
	return j.Aborts[at]
}

// Named finds workflows by their names. Of a name that the plan does not have it says which there
// are.
func (j *Job) Named(names []string) (all []int, unknown string) {
	plans := j.Spec.Plan.Workflows
	for _, name := range names {
		at := slices.IndexFunc(plans, func(w message.WorkflowPlan) bool { return w.Name == name })
		if at < 0 {
			var known []string
			for i := range plans {
				known = append(known, plans[i].Name)
			}
			return nil, fmt.Sprintf("%.64q: the job has %.500s", name, strings.Join(known, ", "))
		}
		all = append(all, at)
	}
	return all, ""
}

// Stopped says that each of the workflows has ended, or that a majority knows what ends it.
func (j *Job) Stopped(names []string) bool {
	all, _ := j.Named(names)
	return !slices.ContainsFunc(all, func(at int) bool {
		a := j.AbortOf(at)
		return (a == nil || !a.Known) && !j.EndedEverywhere(at)
	})
}

// Stops lists the workflows that a client cancelled, as far as a majority knows.
func (j *Job) Stops() (all []message.WorkflowStop) {
	for _, a := range j.Aborts {
		if a.By != "" && a.Known {
			all = append(all, message.WorkflowStop{Workflow: a.Workflow, Reason: a.Reason(&j.Spec.Plan)})
		}
	}
	return all
}

// EndedEverywhere says that a workflow has ended in all datacenters, as far as they have reported.
func (j *Job) EndedEverywhere(workflow int) bool {
	return len(j.Subjobs) > 0 && !slices.ContainsFunc(j.Subjobs, func(p *Subjob) bool {
		w := p.told(workflow)
		return p.Phase != Done && (w == nil || !w.State.Terminal())
	})
}

// Observe evaluates a workflow's conditions. It returns the first that aborts the workflow, and
// the errors of those that it could not evaluate. It skips a workflow that the job aborts
// already.
func (j *Job) Observe(workflow int, now node.Instant) (held *Abort, faults []error) {
	w := &j.Spec.Plan.Workflows[workflow]
	if len(w.AbortWhen) == 0 || j.AbortOf(workflow) != nil {
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

// every is how often the workers behind a subjob's reports report, if seldom.
func (p *Subjob) every() time.Duration {
	if p.Progress == nil {
		return 0
	}
	return p.Progress.Every
}

// figures lists the reports about a workflow of subjobs that still send load. At the end of a
// workflow, requests in flight would distort them.
func (j *Job) figures(workflow int) []verdict.Part {
	var subjobs []verdict.Part
	until := j.Spec.Plan.Workflows[workflow].Duration
	for _, p := range j.Subjobs {
		w := p.told(workflow)
		if w != nil && w.State == message.WorkflowRunning && len(w.Stats.Steps) > 0 && (until == 0 || w.Stats.Elapsed < until) {
			subjobs = append(subjobs, verdict.Part{Name: p.Datacenter, Teller: p.Fence.SubjobEpoch, Sequence: p.Sequence, Stats: w.Stats, Every: p.every()})
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
