package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// drawWorld is a target of any kind that is quick to simulate.
func drawWorld(rt *rapid.T, name string) *world {
	return &world{
		name: name, requests: rapid.IntRange(0, 3000).Draw(rt, name+" requests"), windows: rapid.IntRange(1, 60).Draw(rt, name+" windows"),
		spread: rapid.Float64Range(0, 1).Draw(rt, name+" spread"), wander: rapid.Float64Range(0, 0.5).Draw(rt, name+" wander"), memory: 0.5,
		stalls: rapid.Float64Range(0, 0.1).Draw(rt, name+" stalls"), errors: rapid.Float64Range(0, 0.2).Draw(rt, name+" errors"),
		scale: rapid.Float64Range(0.5, 2).Draw(rt, name+" scale"), steps: rapid.IntRange(1, 3).Draw(rt, name+" steps"),
	}
}

func mustCompare(t interface{ Fatal(...any) }, a, b *report.Result) *Pair {
	c, err := Compare(File{"a", a}, []File{{"b", b}}, Default())
	if err != nil {
		t.Fatal(err)
	}
	if c.Verdict != c.Pairs[0].Verdict {
		t.Fatal(fmt.Sprintf("of one pair, which is %s, the whole is %s", c.Pairs[0].Verdict, c.Verdict))
	}
	return &c.Pairs[0]
}

// A file compared with itself has no change, and never a regression.
func TestSelf(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := drawWorld(rt, "w").run(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
		p := mustCompare(rt, r, r)
		for i := range p.Steps {
			s := &p.Steps[i]
			for _, c := range append(slices.Clone(s.Latency), s.Errors, s.Rate) {
				if c.ChangePPM != 0 || c.Verdict == Worse || c.Verdict == Better {
					rt.Fatalf("%s of a file against itself: %+v", c.Figure, c)
				}
				if c.Tested && (c.LowPPM > 0 || c.HighPPM < 0) {
					rt.Fatalf("%s: its interval leaves out no change: %+v", c.Figure, c)
				}
			}
		}
	})
}

// When files change places, better is worse and the other way round.
func TestMirror(t *testing.T) {
	turned := map[Verdict]Verdict{Worse: Better, Better: Worse, Same: Same, Noise: Noise, Few: Few, Untold: Untold}
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		w := drawWorld(rt, "a")
		a := w.run(rng)
		w.scale *= rapid.Float64Range(0.5, 2).Draw(rt, "slower")
		b := w.run(rng)
		there, back := mustCompare(rt, a, b), mustCompare(rt, b, a)
		for i := range there.Steps {
			x, y := &there.Steps[i], &back.Steps[i]
			for k, c := range append(slices.Clone(x.Latency), x.Errors, x.Rate) {
				d := append(slices.Clone(y.Latency), y.Errors, y.Rate)[k]
				// +2 % is -1.96 %: at the tolerance itself both are right.
				edge := max(abs(c.ChangePPM), abs(d.ChangePPM)) < 21_000
				if d.Verdict != turned[c.Verdict] && !edge {
					rt.Fatalf("%s is %s, and %s the other way round:\n%+v\n%+v", c.Figure, c.Verdict, d.Verdict, c, d)
				}
			}
		}
	})
}

func abs(v int64) int64 { return max(v, -v) }

// The ranks that bound a quantile are those of the binomial, or further out.
func TestRankBounds(t *testing.T) {
	for _, n := range []int{40, 200, 1000, 20_000} {
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
			for _, alpha := range []float64{0.05, 0.01, 0.001} {
				low, high := rankBounds(q, float64(n), student(alpha, 0))
				below, upto := 0.0, 0.0 // chances that so many values are below the true quantile
				for k := range n + 1 {
					p := math.Exp(choose(n, k) + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
					// The true one is below the bound if more values are below it than the bound's rank.
					if float64(k) <= low*float64(n)-1 {
						below += p
					}
					if float64(k) >= high*float64(n)+1 {
						upto += p
					}
				}
				if below > alpha/2*1.3 || upto > alpha/2*1.3 {
					t.Errorf("n %d, q %v, alpha %v: missed below with %.5f, above with %.5f", n, q, alpha, below, upto)
				}
			}
		}
	}
}

