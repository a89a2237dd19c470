package plan_test

import (
	"slices"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// Of each chain of workflows that wait for each other one runs at a time: the one that needs the
// most cores stands for it.
func TestBeside(t *testing.T) {
	w := func(depends ...uint32) message.WorkflowPlan { return message.WorkflowPlan{VUs: 9, Depends: depends} }
	wide := func(depends ...uint32) message.WorkflowPlan {
		return message.WorkflowPlan{VUs: 9, Cores: 4, Depends: depends}
	}
	light := message.WorkflowPlan{VUs: 9, Test: true, Rate: 1000}
	behind := message.WorkflowPlan{VUs: 9, StartAfter: []uint32{0}}
	for _, c := range []struct {
		name string
		of   []message.WorkflowPlan
		one  uint32
		want []uint32
	}{
		{"alone", []message.WorkflowPlan{w()}, 0, nil},
		{"three", []message.WorkflowPlan{w(), w(), w()}, 1, []uint32{0, 2}},
		{"in a chain", []message.WorkflowPlan{w(), w(0), w(1)}, 1, nil},
		{"a chain by start_after", []message.WorkflowPlan{w(), behind}, 0, nil},
		{"a chain beside", []message.WorkflowPlan{w(), w(), wide(1), w(2)}, 0, []uint32{2}},
		{"a light one leads the chain", []message.WorkflowPlan{w(), light, w(1)}, 0, []uint32{2}},
		{"two behind one, beside a long one", []message.WorkflowPlan{w(), w(), w(1), w(1)}, 0, []uint32{1, 3}},
		{"a diamond", []message.WorkflowPlan{w(), w(0), w(0), w(1, 2)}, 1, []uint32{2}},
		{"crossed", []message.WorkflowPlan{w(), w(), w(), w(1, 2), w(1)}, 0, []uint32{1, 2}},
	} {
		got := plan.Beside(&message.Plan{Workflows: c.of}, c.one, func(uint32) bool { return true })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: beside %d run %v, want %v", c.name, c.one, got, c.want)
		}
	}
	if got := plan.Beside(&message.Plan{Workflows: []message.WorkflowPlan{w(), w(), w()}}, 0, func(i uint32) bool { return i == 2 }); !slices.Equal(got, []uint32{2}) {
		t.Errorf("beside 0 waits %v, want 2 alone", got)
	}
}

// A load is bounded by its highest rate, or by the pauses of its users; what it needs at most
// says whether it is light.
func TestLoads(t *testing.T) {
	request, function := []message.StepPlan{{Kind: message.StepRequest}}, []message.StepPlan{{Kind: message.StepFunction}}
	for _, c := range []struct {
		name    string
		w       message.WorkflowPlan
		load    time.Duration
		bounded bool
		light   bool
	}{
		{"users without a pause", message.WorkflowPlan{VUs: 2, Steps: request}, 0, false, false},
		{"1000/s", message.WorkflowPlan{VUs: 9, Rate: 1_000_000, Steps: request}, 100 * time.Millisecond, true, true},
		{"1001/s", message.WorkflowPlan{VUs: 9, Rate: 1_001_000, Steps: request}, 100*time.Millisecond + 100*time.Microsecond, true, false},
		{"60000 a minute", message.WorkflowPlan{VUs: 9, Rate: 60_000_000, RatePer: time.Minute, Steps: request}, 100 * time.Millisecond, true, true},
		{"a stage", message.WorkflowPlan{VUs: 9, Rate: 1000, Stages: []message.StagePlan{{Rate: 2_000_000}}, Steps: request}, 200 * time.Millisecond, true, false},
		{"functions", message.WorkflowPlan{VUs: 9, Rate: 250_000, Steps: function}, 100 * time.Millisecond, true, true},
		{"think time", message.WorkflowPlan{VUs: 2, Think: time.Second, Steps: request}, 200 * time.Microsecond, true, true},
		{"pace", message.WorkflowPlan{VUs: 2000, Think: time.Millisecond, Pace: time.Second, Steps: request}, 200 * time.Millisecond, true, false},
	} {
		c.w.Test = true
		if load, bounded := plan.Load(&c.w); load != c.load || bounded != c.bounded || plan.Light(&c.w) != c.light {
			t.Errorf("%s: %v a second, bounded %v, light %v; want %v, %v, %v", c.name, load, bounded, plan.Light(&c.w), c.load, c.bounded, c.light)
		}
	}
	named := message.WorkflowPlan{VUs: 2, Test: true, Think: time.Second, Cores: 2, Steps: request}
	if plan.Light(&named) || plan.Most(&named, 9) != 2 {
		t.Errorf("a workflow that names 2 cores is light: %v, and takes %d", plan.Light(&named), plan.Most(&named, 9))
	}
}
