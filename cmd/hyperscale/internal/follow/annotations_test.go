package follow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hyperscale/runtime/report"
)

func TestAnnotations(t *testing.T) {
	r := &report.Result{
		Name: "a.star", Outcome: "FAILED", Error: "100% lost\n::error::x\x1b[2J",
		Workflows:  []report.Workflow{{Name: "shop", Outcome: "FAILED"}, {Name: "fine", Outcome: "COMPLETED"}},
		Thresholds: []report.Threshold{{Workflow: "shop", Expr: "home.latency.p99 < 250ms", Of: "latency", Value: 400_000_000}, {Expr: "met", OK: true}},
		Run:        &report.Run{Files: []report.SourceFile{{Text: "# a\nworkflow(\n  name = 'shop',\n  thresholds = [\n    \"home.latency.p99 < 250ms\",\n"}}},
	}
	want := `::error file=load/a%2Cb%3A.star,line=1,title=load test FAILED::a.star FAILED: 100%25 lost%0A::error::x·[2J
::error file=load/a%2Cb%3A.star,line=3,title=workflow FAILED::shop FAILED
::error file=load/a%2Cb%3A.star,line=5,title=threshold missed::shop: want home.latency.p99 < 250ms, the value is 400ms
`
	if diff := cmp.Diff(want, annotations("load/a,b:.star", r)); diff != "" {
		t.Error(diff)
	}
	for range 20 {
		r.Thresholds = append(r.Thresholds, r.Thresholds[0])
	}
	if got := annotations("", r); strings.Count(got, "\n") != annotationsMax || !strings.HasSuffix(got, "::14 more failures: see the summary\n") {
		t.Errorf("%s", got)
	}
}

// TestStepSummaryIsPlain: no name becomes markup, and each row stays a row.
func TestStepSummaryIsPlain(t *testing.T) {
	evil := "|a|\n| [x](http://y) <img src=x> `@team` https://z #1"
	got := stepSummary(&report.Result{
		Name: evil, Outcome: "COMPLETED", Error: evil, Workflows: []report.Workflow{{Name: evil, Steps: []report.Step{{Name: evil}}}},
		Thresholds: []report.Threshold{{Workflow: evil, Expr: evil}},
	})
	for line := range strings.Lines(got) {
		if n := strings.Count(line, "|"); n != 0 && n != 5 && n != 10 {
			t.Errorf("%d bars in %q", n, line)
		}
	}
	for _, bad := range []string{"<img", "](", "@team", "`", "https:"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in\n%s", bad, got)
		}
	}
}
