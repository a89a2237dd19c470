package result

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
)

// ErrorMax bounds the error text of an end.
const ErrorMax = 2048

// Merge merges the reports of the datacenters of r, which has no other results yet. It joins
// workflows by name, adds counts and histograms, and judges each threshold once, on the sum.
// The caller fills in the request for each watcher; a record needs one too.
func Merge(r message.Result, plan *message.Plan) *message.JobResult {
	for i := range plan.Workflows {
		p := &plan.Workflows[i]
		w, own := mergeWorkflow(p.Name, r.Datacenters, r.State)
		w.Tags, w.Interval, w.Order = p.Tags, p.Interval, order(p)
		for k := range p.Steps {
			if s := &p.Steps[k]; len(s.Tags) > 0 {
				w.StepTags = append(w.StepTags, message.StepTags{Step: s.Name, Tags: s.Tags})
			}
		}
		r.Workflows = append(r.Workflows, w)
		for k := range p.Thresholds {
			r.Thresholds = append(r.Thresholds, judge(&p.Thresholds[k], p.Duration, &w, own, r.Datacenters))
		}
		r.Workflows[i].Stats.Spans = nil // only thresholds read them
	}
	r.Turns = turns(plan)
	r.Datacenters = datacenters(r.Datacenters, func(w *message.WorkflowResult) { w.Stats.Spans = nil })
	whole := &message.JobResult{Request: message.RequestID{Counter: 1}, Result: r}
	fitResult(whole)
	return whole
}

func order(w *message.WorkflowPlan) []string { return plan.Order(w.Steps) }

func turns(p *message.Plan) []string { return plan.Turns(p.Workflows) }

// Started sums the starts of all measured steps of a datacenter's workflows.
func Started(d *message.DatacenterResult) uint64 {
	var sum uint64
	for i := range d.Workflows {
		sum += stats.Started(&d.Workflows[i].Stats)
	}
	return sum
}

// mergeWorkflow also returns how long the workflow lasted in its own time, where it lasted longest.
func mergeWorkflow(name string, places []message.DatacenterResult, end message.JobState) (merged message.WorkflowResult, own time.Duration) {
	merged.Name = name
	var measured []stats.Begun
	var found []*message.WorkflowResult
	for i := range places {
		for k := range places[i].Workflows {
			if w := &places[i].Workflows[k]; w.Name == name {
				found = append(found, w)
				measured = append(measured, stats.Begun{At: w.Began, Stats: &w.Stats})
				own = max(own, verdict.Clock(w))
				merged.VUs += w.VUs
				merged.Cores += w.Cores
				merged.Shared += w.Shared
				merged.Burned += w.Burned
				merged.Duration = max(merged.Duration, w.Duration)
				merged.Lost = append(merged.Lost, w.Lost...)
				if w.Error != "" {
					merged.Error = joinErrors(merged.Error, places[i].Name+": "+w.Error)
				}
			}
		}
	}
	merged.State = mergedState(found, end)
	if len(found) == 0 {
		merged.Error = "no datacenter reported it"
		return merged, own
	}
	sum, origin, _, err := stats.SumBegun(measured)
	if err != nil {
		merged.Error = joinErrors(merged.Error, "its figures are left out: "+err.Error())
		return merged, own
	}
	merged.Stats, merged.Began = sum, origin
	return merged, own
}

func joinErrors(all, one string) string {
	switch {
	case all == "":
		return one
	case len(all) > ErrorMax:
		return all
	}
	return all + "; " + one
}

// mergedState is COMPLETED if the workflow is COMPLETED everywhere, else the worst state.
func mergedState(found []*message.WorkflowResult, end message.JobState) message.WorkflowState {
	is := func(s message.WorkflowState) bool {
		return slices.ContainsFunc(found, func(w *message.WorkflowResult) bool { return w.State == s })
	}
	switch {
	case is(message.WorkflowFailed):
		return message.WorkflowFailed
	case is(message.WorkflowTimedOut):
		return message.WorkflowTimedOut
	case is(message.WorkflowCancelled):
		return message.WorkflowCancelled
	case is(message.WorkflowCompleted):
		return message.WorkflowCompleted
	case end == message.JobCancelled:
		return message.WorkflowCancelled
	case end == message.JobTimedOut:
		return message.WorkflowTimedOut
	}
	return message.WorkflowFailed
}

// judge judges a threshold on the sum of a workflow, or on what its datacenter reported.
func judge(t *message.Threshold, planned time.Duration, w *message.WorkflowResult, own time.Duration, places []message.DatacenterResult) message.ThresholdResult {
	r := message.ThresholdResult{Workflow: w.Name, Expr: t.Expr, Of: t.Of, Unmeasured: true}
	if t.Datacenter != "" {
		one := Of(places, t.Datacenter, w.Name)
		if one == nil {
			return r
		}
		w, own = one, verdict.Clock(one)
	}
	lasted := verdict.Clock(w)
	if t.Partial() {
		lasted = own // parts are of the workflow's time, wherever it ran
	}
	j, err := verdict.Judge(t, &w.Stats, verdict.Length{Planned: planned, Elapsed: lasted}, Quantile)
	if err == nil {
		r.Value, r.OK, r.Unmeasured, r.From, r.Until = j.Value, j.OK, !j.Measured, j.From, j.Until
	}
	return r
}

// Of returns what a datacenter reported of a workflow; nil: nothing.
func Of(places []message.DatacenterResult, datacenter, workflow string) *message.WorkflowResult {
	for i := range places {
		if places[i].Name != datacenter {
			continue
		}
		for k := range places[i].Workflows {
			if places[i].Workflows[k].Name == workflow {
				return &places[i].Workflows[k]
			}
		}
	}
	return nil
}

// Quantile returns a quantile of an encoded histogram.
func Quantile(h message.Histogram, ppm uint32) (uint64, error) {
	read, err := stats.FromWire(h)
	if err != nil {
		return 0, err
	}
	return read.Quantile(ppm), nil
}
