package export

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

func histogram(values ...uint64) message.Histogram {
	var h stats.Histogram
	for _, v := range values {
		h.Record(v)
	}
	return h.Wire()
}

// hostile is a name as an attacker would choose it.
const hostile = "=HYPERLINK(\"http://x\")\x1b[2J\x00</testcase>]]>&\n\"'\xff"

func workflowResult(name string) message.WorkflowResult {
	return message.WorkflowResult{
		Name: name, State: message.WorkflowCompleted, VUs: 64, Cores: 2, Duration: 11 * time.Second,
		Stats: message.Stats{
			Active: 64, Elapsed: 10 * time.Second, Generator: message.Generator{Lag: histogram(1000, 2000), BusyMax: 420_000, Begun: 110, Waited: 3, Dropped: 2},
			Steps: []message.StepStats{
				{
					Name: "home", Kind: message.StepRequest, Started: 100, Sent: 99, OK: 90, Failed: 6, TimedOut: 3, Cancelled: 1, Dropped: 2, Skipped: 5, BytesIn: 15_000, BytesOut: 5_000,
					Statuses: []message.StatusCount{{Status: 200, Count: 90}, {Status: 500, Count: 4}},
					Errors:   []message.ErrorCount{{Kind: "closed", Count: 2, Example: "closed before an answer"}, {Kind: "status", Count: 4, Example: "500"}},
					Latency:  histogram(1_000_000, 2_000_000, 400_000_000), Service: histogram(900_000),
					Phases: []message.PhaseTimes{{Phase: message.PhaseWait, Time: histogram(900_000)}},
				},
				{Name: hostile, Kind: message.StepFunction, Started: 1, OK: 1, Latency: histogram(70_000_000_000)},
				{Name: "is_me", Kind: message.StepCheck, OK: 8, Failed: 2, Skipped: 1, Errors: []message.ErrorCount{{Kind: "want <b>200</b>, got 500", Count: 2}}},
				{Name: "is_fine", Kind: message.StepCheck, OK: 10},
				{Name: "size", Kind: message.StepMetric, Metric: histogram(150_000, 250_000)},
			},
		},
	}
}

// messageResult is a job of one workflow in one datacenter.
func messageResult() *message.Result {
	w := workflowResult("shop")
	return &message.Result{
		Job: message.JobID{1}, Name: "load/shop.star", State: message.JobCompleted, Duration: 12 * time.Second,
		Workflows:   []message.WorkflowResult{w},
		Datacenters: []message.DatacenterResult{{Name: "east", State: message.JobCompleted, Duration: 12 * time.Second, Workflows: []message.WorkflowResult{w}}},
		Thresholds: []message.ThresholdResult{
			{Workflow: "shop", Expr: "home.latency.p99 < 250ms", Value: 400_000_000, Of: message.OfLatency},
			{Workflow: "shop", Expr: "home.errors < 10%", Value: 90_000, Of: message.OfErrors, OK: true},
		},
	}
}

func result(t *testing.T, change ...func(*message.Result)) *report.Result {
	t.Helper()
	in := messageResult()
	for _, c := range change {
		c(in)
	}
	r, err := report.Build(in, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
