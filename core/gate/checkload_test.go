package gate

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
)

// Whatever another loader says is refused by name, or within the bounds that
// core/load and the executors rely on.
func TestHostileLoads(t *testing.T) {
	tests := []struct {
		want string
		set  func(*message.WorkflowPlan)
	}{
		{"", func(*message.WorkflowPlan) {}},
		{"", func(w *message.WorkflowPlan) { w.Rate, w.RatePer, w.Poisson = 5000, time.Minute, true }},
		{"", func(w *message.WorkflowPlan) { w.Stages = []message.StagePlan{{}, {Duration: time.Minute, VUs: 10}} }},
		{"", func(w *message.WorkflowPlan) { w.Rate, w.Stages = 1, []message.StagePlan{{Duration: time.Minute}} }},
		{"think_max", func(w *message.WorkflowPlan) { w.Think, w.ThinkMax = 2, 1 }},
		{"think_max", func(w *message.WorkflowPlan) { w.ThinkMax = -1 }},
		{"pace", func(w *message.WorkflowPlan) { w.Pace = 1 << 62 }},
		{"graceful_stop", func(w *message.WorkflowPlan) { w.GracefulStop = -1 }},
		{"interval", func(w *message.WorkflowPlan) { w.Interval = -1 }},
		{"", func(w *message.WorkflowPlan) { w.Interval = time.Second }},
		{"iterations", func(w *message.WorkflowPlan) { w.Iterations = 1 << 60 }},
		{"priority", func(w *message.WorkflowPlan) { w.Priority = 9 }},
		{"session", func(w *message.WorkflowPlan) { w.Session = 9 }},
		{"connections", func(w *message.WorkflowPlan) { w.Connections = 1 << 30 }},
		{"rate_per", func(w *message.WorkflowPlan) { w.Rate, w.RatePer = 1, 1 }},
		{"rate = ", func(w *message.WorkflowPlan) { w.Rate = 1 << 60 }},
		{"stages: 129", func(w *message.WorkflowPlan) { w.Stages = make([]message.StagePlan, 129) }},
		{"stages[1]: duration", func(w *message.WorkflowPlan) {
			w.Stages = []message.StagePlan{{Duration: longest, VUs: 1}, {Duration: 1 << 62}}
		}},
		{"stages[0]: duration", func(w *message.WorkflowPlan) { w.Stages = []message.StagePlan{{Duration: -1}} }},
		{"stages[0]: vus = 11", func(w *message.WorkflowPlan) { w.Stages = []message.StagePlan{{VUs: 11}} }},
		{"rate = 1152921504606846976 must", func(w *message.WorkflowPlan) { w.Stages = []message.StagePlan{{Rate: 1 << 60}} }},
		{"of vus or of rates", func(w *message.WorkflowPlan) {
			w.Stages = []message.StagePlan{{Rate: 1}, {Duration: time.Minute, VUs: 1}}
		}},
		{"of vus or of rates", func(w *message.WorkflowPlan) { w.Stages = []message.StagePlan{{Duration: time.Minute}} }},
		{"that of all stages", func(w *message.WorkflowPlan) { w.Stages = []message.StagePlan{{Duration: time.Second, VUs: 1}} }},
		{"tags[0].name", func(w *message.WorkflowPlan) { w.Tags = []message.Tag{{}} }},
		{"sorted by name", func(w *message.WorkflowPlan) { w.Tags = []message.Tag{{Name: "b"}, {Name: "a"}} }},
		{"at most 1024 bytes", func(w *message.WorkflowPlan) { w.Tags = []message.Tag{{Name: "b", Value: strings.Repeat("x", 1025)}} }},
		{"tags: 65", func(w *message.WorkflowPlan) { w.Steps[0].Tags = make([]message.Tag, 65) }},
		{"weight = ", func(w *message.WorkflowPlan) { w.Steps[0].Weight = 1 << 31 }},
		{"weighted = false", func(w *message.WorkflowPlan) { w.Steps[1].Weight = 1 }},
		{"which has a weight", func(w *message.WorkflowPlan) { w.Weighted, w.Steps[0].Weight = true, 1 }},
		{"report: 65", func(w *message.WorkflowPlan) { w.Report = make([]string, 65) }},
		{"report[0]", func(w *message.WorkflowPlan) { w.Report = make([]string, 1) }},
		{"start_after", func(w *message.WorkflowPlan) { w.StartAfter = []uint32{7} }},
		{"layer = 0 must be 1", func(w *message.WorkflowPlan) { w.StartAfter = []uint32{0} }},
		{"for = 0s must be above 0", func(w *message.WorkflowPlan) { w.AbortWhen = make([]message.AbortPlan, 1) }},
		{"abort_when: 65 conditions", func(w *message.WorkflowPlan) { w.AbortWhen = make([]message.AbortPlan, 65) }},
		{"looks at 0", func(w *message.WorkflowPlan) {
			w.AbortWhen = []message.AbortPlan{{For: 1, When: message.Threshold{Expr: "x"}}}
		}},
		{"its text must be", func(w *message.WorkflowPlan) { w.AbortWhen = []message.AbortPlan{{For: 1}} }},
		{"", func(w *message.WorkflowPlan) {
			w.AbortWhen = []message.AbortPlan{{For: 1, When: message.Threshold{Expr: "x", Step: "a", Of: message.OfErrors, Op: message.OpAbove}}}
		}},
	}
	for _, test := range tests {
		w := message.WorkflowPlan{Name: "w", Test: true, VUs: 10, Duration: time.Minute, Timeout: time.Second, Steps: []message.StepPlan{
			{Name: "a", Kind: message.StepRequest}, {Name: "b", Kind: message.StepRequest, After: []uint32{0}, Layer: 1},
		}}
		test.set(&w)
		err := checkPlan(&message.Plan{Source: "x.star", Workflows: []message.WorkflowPlan{w}})
		if test.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// The time that a run is given is enough for its iterations, however many they are.
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
