package ui

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/compare"
	"hyperscale/runtime/report"
	"hyperscale/runtime/report/reporttest"
)

// comparedRun is a run of 3 seconds of two steps, one of them by some factor slower and
// failing.
func comparedRun(t *testing.T, slower float64, failing int, extra string) *report.Result {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(slower*100)))
	flow := message.WorkflowResult{Name: "shop\x1b[31m", State: message.WorkflowCompleted, VUs: 10}
	for _, name := range []string{"home", "check\x07out", extra} {
		var h stats.Histogram
		var windows stats.Windows
		s := message.StepStats{Name: name, Kind: message.StepRequest}
		for i := range 6000 {
			since := time.Duration(i) * 3 * time.Second / 6000
			at := windows.At(since)
			v := 5e6 + 1e6*rng.ExpFloat64()
			if name != "home" {
				v *= slower
			}
			h.Record(uint64(v))
			windows.Record(since, uint64(v))
			if name != "home" && failing > 0 && i%failing == 0 {
				s.Failed, at.Failed = s.Failed+1, at.Failed+1
			} else {
				s.OK, at.OK = s.OK+1, at.OK+1
			}
		}
		s.Started = s.OK + s.Failed
		s.Latency, s.Service, s.Windows = h.Wire(), h.Wire(), windows.Wire()
		flow.Stats.Steps = append(flow.Stats.Steps, s)
	}
	flow.Stats.Elapsed = 3 * time.Second
	r, err := report.Build(&message.Result{Name: "shop.star", State: message.JobCompleted, Duration: 3 * time.Second, Workflows: []message.WorkflowResult{flow}}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	r.Job = extra + time.Duration(slower*1e9).String()
	return r
}

// TestComparison: the text fits 80 columns, begins with the verdict, and differs without colour
// only in colour.
func TestComparison(t *testing.T) {
	base := compare.File{Name: "before.json", Result: comparedRun(t, 1, 0, "old")}
	c, err := compare.Compare(base, []compare.File{
		{Name: "after.json", Result: comparedRun(t, 1.2, 50, "new")},
		{Name: "again.json", Result: comparedRun(t, 1.001, 0, "old")},
		{Name: "faster.json", Result: comparedRun(t, 0.7, 0, "old")},
	}, compare.Default())
	if err != nil {
		t.Fatal(err)
	}
	plain := Comparison(c, Style{Width: 80})
	reporttest.Golden(t, "testdata/"+"comparison.txt", plain)
	for line := range strings.Lines(plain) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	coloured := Comparison(c, Style{Width: 80, Color: true})
	if coloured == plain || strings.Contains(coloured, "\x07") {
		t.Error("no colour, or a control character that a file brought")
	}
	if stripped := regexp.MustCompile("( *\x1b\\[[0-9]*m)+\n|\x1b\\[[0-9]*m").ReplaceAllStringFunc(coloured, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n"))
	}); stripped != plain {
		t.Errorf("without its colours it is\n%s", stripped)
	}
}
