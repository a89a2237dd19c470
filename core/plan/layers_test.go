package plan_test

import (
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

func TestTogether(t *testing.T) {
	w := func(depends ...uint32) message.WorkflowPlan { return message.WorkflowPlan{Depends: depends} }
	behind := message.WorkflowPlan{StartAfter: []uint32{0}}
	for _, c := range []struct {
		name string
		of   []message.WorkflowPlan
		want int
	}{
		{"one", []message.WorkflowPlan{w()}, 1},
		{"three", []message.WorkflowPlan{w(), w(), w()}, 3},
		{"a chain", []message.WorkflowPlan{w(), w(0), w(1)}, 1},
		{"a chain by start_after", []message.WorkflowPlan{w(), behind}, 1},
		{"two behind one, beside a long one", []message.WorkflowPlan{w(), w(), w(1), w(1)}, 3},
		{"a diamond", []message.WorkflowPlan{w(), w(0), w(0), w(1, 2)}, 2},
	} {
		if got := plan.Together(&message.Plan{Workflows: c.of}); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}
