package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/runtime/compare"
	"hyperscale/runtime/report"
)

// renderComparison draws one and demands what holds of every page.
func renderComparison(t testing.TB, baseline *report.Result, others ...*report.Result) string {
	t.Helper()
	var files []compare.File
	for i, r := range others {
		files = append(files, compare.File{Name: fmt.Sprintf("after%d.json", i), Result: r})
	}
	c, err := compare.Compare(compare.File{Name: "before.json", Result: baseline}, files, compare.Default())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Comparison(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > sizeMax {
		t.Errorf("the page has %d bytes, want at most %d", len(b), sizeMax)
	}
	return string(b)
}

// slower is a run like another, of which one step is half as slow again and fails more,
// another one is faster, and the source is a line longer.
func slower(r *report.Result) *report.Result {
	out := *r
	out.Job, out.Outcome, out.Workflows = "other", "COMPLETED", nil
	out.Thresholds = []report.Threshold{{Workflow: "shop", Expr: "errors < 1%", Of: "errors", Value: 13_000}, {Workflow: "shop", Expr: "checks > 90%", Of: "checks", Value: 990_000, OK: true}}
	run := *r.Run
	run.Command, run.Version = []string{"run", "shop.star", "--vus", "400"}, "v1.2.4"
	run.Files = []report.SourceFile{{Name: "shop.star", Text: "workflow(\n    name = \"shop\",\n    vus = 400,\n)\n"}, {Name: "users.csv", Text: "name\nanna\n"}}
	out.Run = &run
	for _, w := range r.Workflows {
		w.Steps = append([]report.Step(nil), w.Steps...)
		for i, median := range []uint64{1_400_000, 500_000} {
			if i == len(w.Steps) {
				break
			}
			s := &w.Steps[i]
			s.Buckets, s.LatencyNS = buckets(s.LatencyNS.Count, median), distribution(s.LatencyNS.Count, median)
		}
		s := &w.Steps[0]
		s.OK, s.Failed = s.OK-9_000, s.Failed+9_000
		s.Errors = append([]report.Error{{Kind: "refused", Count: 9_000, Example: "dial: refused"}}, s.Errors...)
		out.Workflows = append(out.Workflows, w)
	}
	return &out
}

// TestComparisonStructure: all that a page says of a small comparison.
func TestComparisonStructure(t *testing.T) {
	r := resultOf(3, 1, 12, 100*time.Millisecond)
	same(t, "compared.html", renderComparison(t, r, slower(r)))
}

// TestComparisonOfSeveral: the result of each pair precedes all of them, and a file compared
// with itself has no changes.
func TestComparisonOfSeveral(t *testing.T) {
	r := resultOf(2, 1, 12, 100*time.Millisecond)
	got := renderComparison(t, r, r, slower(r))
	summary, first := strings.Index(got, "Each against the baseline"), strings.Index(got, "<h2>after0.json against before.json <small>Same</small></h2>")
	if summary < 0 || first < summary || strings.Count(got, "<h2>") != 2 || strings.Count(got, "What moved") != 1 {
		t.Errorf("the summary is at %d, the first file at %d, of %d; %d moved: want both, in order, of 2; 1", summary, first, strings.Count(got, "<h2>"), strings.Count(got, "What moved"))
	}
	if !strings.Contains(got, "Regression</span> 2 files against before.json") {
		t.Error("the title does not tell what all come to")
	}
}

// TestComparisonHostileText: as of a run's page.
func TestComparisonHostileText(t *testing.T) {
	shape := func(text string) map[string]int {
		a := resultOf(2, 2, 5, time.Second)
		b := slower(resultOf(2, 2, 5, time.Second))
		poison(a, text)
		poison(b, text+"2")
		b.Workflows[0].Name = a.Workflows[0].Name
		for i := range b.Workflows[0].Steps {
			b.Workflows[0].Steps[i].Name = a.Workflows[0].Steps[i].Name
		}
		return shapeOf(t, renderComparison(t, a, b, a))
	}
	want, got := shape(strings.Repeat("x", len(hostile))), shape(hostile)
	if diff := cmp.Diff(want, got); diff != "" || got["script"] != 1 || got["img"] != 0 {
		t.Errorf("hostile text changes what the page is made of (-harmless +hostile):\n%s", diff)
	}
}

// TestComparisonIsSmall: of as many files as one command takes, each of 60 steps.
func TestComparisonIsSmall(t *testing.T) {
	r := resultOf(60, 1, 100, time.Second)
	r.Run.Files[0].Text = strings.Repeat("a line of source\n", 4000)
	after := slower(r)
	var others []*report.Result
	for range 31 {
		others = append(others, after)
	}
	got := renderComparison(t, r, others...)
	for _, want := range []string{"The runs are large", "more: --out json=FILE keeps all"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// TestDiff: the difference contains both texts, except for folded parts. Equal lines occur
// once, and equal texts have no difference.
func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) []string {
			return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 12).Draw(t, name)
		}
		a, b := text("before"), text("after")
		before, after := "", ""
		for _, line := range a {
			before += line + "\n"
		}
		for _, line := range b {
			after += line + "\n"
		}
		var gotA, gotB []string
		changed := false
		for _, l := range diff(before, after) {
			switch l.Class {
			case skipped:
				var n int
				if _, err := fmt.Sscanf(l.Text, "… %d line", &n); err != nil || n > len(a)-len(gotA) {
					t.Fatalf("%q: %v", l.Text, err)
				}
				gotA, gotB = append(gotA, a[len(gotA):len(gotA)+n]...), append(gotB, b[len(gotB):len(gotB)+n]...)
			case removed:
				gotA, changed = append(gotA, l.Text[2:]), true
			case added:
				gotB, changed = append(gotB, l.Text[2:]), true
			default:
				gotA, gotB = append(gotA, l.Text[2:]), append(gotB, l.Text[2:])
			}
		}
		if strings.Join(gotA, "\n") != strings.Join(a, "\n") || strings.Join(gotB, "\n") != strings.Join(b, "\n") || changed != (before != after) {
			t.Fatalf("%q and %q give %v", before, after, diff(before, after))
		}
	})
}
