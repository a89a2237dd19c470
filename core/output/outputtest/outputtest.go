package outputtest

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Status is one of a running job with one step in one datacenter, which has begun so many requests.
func Status(at time.Duration, lost []message.LostAttempt, started uint64) *message.JobStatus {
	var h stats.Histogram
	h.RecordN(1_000_000, started)
	step := message.StepStats{Name: "home", Kind: message.StepRequest, Started: started, OK: started, Latency: h.Wire()}
	return &message.JobStatus{Job: message.JobOf("a"), Name: "t.star", State: message.JobRunning, Elapsed: at, Datacenters: []message.DatacenterResult{{
		Name: "east", Workflows: []message.WorkflowResult{{Name: "shop", State: message.WorkflowRunning, Lost: lost, Stats: message.Stats{Active: 7, Steps: []message.StepStats{step}}}},
	}}}
}

// Result is the end of such a job.
func Result(duration time.Duration, lost []message.LostAttempt, started uint64) *message.Result {
	end := Status(duration, lost, started)
	return &message.Result{
		Job: end.Job, Name: end.Name, State: message.JobCompleted, Duration: duration, Datacenters: end.Datacenters, Workflows: end.Datacenters[0].Workflows,
	}
}
