package gate

import (
	"testing"
	"time"

	"hyperscale/core/message"
)

// A run's timeout is enough for its iterations, however many they are.
func TestSpan(t *testing.T) {
	steps := []message.StepPlan{{Name: "a"}, {Name: "b", Layer: 1}}
	for _, test := range []struct {
		w    message.WorkflowPlan
		want time.Duration
	}{
		{message.WorkflowPlan{VUs: 3, Timeout: time.Second}, 2 * time.Second},
		{message.WorkflowPlan{VUs: 3, Timeout: time.Second, Duration: time.Minute}, 61 * time.Second},
		{message.WorkflowPlan{VUs: 10, Timeout: time.Second, Iterations: 100, Think: time.Second}, 36 * time.Second},
		{message.WorkflowPlan{VUs: 10, Timeout: time.Second, Iterations: 100, Pace: time.Minute}, 12 * time.Minute},
		{message.WorkflowPlan{VUs: 1, Timeout: time.Hour, Iterations: 1 << 48}, 1 << 60},
	} {
		test.w.Steps = steps
		if got := span(&test.w); got != test.want {
			t.Errorf("%+v: got %v, want %v", test.w, got, test.want)
		}
	}
}
