package operate

import (
	"testing"

	"hyperscale/core/message"
)

// TestJobViewCountsRequests: a function's requests count, its calls do not count beside them, and
// setup is no load.
func TestJobViewCountsRequests(t *testing.T) {
	w := message.WorkflowResult{Name: "w", Stats: message.Stats{Steps: []message.StepStats{
		{Name: "buy", Kind: message.StepFunction, Started: 5, OK: 5},
		{Name: "buy/a", Kind: message.StepPart, Started: 5, OK: 5},
		{Name: "buy/b", Kind: message.StepPart, Started: 5, OK: 2, Failed: 2, TimedOut: 1},
		{Name: "home", Kind: message.StepRequest, Started: 1, OK: 1},
		{Name: "setup/x", Kind: message.StepBeside, Started: 9, OK: 9},
	}}}
	v := jobView(&message.JobStatus{Datacenters: []message.DatacenterResult{{Name: "a", Workflows: []message.WorkflowResult{w}}}})
	if got := v.Datacenters[0].Workflows[0]; got.Started != 11 || got.OK != 8 || got.Failed != 3 {
		t.Errorf("started %d, ok %d, failed %d: want 11, 8, 3", got.Started, got.OK, got.Failed)
	}
}