func choose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Student's distribution, against its table.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		df    int
		want  float64
	}{{0.05, 0, 1.960}, {0.05, 18, 2.101}, {0.01, 18, 2.878}, {0.001, 18, 3.922}, {0.01, 9, 3.250}} {
		if got := student(c.alpha, c.df); math.Abs(got-c.want) > 0.004 {
			t.Errorf("student(%v, %d) is %.3f, want %.3f", c.alpha, c.df, got, c.want)
		}
	}
}

// A curve keeps the quantiles of its histogram to a bucket, and share is its inverse.
func TestCurve(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := new(stats.Histogram)
		for range rapid.IntRange(1, 50).Draw(rt, "values") {
			h.RecordN(rapid.Uint64Range(2, 1<<40).Draw(rt, "value"), rapid.Uint64Range(1, 1000).Draw(rt, "times"))
		}
		c := newCurve(h)
		for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
			got, want := c.at(q), float64(h.Quantile(uint32(q*million)))
			if got > want*1.0001 || got < want*0.99-2 {
				rt.Fatalf("quantile %v is %v, of the histogram %v", q, got, want)
			}
			if back := c.share(got); math.Abs(back-q) > 1e-3 {
				rt.Fatalf("quantile %v is %v, of which the share is %v", q, got, back)
			}
		}
	})
}

// The design effect shows correlated requests, and is none for independent ones.
func TestDesign(t *testing.T) {
	effect := func(w world) float64 {
		r := w.run(rand.New(rand.NewPCG(1, 1)))
		s := &r.Workflows[0].Steps[0]
		h, err := s.Buckets.Histogram()
		if err != nil {
			t.Fatal(err)
		}
		return designOf(s, newCurve(h), []uint32{990_000}).Latency[0]
	}
	if got := effect(world{requests: 20_000, windows: 100, spread: 0.5}); got > 3 {
		t.Errorf("independent requests: %.1f of them say as much as one", got)
	}
	if got := effect(world{requests: 20_000, windows: 100, spread: 0.5, stalls: 0.03}); got < 10 {
		t.Errorf("requests with stalls: only %.1f of them say as much as one", got)
	}
}

// A comparison reports all other differences.
func TestCautions(t *testing.T) {
	a := &report.Result{
		Job: "a", Name: "a.star", Outcome: "COMPLETED", Thresholds: []report.Threshold{{Workflow: "w", Expr: "p99 < 1s", OK: true}},
		Workflows: []report.Workflow{{Name: "w", VUs: 5, DurationNS: int64(time.Second)}}, Run: &report.Run{Command: []string{"run", "--set", "x=1"}},
	}
	b := &report.Result{
		Job: "b", Name: "b.star", Outcome: "FAILED", Thresholds: []report.Threshold{{Workflow: "w", Expr: "p99 < 1s"}},
		Workflows: []report.Workflow{{Name: "w", VUs: 6, Cores: 2, DurationNS: int64(time.Minute), Generator: report.Generator{Begun: 10, Dropped: 9000}}},
		Generator: report.Generator{Saturated: true}, Run: &report.Run{Command: []string{"run", "--set=x=2"}, CPUs: 3, Files: []report.SourceFile{{Name: "b"}}},
		Missing: []string{"west"}, Datacenters: map[string]report.Datacenter{"west": {}},
	}
	got := strings.Join(cautions(a, b, pacingOf(a, b)), "\n")
	for _, want := range []string{"different tests", "different outcomes", "no longer met: p99 < 1s", "VUs: 5, now 6", "cores", "durations: 1s, now 1m0s", "saturated", "source differs", "x=1, now x=2", "processors", "and 2 more differences of load", "left west out of the new run"} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing says %q:\n%s", want, got)
		}
	}
	if got := cautions(a, a, pacingOf(a, a)); len(got) != 1 || !strings.Contains(got[0], "one run") {
		t.Errorf("a run against itself: %q", got)
	}
}

