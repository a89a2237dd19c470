package ui

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// An open workflow shows the requested arrivals and those that began.
func TestArrivalsAreTold(t *testing.T) {
	plan := &message.Plan{Workflows: []message.WorkflowPlan{{Name: "shop", VUs: 64, Rate: 30_000, RatePer: time.Second, Duration: 10 * time.Second}}}
	m := NewModel("shop.star", plan)
	for i := range uint64(3) {
		w := loaded(time.Duration(i+1)*1500*time.Millisecond, "shop")
		g := &w.Stats.Generator
		g.Begun, g.Waited, g.Dropped = 30*(i+1), 1200*i, 15*(i+1)
		m.Apply(&message.JobStatus{Sequence: i + 1, State: message.JobRunning, Elapsed: w.Duration, Datacenters: []message.DatacenterResult{{Name: "a", Workflows: []message.WorkflowResult{w}}}})
	}
	const want = "  30/s asked  20/s begun  2,400 late  45 dropped"
	if got := Line(m); !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end with %q", got, want)
	}
	if got := Screen(m, Style{Width: 100}, View{}, 40); !strings.Contains(got, "30/s asked   20/s begun   2,400 late   45 dropped") {
		t.Errorf("the screen does not tell it:\n%s", got)
	}
	w := report.Workflow{Name: "shop", VUs: 64, DurationNS: int64(3 * time.Second), Generator: report.Generator{Begun: 60, Waited: 7, Dropped: 30}}
	got := Summary(&report.Result{Name: "x", Workflows: []report.Workflow{w}}, Style{Width: 300})
	if !strings.Contains(got, "30/s asked, 20/s begun: 7 starts waited for a virtual user, in their latency; 30 starts (33.33%) dropped, as no virtual user was free;") {
		t.Errorf("the summary does not tell it:\n%s", got)
	}
}

// TestSummaryOfWhatNeverBegan: a workflow that never ran has no cores and no time to tell.
func TestSummaryOfWhatNeverBegan(t *testing.T) {
	r := &report.Result{Name: "x", Outcome: "CANCELLED", Workflows: []report.Workflow{{Name: "third", Outcome: "CANCELLED", VUs: 4, Error: "second failed"}}}
	got := Summary(r, Style{Width: 80})
	if !strings.Contains(got, "  4 VUs, never began  CANCELLED\n  second failed\n") || strings.Contains(got, "0 cores") {
		t.Errorf("the summary says:\n%s", got)
	}
}

// A result that lacks datacenters says so under its headline.
func TestPartialResultsSayWhatIsMissing(t *testing.T) {
	r := &report.Result{Name: "x", Outcome: "COMPLETED", Missing: []string{"c"}, Datacenters: map[string]report.Datacenter{
		"a": {Figures: &report.Figures{}}, "b": {Figures: &report.Figures{}}, "c": {},
	}}
	got := Summary(r, Style{Width: 200})
	if !strings.Contains(got, "partial: best effort left out c. Load from there may have reached the target, and counts nowhere: the figures are those of 2 datacenters") {
		t.Errorf("the summary does not name the missing datacenter:\n%s", got)
	}
	for _, line := range strings.Split(got, "\n") {
		switch words := strings.Fields(line); {
		case len(words) == 0:
		case words[0] == "c" && !strings.HasSuffix(strings.Join(words, " "), "s - - - -"):
			t.Errorf("the summary shows figures of the missing datacenter: %q", line)
		case words[0] == "a" && strings.Contains(line, "-"):
			t.Errorf("the summary hides figures of a datacenter: %q", line)
		}
	}
}
