package report

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report/reporttest"
)

func histogram(values ...uint64) message.Histogram {
	var h stats.Histogram
	for _, v := range values {
		h.Record(v)
	}
	return h.Wire()
}

func windows() message.Windows {
	var w stats.Windows
	for at := range time.Duration(3) {
		one := w.At(at * time.Second)
		one.Started, one.OK, one.Bytes = 30, 29, 6000
		w.Record(at*time.Second, uint64(at+1)*1_000_000)
	}
	return w.Wire()
}

// TestSeries: steps with a tag in common are one series; beyond the bound there is one
// more, and nothing is lost.
func TestSeries(t *testing.T) {
	in := &message.WorkflowResult{}
	const n = 3 * seriesMax
	for i := range n {
		name := strconv.Itoa(i)
		in.Stats.Steps = append(in.Stats.Steps, message.StepStats{Name: name, Kind: message.StepRequest, Started: 1, OK: 1, Latency: histogram(uint64(i))})
		in.StepTags = append(in.StepTags, message.StepTags{Step: name, Tags: []message.Tag{{Name: "all", Value: "x"}, {Name: "one", Value: name}}})
	}
	in.Stats.Steps = append(in.Stats.Steps, message.StepStats{Name: "check", Kind: message.StepCheck, OK: 1})
	in.StepTags = append(in.StepTags, message.StepTags{Step: "check", Tags: in.StepTags[0].Tags})
	got, err := buildSeries(in, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	last := got[len(got)-1]
	if len(got) != seriesMax+1 || got[0].OK != n || got[0].LatencyNS.Max != n-1 || got[0].RateMilli != n*1000 {
		t.Errorf("%d series, the first %+v: want %d, the first with %d", len(got), got[0], seriesMax+1, n)
	}
	if want := uint64(n - seriesMax + 1); last.Tag != stats.KindOther || last.OK != want || last.LatencyNS.Count != want {
		t.Errorf("the last series is %+v, want %q of %d", last, stats.KindOther, want)
	}
	in.Stats.Steps[7].Latency.Count++
	if _, err := buildSeries(in, time.Second); err == nil {
		t.Error("a histogram without its buckets was accepted")
	}
}

// workers are those of the workflow below.
func workers() []message.WorkerShare {
	return []message.WorkerShare{
		{Node: "worker-1", State: message.WorkerDone, CoresTotal: 4, Cores: 2, VUs: 64, Elapsed: 10 * time.Second, Started: 60, OK: 52, Failed: 4, TimedOut: 3, Cancelled: 1, BytesIn: 9_000, BytesOut: 3_000,
			Late: 2 * time.Microsecond, BusyMax: 420_000, Saturated: true},
		{Node: "worker-2", State: message.WorkerLost, CoresTotal: 4, Lost: 1},
		{Others: 2, State: message.WorkerDone, CoresTotal: 8, Cores: 4, VUs: 64, Elapsed: 10 * time.Second, Started: 40, OK: 38, Failed: 2, BytesIn: 6_000, BytesOut: 2_000},
	}
}

// TestWorkersAddUp: what workers did is what their datacenter did.
func TestWorkersAddUp(t *testing.T) {
	var sum Totals
	for _, w := range buildWorkers(workers()) {
		sum.Add(w.Totals)
	}
	want := Totals{Started: 100, OK: 90, Failed: 6, TimedOut: 3, Cancelled: 1, BytesIn: 15_000, BytesOut: 5_000}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Error(diff)
	}
}

