package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// owner is a gate that shows what a test says.
type owner struct {
	jobs  []*message.JobStatus
	left  int
	err   error
	clock time.Time
	load  *Load
}

func newOwner(jobs ...*message.JobStatus) *owner {
	o := &owner{jobs: jobs, clock: time.Unix(1000, 0)}
	o.load = NewLoad(func(context.Context, time.Duration, int) ([]*message.JobStatus, int, error) {
		return o.jobs, o.left, o.err
	})
	o.load.now = func() time.Time { return o.clock }
	return o
}

// gather returns the families once what is there now is fresh; each series is there once.
func (o *owner) gather(t interface{ Fatalf(string, ...any) }) map[string]*dto.MetricFamily {
	o.clock = o.clock.Add(loadFresh)
	all, err := o.load.Gather()
	if err != nil {
		t.Fatalf("%v", err)
	}
	families, seen := map[string]*dto.MetricFamily{}, map[string]bool{}
	for _, f := range all {
		families[f.GetName()] = f
		for _, m := range f.Metric {
			if key := keyOf(f, m); seen[key] {
				t.Fatalf("%q is there twice", key)
			} else {
				seen[key] = true
			}
		}
	}
	return families
}

// scrape returns the families as a scraper reads them.
func (o *owner) scrape(t interface{ Fatalf(string, ...any) }) map[string]*dto.MetricFamily {
	var b bytes.Buffer
	for _, f := range sorted(o.gather(t)) {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return parseText(t, b.Bytes())
}

// sum adds up the series that have these labels; an empty value: without that label.
func sum(f *dto.MetricFamily, of ...label) (n float64) {
	for _, m := range f.GetMetric() {
		has := map[string]string{}
		for _, l := range m.Label {
			has[l.GetName()] = l.GetValue()
		}
		if !slices.ContainsFunc(of, func(l label) bool { return has[l.name] != l.value }) {
			n += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return n
}

func jobOf(n byte, state message.JobState, datacenters ...message.DatacenterResult) *message.JobStatus {
	return &message.JobStatus{Job: message.JobID{n}, Name: "load/shop.star", State: state, Elapsed: 3 * time.Second, Datacenters: datacenters}
}

// Two datacenters run a job: each has its own series, whose sum is the job's. They have the names of a
// local run.
func TestLoadIsThatOfTheReports(t *testing.T) {
	east := messageResult().Datacenters[0]
	west := east
	west.Name, west.Workflows = "west", []message.WorkflowResult{workflowResult("shop")}
	o := newOwner(jobOf(1, message.JobRunning, east, west), jobOf(2, message.JobRunning, east))
	o.left = 3
	got := o.scrape(t)
	run := label{"run", message.JobID{1}.String()}
	for _, c := range []struct {
		name string
		of   []label
		want float64
	}{
		{"hyperscale_requests_total", []label{run, {"step", "home"}, {"result", "ok"}}, 180},
		{"hyperscale_requests_total", []label{run, {"result", "timed_out"}}, 6},
		{"hyperscale_requests_started_total", []label{run, {"test", "load/shop.star"}}, 202},
		{"hyperscale_requests_started_total", []label{run, {"datacenter", "west"}, {"step", "home"}}, 100},
		{"hyperscale_responses_total", []label{run, {"status", "500"}}, 8},
		{"hyperscale_errors_total", []label{run, {"kind", "closed"}}, 4},
		{"hyperscale_received_bytes_total", []label{run}, 30_000},
		{"hyperscale_sent_bytes_total", []label{run}, 10_000},
		{"hyperscale_request_duration_seconds", []label{run, {"step", "home"}}, 6},
		{"hyperscale_active_vus", []label{run, {"workflow", "shop"}}, 128},
		{"hyperscale_generator_saturated", []label{run}, 0},
		{"hyperscale_generator_busy_ratio", []label{run, {"datacenter", "east"}}, .42},
		{"hyperscale_lost_requests_total", []label{run}, 0},
		{"hyperscale_job_state", []label{run, {"state", "RUNNING"}}, 1},
		{"hyperscale_load_left_out_jobs", nil, 3},
		{"hyperscale_requests_started_total", nil, 303},
	} {
		if n := sum(got[c.name], c.of...); n != c.want {
			t.Errorf("%s%v is %v, want %v", c.name, c.of, n, c.want)
		}
	}
	local := map[string]*dto.MetricFamily{}
	for _, f := range Families(&Snapshot{Result: result(t)}) {
		local[f.GetName()] = f
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if f := local[name]; f == nil && name != "hyperscale_load_left_out_jobs" && name != "hyperscale_lost_requests_total" {
			t.Errorf("%s is no metric of a local run", name)
		} else if f != nil && (f.GetHelp() != got[name].GetHelp() || f.GetType() != got[name].GetType()) {
			t.Errorf("%s is a %v: %s; in a local run a %v: %s", name, got[name].GetType(), got[name].GetHelp(), f.GetType(), f.GetHelp())
		}
	}
	if h := got["hyperscale_request_duration_seconds"].Metric[0].Histogram.Bucket; len(h) < 19 {
		t.Errorf("%d buckets, want those of a local run", len(h))
	}
	o.err = errors.New("the gate does not answer")
	if o.clock = o.clock.Add(loadFresh); len(gathered(t, o.load)) > 0 {
		t.Error("figures of a gate that does not answer are shown")
	}
	o.err, o.jobs = nil, o.jobs[1:]
	if n := sum(o.scrape(t)["hyperscale_requests_started_total"]); n != 101 {
		t.Errorf("%v requests, want those of the job that the gate still shows", n)
	}
}

func gathered(t *testing.T, l *Load) []*dto.MetricFamily {
	t.Helper()
	all, err := l.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// flowOf is a workflow with so many requests begun, each answered, of each step.
func flowOf(started ...uint64) message.WorkflowResult {
	w := message.WorkflowResult{Name: "shop", State: message.WorkflowRunning, VUs: 8, Cores: 1}
	for i, n := range started {
		w.Stats.Steps = append(w.Stats.Steps, message.StepStats{
			Name: fmt.Sprintf("s%d", i), Kind: message.StepRequest, Started: n, OK: n, BytesIn: 10 * n, Statuses: []message.StatusCount{{Status: 200, Count: n}}, Latency: histogram(slices.Repeat([]uint64{1_000_000}, int(n))...),
		})
	}
	return w
}

// What attempts did, whatever the managers lose and find again of it: no counter falls. The counters are
// the result and what no result counts.
func TestLoadNeverFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempts := [][]uint64{{0, 0}, {0, 0}}
		var lost []message.LostAttempt
		report := func(heard int, state message.JobState) *message.JobStatus {
			sum := make([]uint64, 2)
			for _, a := range attempts[:heard] {
				sum[0], sum[1] = sum[0]+a[0], sum[1]+a[1]
			}
			w := flowOf(sum...)
			w.Lost = slices.Clone(lost)
			return jobOf(1, state, message.DatacenterResult{Name: "east", Workflows: []message.WorkflowResult{w}})
		}
		o := newOwner()
		before := map[string][]float64{}
		look := func(s *message.JobStatus) map[string]*dto.MetricFamily {
			o.jobs = []*message.JobStatus{s}
			got := o.gather(t)
			seen := map[string]bool{}
			for _, f := range got {
				for _, m := range f.Metric {
					if m.Counter == nil && m.Histogram == nil {
						continue
					}
					key, now := keyOf(f, m), numbers(m)
					seen[key] = true
					for i, n := range before[key] {
						if now[i] < n {
							t.Fatalf("%s fell from %v to %v", key, before[key], now)
						}
					}
					before[key] = now
				}
			}
			for key := range before {
				if !seen[key] {
					t.Fatalf("%s is gone", key)
				}
			}
			return got
		}
		for range rapid.IntRange(1, 12).Draw(t, "scrapes") {
			for _, a := range attempts {
				for i := range a {
					a[i] += rapid.Uint64Range(0, 9).Draw(t, "more requests")
				}
			}
			heard := len(attempts)
			switch rapid.SampledFrom([]string{"nothing", "a manager is new", "an attempt counts no more"}).Draw(t, "what happens") {
			case "a manager is new":
				heard = rapid.IntRange(0, len(attempts)).Draw(t, "attempts of which it has heard")
			case "an attempt counts no more":
				at := rapid.IntRange(0, len(attempts)-1).Draw(t, "attempt")
				lost = append(lost, message.LostAttempt{Started: attempts[at][0] + attempts[at][1]})
				attempts[at] = []uint64{0, 0}
			}
			look(report(heard, message.JobRunning))
		}
		end := report(len(attempts), message.JobCompleted)
		got := look(end)
		for _, s := range end.Datacenters[0].Workflows[0].Stats.Steps {
			of := label{"step", s.Name}
			shown, gone := sum(got["hyperscale_requests_started_total"], of), sum(got["hyperscale_lost_requests_total"], of)
			if shown-gone != float64(s.Started) {
				t.Fatalf("step %s: %v requests, %v of them in no result, which has %d", s.Name, shown, gone, s.Started)
			}
		}
	})
}

// When an attempt counts no more, its requests stay, and those of others are counted at once.
func TestLoadTellsWhatIsLost(t *testing.T) {
	status := func(state message.JobState, started uint64, lost ...message.LostAttempt) *message.JobStatus {
		w := flowOf(started)
		w.Lost = lost
		return jobOf(1, state, message.DatacenterResult{Name: "east", Workflows: []message.WorkflowResult{w}})
	}
	gone := message.LostAttempt{Started: 40}
	counted := message.LostAttempt{Started: 40, Counted: true}
	for _, c := range []struct {
		name        string
		course      []*message.JobStatus
		shown, lost float64
	}{
		{"an attempt counts no more", []*message.JobStatus{status(message.JobRunning, 100), status(message.JobRunning, 60, gone), status(message.JobRunning, 70, gone)}, 110, 40},
		{"its counts stay", []*message.JobStatus{status(message.JobRunning, 100), status(message.JobRunning, 100, counted), status(message.JobRunning, 130, counted)}, 130, 0},
		{"a new manager has not heard of all", []*message.JobStatus{status(message.JobRunning, 100), status(message.JobRunning, 10), status(message.JobRunning, 105)}, 105, 0},
		{"the same, and an attempt counts no more", []*message.JobStatus{status(message.JobRunning, 100), status(message.JobRunning, 10, gone), status(message.JobRunning, 105, gone)}, 105, 0},
		{"the result has less than any report", []*message.JobStatus{status(message.JobRunning, 100), status(message.JobCompleted, 90)}, 100, 10},
		{"the result has no such datacenter", []*message.JobStatus{status(message.JobRunning, 100), jobOf(1, message.JobCompleted, message.DatacenterResult{Name: "west", Workflows: []message.WorkflowResult{flowOf(7)}})}, 107, 100},
		{"the result has no steps for size", []*message.JobStatus{status(message.JobRunning, 100), jobOf(1, message.JobCompleted, message.DatacenterResult{Name: "east", Workflows: []message.WorkflowResult{flowOf()}})}, 100, 0},
		{"the result is not here", []*message.JobStatus{status(message.JobRunning, 100), jobOf(1, message.JobCompleted)}, 100, 0},
	} {
		o := newOwner()
		var got map[string]*dto.MetricFamily
		for _, s := range c.course {
			o.jobs = []*message.JobStatus{s}
			got = o.scrape(t)
		}
		if shown, lost := sum(got["hyperscale_requests_started_total"]), sum(got["hyperscale_lost_requests_total"]); shown != c.shown || lost != c.lost {
			t.Errorf("%s: %v requests, %v of them in no result, want %v and %v", c.name, shown, lost, c.shown, c.lost)
		}
	}
}

// However many jobs, steps, statuses and errors there are, the series are bounded and no request is missing.
func TestLoadIsBounded(t *testing.T) {
	var jobs []*message.JobStatus
	want := 0.0
	for n := range 14 { // of which ten fill the rows of all
		w := flowOf(slices.Repeat([]uint64{3}, 210)...)
		for i := range w.Stats.Steps {
			s := &w.Stats.Steps[i]
			s.Statuses, s.Errors = nil, nil
			for k := range 40 {
				s.Statuses = append(s.Statuses, message.StatusCount{Status: uint32(200 + k), Count: 1})
			}
			for k := range 35 {
				s.Errors = append(s.Errors, message.ErrorCount{Kind: fmt.Sprintf("k%d", k), Count: 1})
			}
			want += 3
		}
		w.Stats.Steps = append(w.Stats.Steps,
			message.StepStats{Name: "f/get", Kind: message.StepPart, Started: 2, OK: 2}, message.StepStats{Name: "setup/get", Kind: message.StepBeside, Started: 2, OK: 2},
			message.StepStats{Name: "c", Kind: message.StepCheck, OK: 2})
		jobs = append(jobs, jobOf(byte(n+1), message.JobRunning, message.DatacenterResult{Name: "east", Workflows: []message.WorkflowResult{w}}))
	}
	o := newOwner(jobs...)
	for range 2 {
		got := o.gather(t)
		series := 0
		for _, f := range got {
			series += len(f.Metric)
		}
		if n := sum(got["hyperscale_requests_started_total"], label{"request", ""}); n != want {
			t.Errorf("%v requests, want %v", n, want)
		}
		if n := sum(got["hyperscale_responses_total"]); n != 40*want/3 {
			t.Errorf("%v answers, want %v", n, 40*want/3)
		}
		if n := sum(got["hyperscale_errors_total"]); n != 35*want/3 {
			t.Errorf("%v failures, want %v", n, 35*want/3)
		}
		rows := len(got["hyperscale_requests_started_total"].Metric)
		if rows > loadRows+2*14 || series > rows*(2*(loadVariants+1)+15)+14*40 {
			t.Errorf("%d series of %d steps", series, rows)
		}
		first := 0
		for _, m := range got["hyperscale_requests_started_total"].Metric {
			if slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == "run" && l.GetValue() == message.JobID{1}.String() }) {
				first++
			}
		}
		if first > loadSteps+2 || first < loadSteps-2 {
			t.Errorf("the first job has %d steps, want %d", first, loadSteps)
		}
		if !strings.Contains(got["hyperscale_requests_started_total"].String(), `value:"other"`) {
			t.Error("no step is called other")
		}
		jobs = slices.Clone(jobs)
		slices.Reverse(jobs[0].Datacenters[0].Workflows[0].Stats.Steps) // the same steps keep their names
		o.jobs = jobs
	}
}

func BenchmarkLoad(b *testing.B) {
	var jobs []*message.JobStatus
	for n := range LoadJobs {
		jobs = append(jobs, jobOf(byte(n+1), message.JobRunning, message.DatacenterResult{Name: "east", Workflows: []message.WorkflowResult{flowOf(slices.Repeat([]uint64{100}, 30)...)}}))
	}
	o := newOwner(jobs...)
	for b.Loop() {
		o.clock = o.clock.Add(loadFresh)
		if _, err := o.load.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
