package plan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan"
)

func TestCuts(t *testing.T) {
	s := time.Second
	for _, one := range []struct {
		name string
		of   []message.Threshold
		want []time.Duration
	}{
		{"none", []message.Threshold{{}}, []time.Duration{}},
		{"a warm-up", []message.Threshold{{From: 3 * s}}, []time.Duration{3 * s}},
		{"a stage", []message.Threshold{{From: 2 * s, Until: 5 * s}}, []time.Duration{2 * s, 5 * s}},
		{"windows", []message.Threshold{{Over: 4 * s}}, []time.Duration{2 * s, 4 * s, 6 * s, 8 * s}},
		{"windows after a warm-up", []message.Threshold{{From: 3 * s, Over: 4 * s}}, []time.Duration{3 * s, 5 * s, 7 * s, 9 * s}},
		{"windows of a stage", []message.Threshold{{From: 2 * s, Until: 5 * s, Over: 2 * s}}, []time.Duration{2 * s, 3 * s, 4 * s, 5 * s}},
		{"several", []message.Threshold{{From: 3 * s}, {Over: 8 * s}, {Until: 4 * s}}, []time.Duration{3 * s, 4 * s, 8 * s}},
	} {
		t.Run(one.name, func(t *testing.T) {
			got := plan.Cuts(&message.WorkflowPlan{Duration: 10 * s, Thresholds: one.of})
			if d := cmp.Diff(one.want, got); d != "" {
				t.Fatal(d)
			}
		})
	}
}

// TestCutsAreBounded: whatever the thresholds say, cuts ascend above zero and are few.
func TestCutsAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := func(what string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(plan.DurationMax)).Draw(t, what))
		}
		w := &message.WorkflowPlan{Duration: d("duration")}
		for range rapid.IntRange(0, 4).Draw(t, "thresholds") {
			w.Thresholds = append(w.Thresholds, message.Threshold{From: d("from"), Until: d("until"), Over: d("over")})
		}
		cuts := plan.Cuts(w)
		if len(cuts) > plan.CutsMax+1 {
			t.Fatalf("%d cuts", len(cuts))
		}
		for i, at := range cuts {
			if at <= 0 || i > 0 && cuts[i-1] >= at {
				t.Fatalf("cut %d is %v, of %v", i, at, cuts)
			}
		}
	})
}