func TestResultFile(t *testing.T) {
	workflow := message.WorkflowResult{
		Name: "shop", State: message.WorkflowCompleted, VUs: 64, Cores: 2, Duration: 11 * time.Second,
		Lost:     []message.LostAttempt{{Attempt: 1, Worker: "worker-2", Reason: "silent for 5s", Started: 40, OK: 39}},
		Tags:     []message.Tag{{Name: "team", Value: "shop"}},
		StepTags: []message.StepTags{{Step: "home", Tags: []message.Tag{{Name: "kind", Value: "read"}}}},
		Stats: message.Stats{
			Elapsed: 10 * time.Second, Logs: []string{"done"},
			Generator: message.Generator{Lag: histogram(1000, 2000), BusyMax: 420_000},
			Steps: []message.StepStats{
				{
					Name: "home", Kind: message.StepRequest, Started: 100, OK: 90, Failed: 6, TimedOut: 3, Cancelled: 1, BytesIn: 15_000, BytesOut: 5_000,
					Statuses: []message.StatusCount{{Status: 200, Count: 90}, {Status: 500, Count: 4}},
					Errors:   []message.ErrorCount{{Kind: "closed", Count: 2, Example: "closed before an answer"}, {Kind: "status", Count: 4, Example: "500"}},
					Latency:  histogram(1_000_000, 2_000_000, 400_000_000), Service: histogram(900_000),
					Phases:  []message.PhaseTimes{{Phase: message.PhaseBlocked, Time: histogram(100_000)}, {Phase: message.PhaseWait, Time: histogram(900_000)}, {Phase: 99}},
					Windows: windows(),
				},
				{Name: "is_me", Kind: message.StepCheck, OK: 8, Failed: 2, Skipped: 1, Errors: []message.ErrorCount{{Kind: "status 500", Count: 2}}},
				{Name: "size", Kind: message.StepMetric, Metric: histogram(150_000)},
				{Name: "tidy", Kind: message.StepAction, OK: 9},
			},
		},
	}
	in := &message.Result{
		Job: message.JobID{1}, Name: "shop.star", State: message.JobCompleted, Duration: 12 * time.Second,
		Workflows:   []message.WorkflowResult{workflow},
		Datacenters: []message.DatacenterResult{{Name: "east", State: message.JobCompleted, Duration: 12 * time.Second, Workflows: []message.WorkflowResult{workflow}, Workers: workers()}},
		Thresholds:  []message.ThresholdResult{{Workflow: "shop", Expr: "home.latency.p99 < 250ms", Value: 400_000_000, Of: message.OfLatency}},
	}
	r, err := Build(in, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/result.json", string(got))

	file := filepath.Join(t.TempDir(), "result.json")
	for range 2 { // a second one replaces the first
		if err := WriteFile(file, got); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(written)); diff != "" {
		t.Error(diff)
	}
	if names, _ := os.ReadDir(filepath.Dir(file)); len(names) != 1 {
		t.Errorf("%d files beside the result, want it alone", len(names))
	}
}

func TestHostileHistogramIsRefused(t *testing.T) {
	in := &message.Result{Workflows: []message.WorkflowResult{{Name: "w", Stats: message.Stats{Steps: []message.StepStats{
		{Name: "s", Kind: message.StepRequest, Latency: message.Histogram{Count: 7}},
	}}}}}
	if _, err := Build(in, time.Time{}); err == nil {
		t.Error("a histogram without its buckets was accepted")
	}
	s := &in.Workflows[0].Stats.Steps[0]
	s.Latency, s.Windows = message.Histogram{}, message.Windows{Width: 1}
	if _, err := Build(in, time.Time{}); err == nil {
		t.Error("windows of no width were accepted")
	}
	s.Windows, s.Phases = message.Windows{}, []message.PhaseTimes{{Phase: message.PhaseWait, Time: message.Histogram{Count: 7}}}
	if _, err := Build(in, time.Time{}); err == nil {
		t.Error("a phase without its buckets was accepted")
	}
}

// TestNumbersAddUp: whatever executors measured, REPORT-1 and REPORT-2 hold.
func TestNumbersAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.Uint64Range(0, 1<<40)
		step := rapid.Custom(func(rt *rapid.T) message.StepStats {
			s := message.StepStats{
				Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(rt, "name"),
				Kind: message.StepKind(rapid.Uint8Range(uint8(message.StepRequest), uint8(message.StepAction)).Draw(rt, "kind")),
				OK:   count.Draw(rt, "ok"), Failed: count.Draw(rt, "failed"), TimedOut: count.Draw(rt, "timed out"), Cancelled: count.Draw(rt, "cancelled"),
			}
			s.Started = s.OK + s.Failed + s.TimedOut + s.Cancelled
			return s
		})
		workflow := rapid.Custom(func(rt *rapid.T) message.WorkflowResult {
			return message.WorkflowResult{Name: "w", Stats: message.Stats{Steps: rapid.SliceOfN(step, 0, 5).Draw(rt, "steps")}}
		})
		in := &message.Result{Workflows: rapid.SliceOfN(workflow, 1, 4).Draw(rt, "workflows")}
		in.Datacenters = []message.DatacenterResult{{Name: "east", Workflows: in.Workflows}}
		r, err := Build(in, time.Time{})
		if err != nil {
			rt.Fatal(err)
		}
		check := func(what string, t Totals) {
			if t.Started != t.OK+t.Failed+t.TimedOut+t.Cancelled {
				rt.Fatalf("%s does not add up: %+v", what, t)
			}
		}
		var sum Totals
		for _, w := range r.Workflows {
			var steps Totals
			for _, s := range w.Steps {
				check("a step", s.Totals)
				steps.Add(s.Totals)
			}
			check("a workflow", w.Totals)
			if steps != w.Totals {
				rt.Fatalf("steps sum to %+v, their workflow says %+v", steps, w.Totals)
			}
			sum.Add(w.Totals)
		}
		if sum != r.Totals || sum != r.Datacenters["east"].Totals {
			rt.Fatalf("workflows sum to %+v, the whole says %+v, the datacenter %+v", sum, r.Totals, r.Datacenters["east"].Totals)
		}
	})
}

