package gate

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/verdict"
)

// merge makes one result of the subjobs: workflows are joined by name, counts and
// histograms added, thresholds judged once, on the sum.
func (m *Machine) merge(j *job) *message.JobResult {
	// The request is filled in for each watcher; a record needs some.
	r := &message.JobResult{Request: message.RequestID{Counter: 1}, Result: message.Result{
		Job: j.id, Name: j.name, State: j.state, Error: j.reason, Duration: j.elapsed,
	}}
	for _, p := range j.subjobs {
		r.Result.Datacenters = append(r.Result.Datacenters, *p.result)
	}
	for i := range j.spec.Plan.Workflows {
		plan := &j.spec.Plan.Workflows[i]
		w := mergeWorkflow(plan.Name, r.Result.Datacenters, j.state)
		w.Tags, w.Interval = plan.Tags, plan.Interval
		for k := range plan.Steps {
			if s := &plan.Steps[k]; len(s.Tags) > 0 {
				w.StepTags = append(w.StepTags, message.StepTags{Step: s.Name, Tags: s.Tags})
			}
		}
		r.Result.Workflows = append(r.Result.Workflows, w)
		for k := range plan.Thresholds {
			r.Result.Thresholds = append(r.Result.Thresholds, judge(&plan.Thresholds[k], &w))
		}
	}
	fitResult(r)
	return r
}

func mergeWorkflow(name string, places []message.DatacenterResult, end message.JobState) message.WorkflowResult {
	merged := message.WorkflowResult{Name: name}
	var measured []*message.Stats
	var found []*message.WorkflowResult
	for i := range places {
		for k := range places[i].Workflows {
			if w := &places[i].Workflows[k]; w.Name == name {
				found = append(found, w)
				measured = append(measured, &w.Stats)
				merged.VUs += w.VUs
				merged.Cores += w.Cores
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
		return merged
	}
	sum, err := stats.Sum(measured)
	if err != nil {
		merged.Error = joinErrors(merged.Error, "its figures are left out: "+err.Error())
		return merged
	}
	merged.Stats = sum
	return merged
}

func joinErrors(all, one string) string {
	switch {
	case all == "":
		return one
	case len(all) > errorMax:
		return all
	}
	return all + "; " + one
}

// mergedState is COMPLETED if the workflow is everywhere, else the worst of
// what it is.
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

func judge(t *message.Threshold, w *message.WorkflowResult) message.ThresholdResult {
	r := message.ThresholdResult{Workflow: w.Name, Expr: t.Expr, Of: t.Of}
	value, ok, err := verdict.Evaluate(t, &w.Stats, verdict.Clock(w), quantile)
	if err == nil {
		r.Value, r.OK = value, ok
	}
	return r
}

func quantile(h message.Histogram, ppm uint32) (uint64, error) {
	read, err := stats.FromWire(h)
	if err != nil {
		return 0, err
	}
	return read.Quantile(ppm), nil
}