// A result without some of its datacenters is compared, with a caution.
func TestMissingDatacenters(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	w := world{requests: 500, windows: 5, spread: 0.1}
	a, b := w.run(rng), w.run(rng)
	b.Missing, b.Datacenters = []string{"west"}, map[string]report.Datacenter{"east": {Outcome: "COMPLETED", Figures: &report.Figures{}}, "west": {Outcome: "CANCELLED"}}
	file, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = report.Decode(file); err != nil {
		t.Fatal(err)
	}
	for i, p := range []*Pair{mustCompare(t, a, b), mustCompare(t, b, a)} {
		if want := []string{"new run", "baseline"}[i]; !slices.ContainsFunc(p.Cautions, func(c string) bool { return strings.Contains(c, "left west out of the "+want) }) {
			t.Errorf("no caution says that the %s lacks a datacenter: %q", want, p.Cautions)
		}
	}
}

// A comparison reports steps of only one side; without a step of both it fails.
func TestSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := world{requests: 500, windows: 5, spread: 0.1, steps: 2}
	a, b := w.run(rng), w.run(rng)
	b.Workflows[0].Steps[1].Name = "new"
	p := mustCompare(t, a, b)
	if diff := cmp.Diff([][]Place{{{"w", "s1"}}, {{"w", "new"}}}, [][]Place{p.Gone, p.Added}); diff != "" {
		t.Error(diff)
	}
	b.Workflows[0].Name = "other"
	if _, err := Compare(File{"a", a}, []File{{"b", b}}, Default()); !errors.Is(err, ErrNothing) {
		t.Errorf("no step in common: %v", err)
	}
}

// A step that fails more often, and one with few requests.
func TestErrorsAndFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	good, failing := world{requests: 5000, windows: 50, spread: 0.1}, world{requests: 5000, windows: 50, spread: 0.1, errors: 0.03}
	s := mustCompare(t, good.run(rng), failing.run(rng)).Steps[0]
	if s.Errors.Verdict != Worse || s.Verdict != Worse {
		t.Errorf("3 %% errors instead of none: %+v", s.Errors)
	}
	tiny := world{requests: 15, windows: 3, spread: 0.5, scale: 1}
	twice := tiny
	twice.scale = 1.5
	if p := mustCompare(t, tiny.run(rng), twice.run(rng)); p.Verdict == Regression || p.Steps[0].Latency[3].Verdict != Few {
		t.Errorf("15 requests: %s, p99 %+v", p.Verdict, p.Steps[0].Latency[3])
	}
}

// FuzzCompare: no two files that are read make it panic, or what JSON cannot hold.
func FuzzCompare(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 1))
	w := world{requests: 40, windows: windowsMin, spread: 0.5, errors: 0.1}
	b, err := json.Marshal(w.run(rng))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, b)
	f.Add([]byte(`{"schema":"hyperscale.result/v1","workflows":[{"steps":[{"ok":1,"latency_buckets":"0:1 18446744073709551615:281474976710655"}]}]}`),
		[]byte(`{"schema":"hyperscale.result/v1","workflows":[{"steps":[{"failed":18446744073709551615,"rate_milli":18446744073709551615}]}]}`))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, err := report.Decode(x)
		if err != nil {
			return
		}
		b, err := report.Decode(y)
		if err != nil {
			return
		}
		c, err := Compare(File{"a", a}, []File{{"b", b}, {"a", a}}, Default())
		if err != nil {
			return
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again := new(Comparison)
		if err := json.Unmarshal(text, again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Pairs, again.Pairs, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Run{}, "Result"), cmpopts.IgnoreFields(Step{}, "Before", "After")); diff != "" {
			t.Error(diff)
		}
		if c.Pairs[1].Verdict == Regression {
			t.Errorf("a file against itself: %s", text)
		}
	})
}

// A rate is a number that people read: never an exponent.
func TestRatesHaveNoExponent(t *testing.T) {
	for rate, want := range map[float64]string{40_470.4: "40470/s", 1_234_567: "1234567/s", 999.96: "1000/s", 12.3456: "12.35/s", 0.5: "0.5/s", 0: "0/s"} {
		if got := perSecond(rate); got != want {
			t.Errorf("%v is written as %q, want %q", rate, got, want)
		}
	}
}