// TestWorstGenerator: one executor that was the bottleneck makes the whole suspect.
func TestWorstGenerator(t *testing.T) {
	in := &message.Result{}
	for _, g := range []message.Generator{{BusyMax: 10}, {BusyMax: 990_000, Saturated: true}, {BusyMax: 20}} {
		in.Workflows = append(in.Workflows, message.WorkflowResult{Name: "w", Stats: message.Stats{Generator: g}})
	}
	r, err := Build(in, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Generator.Saturated || r.Generator.BusyMaxPPM != 990_000 || r.Workflows[0].Generator.Saturated {
		t.Errorf("got %+v in all, %+v of the first", r.Generator, r.Workflows[0].Generator)
	}
}

// TestOnlyTheOwnerReads: a new file is its owner's alone, and one that was there keeps its mode.
func TestOnlyTheOwnerReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	for _, want := range []os.FileMode{0o600, 0o640} {
		if want != 0o600 {
			if err := os.Chmod(file, want); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteFile(file, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode %o, want %o", got, want)
		}
	}
}

// The result names an executor that had no answer while others had; if none had one, its outcome
// says so.
func TestUnansweredExecutorsAreNamed(t *testing.T) {
	silent := []message.Silent{{Worker: "w2", Core: 1, Requests: 3, Kind: "refused", Example: "nothing listens"}}
	for _, c := range []struct {
		name string
		ok   uint64
		want []Unanswered
	}{
		{"others had answers", 5, []Unanswered{{Workflow: "shop", Worker: "w2", Core: 1, Requests: 3, Kind: "refused", Example: "nothing listens"}}},
		{"none had one", 0, nil},
	} {
		w := message.WorkflowResult{Name: "shop", State: message.WorkflowCompleted, Stats: message.Stats{
			Silent: silent, SilentSum: 1,
			Steps: []message.StepStats{{Name: "home", Kind: message.StepRequest, Started: 3 + c.ok, OK: c.ok, Failed: 3, Errors: []message.ErrorCount{{Kind: "refused", Count: 3}}}},
		}}
		r, err := Build(&message.Result{Name: "a.star", State: message.JobCompleted, Workflows: []message.WorkflowResult{w}}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []Generator{r.Generator, r.Workflows[0].Generator} {
			if diff := cmp.Diff(c.want, g.Unanswered); diff != "" || int(g.Silent) != len(c.want) {
				t.Errorf("%s: %d executors\n%s", c.name, g.Silent, diff)
			}
		}
	}
}
