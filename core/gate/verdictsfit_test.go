package gate

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/plan"
)

// TestVerdictsOfAcceptedPlansFitAFrame: whatever thresholds an accepted plan has, the job's
// result carries the verdict of each one, and every node can decode it.
func TestVerdictsOfAcceptedPlansFitAFrame(t *testing.T) {
	m := New(Default())
	rejected := 0
	rapid.Check(t, func(t *rapid.T) {
		s := legalSubmit(t)
		first := s.Plan.Workflows[0]
		s.Plan.Workflows, s.Plan.AfterAll = nil, 0
		name := strings.Repeat("w", rapid.SampledFrom([]int{plan.NameMax - 3, 1, 20, plan.NameMax - 3}).Draw(t, "name"))
		expr := strings.Repeat("e", rapid.SampledFrom([]int{1, 36, 150, plan.ExprMax}).Draw(t, "expr"))
		workflows := rapid.SampledFrom([]int{16, 64, plan.WorkflowsMax, 1}).Draw(t, "workflows")
		thresholds := min(plan.ThresholdsMax, plan.VerdictsMax/workflows) // as many as VerdictsMax allows
		if rapid.Bool().Draw(t, "other thresholds") {
			thresholds = rapid.SampledFrom([]int{1, 16, 17, 199, 200}).Draw(t, "thresholds")
		}
		for i := range workflows {
			w := message.WorkflowPlan{Name: fmt.Sprintf("%s%d", name, i), VUs: 1, Timeout: 1, Steps: []message.StepPlan{{Name: "s", Kind: message.StepRequest}}}
			if i == 0 && first.Layer == 0 && rapid.Bool().Draw(t, "with steps") {
				w = first
			}
			w.Thresholds = nil
			for range thresholds {
				w.Thresholds = append(w.Thresholds, message.Threshold{Expr: expr, Of: message.OfErrors, Op: message.OpBelow})
			}
			s.Plan.Workflows = append(s.Plan.Workflows, w)
		}
		sum := thresholds * len(s.Plan.Workflows)
		code, why := m.config.check(s)
		switch {
		case code == message.CodeBadPlan:
			rejected++
			if !strings.Contains(why, "thresholds") {
				t.Fatalf("%d thresholds are rejected for another reason: %s", sum, why)
			}
			if sum <= plan.ThresholdsMax {
				t.Fatalf("%d small thresholds are rejected: %s", sum, why)
			}
			return
		case code == message.CodeTooLarge:
			return
		}
		r := result.Merge(message.Result{
			Job: message.JobID{1}, Name: s.Name, State: message.JobCompleted, Error: strings.Repeat("r", result.ErrorMax),
			Datacenters: []message.DatacenterResult{{Name: "a", State: message.JobCompleted}},
		}, &s.Plan)
		if len(r.Result.Thresholds) != sum {
			t.Fatalf("%d verdicts on %d thresholds", len(r.Result.Thresholds), sum)
		}
		b, err := message.Append(nil, r)
		if err != nil {
			t.Fatalf("the result of an accepted plan with %d thresholds: %v", sum, err)
		}
		if _, err = message.Decode(b); err != nil {
			t.Fatalf("the result of an accepted plan with %d thresholds: %v", sum, err)
		}
	})
	if rejected == 0 {
		t.Error("no plan had too many thresholds")
	}
}
