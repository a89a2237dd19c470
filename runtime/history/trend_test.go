package history

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hyperscale/runtime/history/change"
	"hyperscale/runtime/report"
)

// around is a latency of about ns.
func around(r *rand.Rand, ns float64) uint64 { return uint64(ns * (1 + 0.02*(2*r.Float64()-1))) }

func payP99(last int) Query {
	return Query{Name: "checkout.star", Workflow: "w", Step: "pay", Metric: "p99", Last: last}
}

func mustSeries(t *testing.T, s *Store, q Query) *Series {
	t.Helper()
	all, err := s.Series(q)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A series names the run of a shift, with what else changed there, and only in the series of its load.
func TestTrend(t *testing.T) {
	s := newStore(t)
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 40; n++ {
		ns, change := 1e6, func(*report.Result) {}
		if n > 30 {
			ns, change = 1.2e6, func(r *report.Result) { r.Run.Version = "2" }
		}
		mustKeep(t, s, resultOf(2*n, around(r, ns), change))
		if n%4 == 0 {
			mustKeep(t, s, resultOf(2*n+1, 5e6, under("900 VUs, 1m0s"))) // slow, under another load
		}
	}
	newest := mustSeries(t, s, payP99(50))
	if len(newest.Points) != 10 || newest.Load != "900 VUs, 1m0s" || len(newest.Others) != 1 {
		t.Fatalf("the newest run's load is %s with %d points, and beside it %+v", newest.Load, len(newest.Points), newest.Others)
	}
	q := payP99(50)
	q.Load = newest.Others[0].Digest
	all := mustSeries(t, s, q)
	if len(all.Points) != 40 || len(all.Others) != 1 || all.Others[0].Runs != 10 {
		t.Fatalf("the series has %d points, and beside it %+v", len(all.Points), all.Others)
	}
	shifts := all.Shifts(change.Default())
	if len(shifts) != 1 || shifts[0].First.Started != begin.Add(62*time.Hour) || shifts[0].Last.Started != begin.Add(60*time.Hour) {
		t.Fatalf("shifts are %+v, want one at run 31 of the series", shifts)
	}
	if got := strings.Join(shifts[0].Since, ","); got != "hyperscale's version" || !shifts[0].Worse(all.Metric) {
		t.Errorf("what else changed is %q", got)
	}
	if again := all.Shifts(change.Default()); fmt.Sprint(again) != fmt.Sprint(shifts) {
		t.Error("the same series gives another answer")
	}
	q.Last = 5
	if few := mustSeries(t, s, q); len(few.Points) != 5 || few.Points[4].Job != all.Points[39].Job {
		t.Errorf("the last 5 runs are %d", len(few.Points))
	}
}

// Runs of a saturated generator, and those that did not complete, make no point of their series.
func TestTrendLeavesOutSaturatedRuns(t *testing.T) {
	s := newStore(t)
	r := rand.New(rand.NewPCG(2, 1))
	for n := 1; n <= 30; n++ {
		switch {
		case n > 20 && n%2 == 0:
			mustKeep(t, s, resultOf(n, 9e6, saturated))
		case n > 20 && n%3 == 0:
			mustKeep(t, s, resultOf(n, 9e6, ended("CANCELLED")))
		default:
			mustKeep(t, s, resultOf(n, around(r, 1e6)))
		}
	}
	all := mustSeries(t, s, payP99(50))
	judged := 0
	for _, p := range all.Points {
		if p.Judged {
			judged++
		}
	}
	if shifts := all.Shifts(change.Default()); len(shifts) > 0 || len(all.Points) != 30 || judged != 23 {
		t.Errorf("%d points, %d judged, shifts %+v: want 30, 23 and none", len(all.Points), judged, shifts)
	}
}

// Every metric is a column, and a share of errors may be zero.
func TestMetrics(t *testing.T) {
	s := newStore(t)
	for n := range 12 {
		mustKeep(t, s, resultOf(n, 1e6, func(r *report.Result) {
			p := &r.Workflows[0].Steps[0]
			if p.OK, p.Failed, p.TimedOut = 100, 0, 0; n >= 8 {
				p.OK, p.Failed = 90, 10
			}
		}))
	}
	for _, m := range Metrics() {
		q := payP99(50)
		q.Metric = m.Name
		all := mustSeries(t, s, q)
		want := map[string]float64{"errors": 1e5, "rate": 10_000}[m.Name]
		if want == 0 {
			want = 1e6
		}
		if got := all.Points[11]; got.Value != want || !got.Judged || !all.Points[0].Judged {
			t.Errorf("%s of the last run is %v, want %v; judged %v and %v", m.Name, got.Value, want, got.Judged, all.Points[0].Judged)
		}
		if shifts := all.Shifts(change.Default()); (m.Name == "errors") != (len(shifts) == 1) {
			t.Errorf("%s: shifts %+v", m.Name, shifts)
		}
	}
	if _, err := s.Series(Query{Name: "checkout.star", Workflow: "w", Step: "none", Metric: "p99", Last: 5}); !errors.Is(err, ErrNone) {
		t.Errorf("a step that never was: %v", err)
	}
	places, err := s.Places("pay")
	if err != nil || len(places) != 1 || places[0].Name != "checkout.star" || places[0].Workflow != "w" {
		t.Errorf("the step is in %+v, %v", places, err)
	}
}

// The median is a run, not a mean; saturated ones are not among them.
func TestMedian(t *testing.T) {
	s := newStore(t)
	for n, ns := range []uint64{100, 500, 300, 900, 200} {
		mustKeep(t, s, resultOf(n, ns*1000))
	}
	mustKeep(t, s, resultOf(8, 1, saturated))
	now := mustKeep(t, s, resultOf(9, 400_000))
	for most, want := range map[int]int{1: 5, 3: 3, 5: 3, 100: 3} { //lint:orderfree each by itself
		if got, err := s.Median(now, most); err != nil || got.Number != want {
			t.Errorf("the median of %d is %+v, %v: want run %d", most, got, err, want)
		}
	}
}

// A tag moves, and neither prune nor a bound removes its run.
func TestTagAndPrune(t *testing.T) {
	s := newStore(t)
	var runs []*Run
	for n := 1; n <= 6; n++ {
		runs = append(runs, mustKeep(t, s, resultOf(n, 1000)))
	}
	mustKeep(t, s, resultOf(7, 1000, func(r *report.Result) { r.Name = "cart.star" }))
	for _, tag := range []string{" ", "-x", "a b", strings.Repeat("x", 65)} {
		if err := s.Tag(runs[0], tag); err == nil {
			t.Errorf("%q is taken as a tag", tag)
		}
	}
	for i, tag := range []string{"v1", "v2", "v1"} { // v1 moves from the first run to the third
		if err := s.Tag(runs[i], tag); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Tagged("checkout.star", "v1")
	if err != nil || got.Number != 3 {
		t.Errorf("v1 is %+v, %v", got, err)
	}
	for _, c := range []struct {
		p    Pruning
		gone string
		left string
	}{
		{Pruning{Keep: 2, DryRun: true}, "[1 4]", "[6 5 4 3 2 1]"},
		{Pruning{Keep: 2, Name: "cart.star"}, "[]", "[6 5 4 3 2 1]"},
		{Pruning{Keep: 5, Before: begin.Add(5 * time.Hour)}, "[1]", "[6 5 4 3 2]"},
		{Pruning{Before: begin.Add(5 * time.Hour)}, "[4]", "[6 5 3 2]"},
		{Pruning{Keep: 1}, "[5]", "[6 3 2]"},
	} {
		gone, err := s.Prune(c.p)
		if err != nil || fmt.Sprint(numbers(gone)) != c.gone {
			t.Errorf("%+v removes %v, %v: want %s", c.p, numbers(gone), err, c.gone)
		}
		wantRuns(t, s, "checkout.star", c.left)
	}
	if err := s.Tag(runs[2], ""); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.Prune(Pruning{Keep: 1}); err != nil || fmt.Sprint(numbers(gone)) != "[3]" {
		t.Errorf("without its tag: removes %v, %v", numbers(gone), err)
	}
	if again := mustKeep(t, s, resultOf(9, 1000)); again.Number != 7 {
		t.Errorf("the next run has the number %d", again.Number)
	}
}

// A run that gets a tag while another command prunes stays, and the command does not list it as removed.
func TestPruneListsWhatItRemoves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.db")
	s, other := openIn(t, file), openIn(t, file)
	for n := range 60 {
		run := mustKeep(t, s, resultOf(n, 1000))
		tagged := make(chan error, 1)
		go func() { tagged <- other.Tag(run, "keep") }()
		gone, err := s.Prune(Pruning{Before: begin.Add(1000 * time.Hour)})
		if err := errors.Join(err, <-tagged); err != nil {
			t.Fatal(err)
		}
		for i := range gone {
			if there, err := s.Find(gone[i].Name, gone[i].Number); err == nil {
				t.Fatalf("run %d is listed as removed, and is there with tag %q", gone[i].Number, there.Tag)
			}
		}
	}
}

// BenchmarkTrend answers over a full history.
func BenchmarkTrend(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "h.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }() // nothing is read afterwards
	if _, err := s.db.Exec("PRAGMA synchronous = OFF"); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 1000 {
		if _, err := s.Keep(resultOf(n, around(r, 1e6))); err != nil {
			b.Fatal(err)
		}
	}
	for _, last := range []int{50, 1000} {
		b.Run(fmt.Sprint(last), func(b *testing.B) {
			for b.Loop() {
				all, err := s.Series(payP99(last))
				if err != nil {
					b.Fatal(err)
				}
				all.Shifts(change.Default())
			}
		})
	}
}
