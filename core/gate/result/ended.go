package result

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Ended summarizes how a workflow of a plan ended, from the reports of all datacenters: the state
// and the figures that the job's result will have.
func Ended(p *message.WorkflowPlan, places []message.DatacenterResult, end message.JobState) message.WorkflowEnded {
	w, own := mergeWorkflow(p.Name, places, end)
	e := message.WorkflowEnded{State: w.State, Duration: w.Duration}
	e.Started, _, e.Failed = w.Stats.Requests()
	e.P50, e.P99 = latencies(&w.Stats)
	for i := range w.Lost {
		e.Unreported = max(e.Unreported, w.Lost[i].Unreported)
	}
	for k := range p.Thresholds {
		if judge(&p.Thresholds[k], p.Duration, &w, own, places).OK {
			e.Met++
		} else {
			e.Missed++
		}
	}
	return e
}

// latencies returns two quantiles of all requests. A histogram that cannot be read counts nothing.
func latencies(s *message.Stats) (p50, p99 time.Duration) {
	var all stats.Histogram
	for i := range s.Steps {
		if !s.CountsRequests(&s.Steps[i]) {
			continue
		}
		if one, err := stats.FromWire(s.Steps[i].Latency); err == nil {
			all.Merge(one)
		}
	}
	if all.Count() == 0 {
		return 0, 0
	}
	return time.Duration(all.Quantile(500_000)), time.Duration(all.Quantile(990_000))
}
