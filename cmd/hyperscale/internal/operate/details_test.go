package operate

import (
	"testing"

	"hyperscale/core/message"
)

// page is a page of details with these steps of workflow w.
func page(more bool, started uint64, steps ...string) *message.JobStatus {
	w := message.WorkflowResult{Name: "w", State: message.WorkflowRunning}
	for _, name := range steps {
		w.Stats.Steps = append(w.Stats.Steps, message.StepStats{Name: name, Kind: message.StepRequest, Started: started})
	}
	return &message.JobStatus{More: more, Datacenters: []message.DatacenterResult{{Name: "*", Workflows: []message.WorkflowResult{w}}}}
}

// TestPagesAreJoined: each step is in the join once, with its newest figures; a gate that repeats a
// page for ever is asked no more.
func TestPagesAreJoined(t *testing.T) {
	var g gathered
	var q message.JobQuery
	for i, p := range []*message.JobStatus{page(true, 1, "a", "b"), page(true, 2, "b", "c"), page(true, 3, "c"), page(false, 4)} {
		g.add(p)
		if more := next(&q, p); more != (i < 2) {
			t.Errorf("page %d: another one follows: %v, after %s/%s", i, more, q.AfterWorkflow, q.AfterStep)
		}
	}
	var got []uint64
	for _, s := range g.flows[0].Stats.Steps {
		got = append(got, s.Started)
	}
	if len(g.flows) != 1 || len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 3 {
		t.Errorf("figures of a, b, c: %v", got)
	}
}
