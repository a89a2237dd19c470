package result

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// resultMax leaves room in a frame for the fields that differ per watcher.
const resultMax = message.FrameMax - 4096

// fitResult drops details, the least important first, until the result fits a frame. Sums stay
// correct; some are missing.
func fitResult(r *message.JobResult) {
	d, w := &r.Result.Datacenters, &r.Result.Workflows
	for _, less := range []func(){
		func() { *d = datacenters(*d, dropHistograms) },
		func() { *d = datacenters(*d, dropSteps) },
		func() { *d = withoutWorkers(*d) },
		func() {
			*w = workflows(*w, func(one *message.WorkflowResult) { stats.Fit(&one.Stats, resultMax/2/len(*w)) })
		},
		func() { *w = workflows(*w, dropTexts) },
		func() { *w = workflows(*w, dropService) },
		func() { *w = workflows(*w, dropHistograms) },
		func() { *w = workflows(*w, dropSteps) },
		func() { *d, *w = nil, nil },
	} {
		if r.Size() <= resultMax {
			return
		}
		less()
		r.Result.Error = joinOnce(r.Result.Error, "some details are left out: the whole result is larger than a message may be")
	}
}

// FitStatus makes figures of a status coarser, then drops details, until it fits a frame.
func FitStatus(s *message.JobStatus) {
	all := 0 // workflows, which share the room alike
	for i := range s.Datacenters {
		all += len(s.Datacenters[i].Workflows)
	}
	coarsen := func(w *message.WorkflowResult) { stats.Fit(&w.Stats, resultMax/2/all) }
	for _, drop := range []func(*message.WorkflowResult){coarsen, dropHistograms, dropSteps} {
		if s.Size() <= resultMax {
			return
		}
		s.Datacenters = datacenters(s.Datacenters, drop)
	}
	if s.Size() > resultMax {
		s.Datacenters = withoutWorkers(s.Datacenters)
	}
	if s.Size() > resultMax {
		s.Datacenters = nil
	}
}

// Promise adds the plan's load and thresholds to a job's status, for clients that watch without
// the file. It adds nothing if there is no room, or after the end.
func Promise(s *message.JobStatus, plan *message.Plan) {
	if s.State.Terminal() {
		return
	}
	for i := range plan.Workflows {
		p := &plan.Workflows[i]
		s.Plan = append(s.Plan, message.WorkflowPlan{
			Name: p.Name, Test: p.Test, VUs: p.VUs, Duration: p.Duration, Timeout: p.Timeout, Layer: p.Layer, Depends: p.Depends, StartAfter: p.StartAfter, Thresholds: p.Thresholds,
			Iterations: p.Iterations, Rate: p.Rate, RatePer: p.RatePer, Poisson: p.Poisson, Queue: p.Queue, Stages: p.Stages,
		})
	}
	if s.Size() > resultMax {
		s.Plan = nil
	}
}

func joinOnce(all, one string) string {
	if len(all) >= len(one) && all[len(all)-len(one):] == one {
		return all
	}
	return joinErrors(all, one)
}

// Bare returns datacenters' results without their steps, as a status lists them.
func Bare(in []message.DatacenterResult) []message.DatacenterResult {
	return datacenters(in, dropSteps)
}

// datacenters changes copies: it never writes to a received message.
func datacenters(in []message.DatacenterResult, change func(*message.WorkflowResult)) []message.DatacenterResult {
	out := slices.Clone(in)
	for i := range out {
		out[i].Workflows = workflows(out[i].Workflows, change)
	}
	return out
}

func withoutWorkers(in []message.DatacenterResult) []message.DatacenterResult {
	out := slices.Clone(in)
	for i := range out {
		out[i].Workers = nil
	}
	return out
}

func workflows(in []message.WorkflowResult, change func(*message.WorkflowResult)) []message.WorkflowResult {
	out := slices.Clone(in)
	for i := range out {
		change(&out[i])
	}
	return out
}

func dropHistograms(w *message.WorkflowResult) {
	w.Stats.Spans = nil
	steps(w, stats.Bare)
}

func dropService(w *message.WorkflowResult) {
	steps(w, func(s *message.StepStats) { s.Service = message.Histogram{} })
}

func dropSteps(w *message.WorkflowResult) { w.Stats.Steps = nil }

func dropTexts(w *message.WorkflowResult) {
	w.Stats.Logs, w.Stats.Told, w.Lost, w.Tags, w.StepTags = nil, 0, nil, nil, nil
	steps(w, func(s *message.StepStats) {
		s.Errors = slices.Clone(s.Errors)
		for i := range s.Errors {
			s.Errors[i].Example = ""
		}
	})
}

func steps(w *message.WorkflowResult, change func(*message.StepStats)) {
	w.Stats.Steps = slices.Clone(w.Stats.Steps)
	for i := range w.Stats.Steps {
		change(&w.Stats.Steps[i])
	}
}
