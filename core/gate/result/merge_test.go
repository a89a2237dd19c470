package result

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// TestResultsAddUpTheirSubjobs: a job's result adds its datacenters' figures up, workflow by
// workflow. A twin that goes over all values gives the same states, errors and verdicts.
func TestResultsAddUpTheirSubjobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]message.JobState{message.JobCompleted, message.JobFailed, message.JobCancelled, message.JobTimedOut}).Draw(t, "end")
		of := message.Result{Job: message.JobID{1}, Name: "n", State: end}
		var plan message.Plan
		states := []message.WorkflowState{message.WorkflowFailed, message.WorkflowTimedOut, message.WorkflowCancelled, message.WorkflowCompleted} // worst first
		type sum struct {
			vus, ok, failed, burned, latencies, largest uint64
			state                                       int
			seen, broken                                bool
			long                                        time.Duration
			errors                                      []string
		}
		want := map[string]*sum{}
		for i := range rapid.IntRange(1, 3).Draw(t, "workflows") {
			w := message.WorkflowPlan{Name: fmt.Sprint("w", i), Interval: time.Second, Steps: []message.StepPlan{{Name: "get", Tags: []message.Tag{{Name: "k"}}}, {Name: "bare"}}}
			w.Thresholds = []message.Threshold{
				{Expr: "errors", Of: message.OfErrors, Op: message.OpAtMost, Bound: 500_000},
				{Expr: "max", Of: message.OfLatency, Quantile: 1_000_000, Op: message.OpBelow, Bound: 50},
				{Expr: "gone", Of: message.OfErrors, Step: "gone", Op: message.OpAtLeast},
			}
			plan.Workflows = append(plan.Workflows, w)
			want[w.Name] = &sum{state: len(states)}
		}
		long := strings.Repeat("e", rapid.SampledFrom([]int{1, ErrorMax}).Draw(t, "error"))
		for k := range rapid.IntRange(1, 4).Draw(t, "places") {
			d := &message.DatacenterResult{Name: fmt.Sprint("d", k), State: message.JobCompleted}
			for _, p := range plan.Workflows {
				if rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
					continue
				}
				u := want[p.Name]
				at := rapid.IntRange(0, len(states)-1).Draw(t, "state")
				w := message.WorkflowResult{
					Name: p.Name, State: states[at], VUs: rapid.Uint64Range(0, 9).Draw(t, "vus"), Burned: rapid.Uint64Range(0, 9).Draw(t, "burned"),
					Duration: time.Duration(rapid.IntRange(1, 9).Draw(t, "duration")) * time.Second, Lost: make([]message.LostAttempt, 1),
				}
				s := message.StepStats{Name: "get", Kind: message.StepRequest, OK: rapid.Uint64Range(0, 9).Draw(t, "ok"), Failed: rapid.Uint64Range(0, 9).Draw(t, "failed")}
				var h stats.Histogram
				for _, v := range rapid.SliceOfN(rapid.Uint64Range(1, 63), 0, 4).Draw(t, "latencies") { // below 64 each value has its bucket
					h.Record(v)
					u.latencies, u.largest = u.latencies+1, max(u.largest, v)
				}
				s.Latency = h.Wire()
				if rapid.IntRange(0, 19).Draw(t, "broken") == 0 {
					s.Latency, u.broken = message.Histogram{Count: 3, Buckets: []byte{0xff}}, true
				}
				w.Stats.Steps = []message.StepStats{s}
				if rapid.IntRange(0, 2).Draw(t, "erred") == 0 {
					w.Error = long
					u.errors = append(u.errors, d.Name+": "+long)
				}
				d.Workflows = append(d.Workflows, w)
				u.vus, u.ok, u.failed, u.burned = u.vus+w.VUs, u.ok+s.OK, u.failed+s.Failed, u.burned+w.Burned
				u.state, u.long, u.seen = min(u.state, at), max(u.long, w.Duration), true
			}
			of.Datacenters = append(of.Datacenters, *d)
		}
		r := Merge(of, &plan).Result
		if len(r.Datacenters) != len(of.Datacenters) || len(r.Workflows) != len(want) || len(r.Thresholds) != 3*len(want) || r.State != end {
			t.Fatalf("%d datacenters, %d workflows, %d verdicts, %v", len(r.Datacenters), len(r.Workflows), len(r.Thresholds), r.State)
		}
		for i := range r.Workflows {
			w, u, judged := &r.Workflows[i], want[r.Workflows[i].Name], r.Thresholds[3*i:3*i+3]
			state := map[message.JobState]message.WorkflowState{message.JobCancelled: message.WorkflowCancelled, message.JobTimedOut: message.WorkflowTimedOut}[end]
			switch {
			case u.seen:
				state = states[u.state]
			case state == message.WorkflowNone:
				state = message.WorkflowFailed
			}
			if w.State != state || w.VUs != u.vus || w.Burned != u.burned || w.Duration != u.long || w.Interval != time.Second || len(w.StepTags) != 1 || w.StepTags[0].Step != "get" {
				t.Fatalf("got %+v, want %v and %+v", w, state, u)
			}
			if !u.seen && !strings.Contains(w.Error, "no datacenter reported it") || u.broken && !strings.Contains(w.Error, "figures are left out") {
				if len(w.Error) <= ErrorMax {
					t.Fatalf("what is missing reads as %q", w.Error)
				}
			}
			for _, e := range u.errors[:min(len(u.errors), 1)] {
				if !strings.HasPrefix(w.Error, e) {
					t.Fatalf("errors %q read as %q", u.errors, w.Error)
				}
			}
			if len(w.Error) > 2*ErrorMax+100 {
				t.Fatalf("an error of %d bytes", len(w.Error))
			}
			if u.broken || !u.seen {
				if len(w.Stats.Steps) != 0 || slices.ContainsFunc(judged, func(x message.ThresholdResult) bool { return x.OK }) {
					t.Fatalf("unreadable figures read as %+v, %+v", w.Stats, judged)
				}
				continue
			}
			s := w.Stats.Steps[0]
			if s.OK != u.ok || s.Failed != u.failed || s.Latency.Count != u.latencies || s.Latency.Max != u.largest {
				t.Fatalf("got %+v, want %+v", s, u)
			}
			errors := message.ThresholdResult{Workflow: w.Name, Expr: "errors", Of: message.OfErrors, Unmeasured: u.ok+u.failed == 0}
			if all := u.ok + u.failed; all > 0 {
				errors.Value, errors.OK = int64(u.failed*1_000_000/all), 2*u.failed <= all
			}
			largest := message.ThresholdResult{Workflow: w.Name, Expr: "max", Of: message.OfLatency, Value: int64(u.largest), OK: u.latencies > 0 && u.largest < 50, Unmeasured: u.latencies == 0}
			if judged[0] != errors || judged[1] != largest || judged[2].OK {
				t.Fatalf("got %+v, want %+v, %+v", judged, errors, largest)
			}
		}
	})
}

