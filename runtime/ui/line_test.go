package ui

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// TestWaitersAreNamed: the screen and the log say what a workflow waits for.
func TestWaitersAreNamed(t *testing.T) {
	plan := &message.Plan{Workflows: []message.WorkflowPlan{
		{Name: "login", VUs: 1, Duration: 15 * time.Second},
		{Name: "buy", VUs: 1, Duration: 15 * time.Second, Depends: []uint32{0}, Layer: 1},
	}}
	flow := func(name string, state message.WorkflowState, why string, elapsed time.Duration, started, ok uint64) message.WorkflowResult {
		return message.WorkflowResult{Name: name, State: state, Error: why, Stats: message.Stats{Elapsed: elapsed, Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Started: started, OK: ok}}}}
	}
	for _, tc := range []struct {
		name string
		of   []message.WorkflowResult
		want string
	}{
		{"one runs", []message.WorkflowResult{flow("login", message.WorkflowRunning, "", 5*time.Second, 9, 8), flow("buy", message.WorkflowPending, "", 0, 0, 0)}, "buy waits for login"},
		{"its time is over", []message.WorkflowResult{flow("login", message.WorkflowRunning, "", 15*time.Second, 9, 6), flow("buy", message.WorkflowPending, "", 0, 0, 0)}, "login waits for 3 requests in flight; buy waits for login"},
		{"no cores", []message.WorkflowResult{flow("login", message.WorkflowCompleted, "", 15*time.Second, 9, 9), flow("buy", message.WorkflowPending, "it waits for 2 cores, 1 are free", 0, 0, 0)}, "buy waits for 2 cores, 1 are free"},
		{"both are under way", []message.WorkflowResult{flow("login", message.WorkflowCompleted, "", 15*time.Second, 9, 9), flow("buy", message.WorkflowRunning, "", time.Second, 9, 8)}, ""},
	} {
		m := NewModel("test", plan)
		m.Apply(&message.JobStatus{State: message.JobRunning, Sequence: 1, Datacenters: []message.DatacenterResult{{Name: "here", Workflows: tc.of}}})
		if got := m.waitersLine(); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		for _, width := range []int{60, 80} { // lines alone, and the whole screen
			if got := strings.Join(strings.Fields(Screen(m, Style{Width: width}, View{}, 24)), " "); !strings.Contains(got, tc.want) {
				t.Errorf("%s: a screen of %d columns does not tell %q:\n%s", tc.name, width, tc.want, got)
			}
		}
	}
}

// TestSeldomFiguresAreNamed: the screen and the log say how old figures may be while the job runs.
func TestSeldomFiguresAreNamed(t *testing.T) {
	for _, tc := range []struct {
		state message.JobState
		every [2]time.Duration
		want  string
	}{
		{message.JobRunning, [2]time.Duration{}, ""},
		{message.JobRunning, [2]time.Duration{0, 5 * time.Second}, "figures every 5s from far"},
		{message.JobRunning, [2]time.Duration{time.Second, 1500 * time.Millisecond}, "figures every 1.5s from here, far"},
		{message.JobCompleted, [2]time.Duration{time.Second, time.Second}, ""},
	} {
		m := NewModel("test", &message.Plan{})
		m.Apply(&message.JobStatus{State: tc.state, Sequence: 1, Datacenters: []message.DatacenterResult{
			{Name: "here", State: message.JobRunning, Every: tc.every[0]}, {Name: "far", State: message.JobRunning, Every: tc.every[1]}}})
		if got := m.waitersLine(); got != tc.want {
			t.Errorf("%v, %v: %q, want %q", tc.state, tc.every, got, tc.want)
		}
	}
}

