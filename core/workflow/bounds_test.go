package workflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow"
)

// bounded is an argument of workflow() whose bound the plan has, too.
type bounded struct {
	name string
	most uint64
	text func(n uint64) string
	set  func(w *message.WorkflowPlan, n uint64)
}

func boundedArguments() []bounded {
	number := func(n uint64) string { return fmt.Sprint(n) }
	span := func(n uint64) string { return fmt.Sprintf("%q", time.Duration(n)) }
	spans := func(name string, most time.Duration, of func(*message.WorkflowPlan) *time.Duration) bounded {
		return bounded{name, uint64(most), span, func(w *message.WorkflowPlan, n uint64) { *of(w) = time.Duration(n) }}
	}
	return []bounded{
		{"vus", plan.VUsMax, number, func(w *message.WorkflowPlan, n uint64) { w.VUs = n }},
		{"iterations", plan.IterationsMax, number, func(w *message.WorkflowPlan, n uint64) { w.Iterations = n }},
		{"cores", plan.CoresMax, number, func(w *message.WorkflowPlan, n uint64) { w.Cores = uint32(n) }},
		{"memory", plan.MemoryMax, func(n uint64) string { return fmt.Sprintf("\"%dB\"", n) }, func(w *message.WorkflowPlan, n uint64) { w.Memory = n }},
		{"connections", plan.ConnectionsMax, number, func(w *message.WorkflowPlan, n uint64) { w.Connections = uint32(n) }},
		spans("duration", plan.DurationMax, func(w *message.WorkflowPlan) *time.Duration { return &w.Duration }),
		spans("timeout", plan.TimeoutMax, func(w *message.WorkflowPlan) *time.Duration { return &w.Timeout }),
		spans("think", plan.DurationMax, func(w *message.WorkflowPlan) *time.Duration { return &w.Think }),
		spans("pace", plan.DurationMax, func(w *message.WorkflowPlan) *time.Duration { return &w.Pace }),
		spans("graceful_stop", plan.DurationMax, func(w *message.WorkflowPlan) *time.Duration { return &w.GracefulStop }),
		spans("interval", plan.DurationMax, func(w *message.WorkflowPlan) *time.Duration { return &w.Interval }),
	}
}

// TestTheLanguageHasThePlansBounds: the language accepts a value of a workflow exactly if
// plan.Check accepts the plan with it: what validates is not rejected on submit.
func TestTheLanguageHasThePlansBounds(t *testing.T) {
	const file = "workflow(name = \"w\", %s = %s, steps = [step(\"a\", http.get(\"http://h/\"))])\n"
	base, err := workflow.Load(program("w.star", fmt.Sprintf(file, "vus", "1")))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, a := range boundedArguments() {
			n := rapid.OneOf(rapid.Just(a.most), rapid.Just(a.most+1), rapid.Just(a.most/4), rapid.Uint64Range(1, 2*a.most)).Draw(t, a.name)
			p := *base.Plan()
			p.Workflows = []message.WorkflowPlan{base.Plan().Workflows[0]}
			a.set(&p.Workflows[0], n)
			faults := plan.Check(&p)
			_, err := workflow.Load(program("w.star", fmt.Sprintf(file, a.name, a.text(n))))
			if (err == nil) != (len(faults) == 0) {
				t.Fatalf("%s = %s: the language says %v, the plan %s", a.name, a.text(n), err, plan.Text(faults))
			}
			if err != nil && (!strings.Contains(err.Error(), a.name) || n <= a.most && a.name != "interval" && a.name != "memory") {
				t.Fatalf("%s = %s: %v", a.name, a.text(n), err)
			}
		}
	})
}

// TestRatesHaveThePlansBounds: the same for rates, to the last thousandth of an hour's.
func TestRatesHaveThePlansBounds(t *testing.T) {
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"s", "m", "h"}).Draw(t, "unit")
		most := plan.RateBound(units[unit])
		n := rapid.OneOf(rapid.Just(most), rapid.Just(most+1), rapid.Uint64Range(1, 2*most)).Draw(t, "rate")
		rate := fmt.Sprintf("%d.%03d/%s", n/1000, n%1000, unit)
		for _, load := range []string{"rate = %q, duration = \"1s\"", "stages = [stage(\"1s\", rate = %q)]"} {
			_, err := workflow.Load(program("w.star", "workflow(name = \"w\", vus = 1, "+fmt.Sprintf(load, rate)+", steps = [step(\"a\", http.get(\"http://h/\"))])\n"))
			if (err == nil) != (n <= most) {
				t.Fatalf("%s: %v", rate, err)
			}
		}
	})
}