// If any datacenter lost details, the job's result says so.
func TestLossesOfAllPlacesAreTold(t *testing.T) {
	lost := func(worker string) []message.WorkflowResult {
		return []message.WorkflowResult{{Name: "w", State: message.WorkflowCompleted, Duration: 5, Lost: []message.LostAttempt{{Worker: worker}}}}
	}
	w, _ := mergeWorkflow("w", []message.DatacenterResult{{Name: "a", Workflows: lost("x")}, {Name: "b", Workflows: lost("y")}}, message.JobCompleted)
	if len(w.Lost) != 2 || w.Duration != 5 {
		t.Errorf("merged: %+v, %v", w.Lost, w.Duration)
	}
}

// A subjob's starts are those of all measured steps of all its workflows.
func TestStartsOfASubjob(t *testing.T) {
	steps := func(n ...uint64) (s message.Stats) {
		for _, started := range n {
			s.Steps = append(s.Steps, message.StepStats{Kind: message.StepRequest, Started: started})
		}
		s.Steps = append(s.Steps, message.StepStats{Kind: message.StepCheck, Started: 100})
		s.Steps[0].Kind = message.StepFunction
		return s
	}
	d := &message.DatacenterResult{Workflows: []message.WorkflowResult{{Stats: steps(1, 2)}, {Stats: steps(4)}, {}}}
	if got := Started(d); got != 7 {
		t.Errorf("a subjob of 1, 2 and 4 starts counts for %d", got)
	}
}

// A workflow that begins a minute later in one datacenter: its rate is over the time in which it ran
// anywhere, and a threshold on a part of its time looks at that part in each datacenter.
func TestADatacenterBeginsLater(t *testing.T) {
	place := func(name string, began time.Duration) message.DatacenterResult {
		var w stats.Windows
		w.At(5 * time.Second).OK = 120
		spans := []message.StepSpans{{Step: "home", Spans: []message.Span{{From: 0, Until: 10 * time.Second, OK: 120}}}}
		step := message.StepStats{Name: "home", Kind: message.StepRequest, Started: 120, OK: 120, Windows: w.Wire()}
		return message.DatacenterResult{Name: name, State: message.JobCompleted, Workflows: []message.WorkflowResult{{
			Name: "w", State: message.WorkflowCompleted, Began: began, Stats: message.Stats{Elapsed: 10 * time.Second, Steps: []message.StepStats{step}, Spans: spans},
		}}}
	}
	thresholds := []message.Threshold{
		{Expr: "rate > 11/s", Of: message.OfRate, Op: message.OpAbove, Bound: 11_000},
		{Expr: "home.rate > 23/s over 10s", Of: message.OfRate, Step: "home", Op: message.OpAbove, Bound: 23_000, Over: 10 * time.Second},
	}
	steps := []message.StepPlan{{Name: "a"}, {Name: "b"}}
	plan := &message.Plan{Workflows: []message.WorkflowPlan{{Name: "w", Duration: 10 * time.Second, Thresholds: thresholds, Steps: steps}, {Name: "x", Depends: []uint32{0}}}}
	of := message.Result{Job: message.JobID{1}, State: message.JobCompleted, Datacenters: []message.DatacenterResult{place("east", 63*time.Second), place("west", 3*time.Second)}}
	r := Merge(of, plan).Result
	w := &r.Workflows[0]
	if !slices.Equal(w.Order, []string{"(a + b)"}) || !slices.Equal(r.Turns, []string{"w → x"}) {
		t.Errorf("the order is %q, of workflows %q", w.Order, r.Turns)
	}
	if w.Began != 3*time.Second || w.Stats.Elapsed != 70*time.Second || w.Stats.Gap != 50*time.Second {
		t.Errorf("it began at %v, lasted %v, of it %v without load", w.Began, w.Stats.Elapsed, w.Stats.Gap)
	}
	at, err := stats.Intervals(w.Stats.Steps[0].Windows)
	if err != nil || len(at) != 2 || at[0].Since != 5*time.Second || at[1].Since != 65*time.Second {
		t.Errorf("windows: %+v, %v", at, err)
	}
	if r.Thresholds[0].Value != 12_000 || !r.Thresholds[0].OK || r.Thresholds[1].Value != 24_000 || !r.Thresholds[1].OK || r.Thresholds[1].Until != 10*time.Second {
		t.Errorf("thresholds: %+v", r.Thresholds)
	}
}