// TestEndOfAWorkflow: a line says how a workflow ended, and leaves out what was not measured.
func TestEndOfAWorkflow(t *testing.T) {
	for _, tc := range []struct {
		end  message.WorkflowEnded
		want string
	}{
		{message.WorkflowEnded{State: message.WorkflowCompleted, Duration: 30 * time.Second, Started: 12_345, Failed: 3, P50: 12_100 * time.Microsecond, P99: 80_400 * time.Microsecond, Met: 2}, "workflow browse ended COMPLETED after 30.0s: 12,345 requests, 3 failed, p50 12.1ms, p99 80.4ms, 2 thresholds met"},
		{message.WorkflowEnded{State: message.WorkflowFailed, Duration: time.Second, Started: 1, Failed: 1, Met: 1, Missed: 1}, "workflow browse ended FAILED after 1.0s: 1 request, 1 failed, 1 of 2 thresholds missed"},
		{message.WorkflowEnded{State: message.WorkflowCompleted, Duration: time.Second, Started: 7, Again: true}, "workflow browse ended COMPLETED after 1.0s, this time in another datacenter: 7 requests, 0 failed"},
		{message.WorkflowEnded{State: message.WorkflowFailed, Unreported: 74_910 * time.Millisecond}, "workflow browse ended FAILED after 0.0s: 0 requests, 0 failed, at most 1m15s of its load is in no figure"},
	} {
		tc.end.Name = "browse"
		if got := EndLine(&tc.end); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestSinksThatLackRowsAreNamed: the screen and the log say which sink is behind, and which has lost rows.
func TestSinksThatLackRowsAreNamed(t *testing.T) {
	for _, tc := range []struct {
		sink message.SinkReport
		want string
	}{
		{message.SinkReport{Behind: 3, Since: 29 * time.Second, Twice: 7, Why: "busy"}, ""},
		{message.SinkReport{Behind: 3, Since: 30 * time.Second}, "sink warehouse is 30.0s behind"},
		{message.SinkReport{Since: time.Minute, Lost: 2, Rejected: 3}, "sink warehouse lacks 5 rows"},
		{message.SinkReport{Since: time.Minute, Lost: 2, Failed: "password rejected"}, "sink warehouse is given up"},
	} {
		tc.sink.Name = "warehouse"
		m := NewModel("test", &message.Plan{})
		m.Apply(&message.JobStatus{State: message.JobRunning, Sequence: 1, Sinks: message.SinkReports{List: []message.SinkReport{{Name: "lake"}, tc.sink}}})
		if got := m.waitersLine(); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.sink, got, tc.want)
		}
		if got := strings.Join(strings.Fields(Screen(m, Style{Width: 80}, View{}, 24)), " "); !strings.Contains(got, tc.want) {
			t.Errorf("a screen does not tell %q:\n%s", tc.want, got)
		}
	}
}

// TestSinkText: each figure of a sink has its word, in the line of a status and in the summary.
func TestSinkText(t *testing.T) {
	for _, c := range []struct {
		s          report.Sink
		text, does string
	}{
		{report.Sink{
			Name: "warehouse", Kind: "postgres", Delivered: 1001, ThroughNS: 83e9, Behind: 2, BehindNS: 3e9, Rejected: 4, RejectedRequests: 5, Lost: 6, LostRequests: 7, PerhapsTwice: 8,
			Failed: "password rejected", Error: "connection refused",
		}, "sink warehouse (postgres): given up, 1,001 rows delivered through 1m23s, 2 windows late by 3.0s, 4 rejected (5 requests), 6 lost (7 requests), 8 perhaps twice: password rejected", "sink warehouse is given up"},
		{report.Sink{Name: "rows", Kind: "webhook", Delivered: 9, ThroughNS: 20e9, Behind: 42, BehindNS: 42e9, Error: "busy\x1b"}, "sink rows (webhook): behind, 9 rows delivered through 20.0s, 42 windows late by 42.0s: busy·", "sink rows is 42.0s behind"},
		{report.Sink{Name: "rows", Kind: "webhook", Delivered: 9, ThroughNS: 20e9}, "sink rows (webhook): on time, 9 rows delivered through 20.0s", ""},
		{report.Sink{Name: "lake", Delivered: 1, Lost: 1, Done: true}, "sink lake: lacks rows, 1 row delivered, 1 lost (0 requests)", "sink lake lacks 1 row"},
		{report.Sink{Name: "lake", Delivered: 9, ThroughNS: 60e9, Done: true}, "sink lake: complete, 9 rows delivered", ""},
	} {
		if text, does := SinkText(&c.s), sinkTrouble(&c.s); text != c.text || does != c.does {
			t.Errorf("%+v\n reads %q, %q\n want  %q, %q", c.s, text, does, c.text, c.does)
		}
	}
}
