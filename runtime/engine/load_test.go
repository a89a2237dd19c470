package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hyperscale/core/load"
	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/runtime/target"
)

// due counts the arrivals of a plan.
func due(p message.WorkflowPlan, seed, vus uint64, d time.Duration) (n uint64) {
	p.VUs, p.Duration = vus, d
	a := load.NewArrivals(&p, seed, 0, vus)
	for _, ok := a.Next(); ok; _, ok = a.Next() {
		n++
	}
	return n
}

// For any load, and whether or not the run is cut short, each start is counted and ends. The
// target saw each request that was sent. Everything that was due and never began is reported as
// dropped.
func TestEveryStartIsCounted(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		for _, vus := range []uint64{1, 30, 1000} {
			for _, model := range []string{"closed", "even", "poisson", "queue"} {
				for _, killed := range []bool{false, true} {
					s := serve(t, func(c *target.Config) { c.Latency, c.ErrorEvery = 2*time.Millisecond, 7 })
					w := flow(get("home", s.URL()+"/home"), get("free", s.URL()+"/free"), get("next", s.URL()+"/next", 0))
					if model != "closed" {
						w.Plan.Rate = max(200, min(vus*10, 3000)) * 1000
						w.Plan.Poisson, w.Plan.Queue = model == "poisson", model == "queue"
					}
					adjust(w)
					ctx, cancel := context.WithCancel(t.Context())
					if killed {
						defer time.AfterFunc(50*time.Millisecond, cancel).Stop()
					}
					const length = 100 * time.Millisecond
					r := run(t, ctx, Config{Workflow: w, VUs: vus, Duration: length, Seed: 3})
					cancel()
					name := fmt.Sprintf("%s, %d users, killed %v", model, vus, killed)
					seen := s.Stats().Paths
					for _, step := range r.Stats.Steps {
						if n := seen["/"+step.Name]; n > step.Started || n < step.Started-step.Cancelled || !killed && step.Cancelled > 0 {
							t.Errorf("%s: %s started %d, cancelled %d, the target saw %d", name, step.Name, step.Started, step.Cancelled, n)
						}
					}
					begun, dropped := uint64(0), uint64(0)
					course, err := stats.Intervals(r.Stats.Activity)
					for i := range course {
						begun, dropped = begun+course[i].Started, dropped+course[i].Failed
					}
					if g := r.Stats.Generator; err != nil || begun != g.Begun || dropped != g.Dropped {
						t.Errorf("%s: over time %d iterations begin and %d are dropped, together %d and %d: %v", name, begun, dropped, g.Begun, g.Dropped, err)
					}
					home, free := r.Stats.Steps[0], r.Stats.Steps[1]
					if home.Started != free.Started || home.Dropped != free.Dropped || r.Stats.Steps[2].Dropped != 0 {
						t.Errorf("%s: an iteration begins with both steps: started %d and %d, dropped %d and %d", name, home.Started, free.Started, home.Dropped, free.Dropped)
					}
					if want := due(*w.Plan, 3, vus, length); model != "closed" && (home.Started+home.Dropped > want || !killed && home.Started+home.Dropped < want) {
						t.Errorf("%s: started %d, dropped %d, want %d together", name, home.Started, home.Dropped, want)
					}
				}
			}
		}
	})
}

// With when_full = "queue", starts that wait for a virtual user count their wait.
func TestQueuedStartsHaveWaited(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, func(c *target.Config) { c.Latency = 20 * time.Millisecond })
		w := flow(get("home", s.URL()+"/"))
		w.Plan.Rate, w.Plan.Queue = 500_000, true
		adjust(w)
		const vus, length = 2, 400 * time.Millisecond
		r := run(t, t.Context(), Config{Workflow: w, VUs: vus, Duration: length, Timeout: time.Minute})
		home := r.Stats.Steps[0]
		// Two users begin at most 40 of 200 iterations in that time: the 40th is due after 80
		// ms.
		if home.Started > 44 || home.Started+home.Dropped != 200 || home.OK != home.Started {
			t.Errorf("started %d, dropped %d, ok %d", home.Started, home.Dropped, home.OK)
		}
		if home.Started > 30 && home.Latency.Max < uint64(250*time.Millisecond) {
			t.Errorf("the last of %d had waited %v", home.Started, time.Duration(home.Latency.Max))
		}
		if home.Service.Min > home.Latency.Max {
			t.Errorf("service %+v, latency %+v", home.Service, home.Latency)
		}
		if most := s.Stats().Connections; most > vus {
			t.Errorf("%d connections of %d users", most, vus)
		}
	})
}

// Four processes share a rate and iterations: together they begin as many as one would.
func TestFourShareALoad(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		for _, change := range []func(*message.WorkflowPlan){
			func(p *message.WorkflowPlan) { p.Rate, p.Queue = 777_000, true },
			func(p *message.WorkflowPlan) { p.Rate, p.Poisson, p.Queue = 777_000, true, true },
			func(p *message.WorkflowPlan) { p.Iterations = 333 },
		} {
			s := serve(t, nil)
			w := flow(get("home", s.URL()+"/"))
			w.Plan.VUs = 50
			change(w.Plan)
			adjust(w)
			const length = 300 * time.Millisecond
			want := w.Plan.Iterations
			duration := length
			if want > 0 {
				duration = 0
			} else {
				want = due(*w.Plan, 9, 50, length)
			}
			var all atomic.Uint64
			var group sync.WaitGroup
			for _, part := range [][2]uint64{{0, 13}, {13, 12}, {25, 12}, {37, 13}} {
				group.Go(func() {
					r := run(t, t.Context(), Config{Workflow: w, FirstVU: part[0], VUs: part[1], Duration: duration, Seed: 9})
					all.Add(r.Stats.Steps[0].Started + r.Stats.Steps[0].Dropped)
				})
			}
			group.Wait()
			if all.Load() != want || s.Stats().Requests > want || want == w.Plan.Iterations && s.Stats().Requests != want {
				t.Errorf("%d were begun, the target saw %d, want %d", all.Load(), s.Stats().Requests, want)
			}
		}
	})
}

// A process that was stopped begins at once all that was due meanwhile, with its delay.
func TestStoppedProcessOwesItsStarts(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/"))
		w.Plan.Rate = 500_000
		adjust(w)
		began := time.Now()
		var slept atomic.Bool
		stop := func() bool { // the caller is blocked for as long as this takes
			if time.Since(began) > 100*time.Millisecond && slept.CompareAndSwap(false, true) {
				time.Sleep(300 * time.Millisecond)
			}
			return false
		}
		r := run(t, t.Context(), Config{Workflow: w, VUs: 500, Duration: 600 * time.Millisecond, Orders: Orders{Over: stop}})
		home := r.Stats.Steps[0]
		if home.Started != 300 || home.OK != 300 || home.Dropped != 0 || s.Stats().Requests != 300 {
			t.Errorf("started %d, ok %d, dropped %d, want 300", home.Started, home.OK, home.Dropped)
		}
		if home.Latency.Max < uint64(290*time.Millisecond) || !r.Stats.Generator.Late {
			t.Errorf("the longest latency is %v, late %v", time.Duration(home.Latency.Max), r.Stats.Generator.Late)
		}
	})
}

func TestGracefulStopCancels(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		for _, rate := range []uint64{0, 400_000} {
			s := serve(t, func(c *target.Config) { c.StallEvery, c.StallFor = 1, time.Minute })
			w := flow(get("home", s.URL()+"/"), get("next", s.URL()+"/", 0))
			w.Plan.GracefulStop, w.Plan.Rate = 50*time.Millisecond, rate
			adjust(w)
			r := run(t, t.Context(), Config{Workflow: w, VUs: 8, Duration: 100 * time.Millisecond, Timeout: time.Minute})
			home := r.Stats.Steps[0]
			if r.State != message.WorkflowCompleted || home.Started != 8 || home.Cancelled != 8 || rate > 0 && home.Dropped != 32 {
				t.Errorf("state %v, started %d, cancelled %d, dropped %d", r.State, home.Started, home.Cancelled, home.Dropped)
			}
		}
	})
}

// Users start as the stages say, and leave between two iterations.
func TestStagesOnBothPaths(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/"), get("next", s.URL()+"/", 0))
		w.Plan.Think = time.Millisecond
		w.Plan.VUs, w.Plan.Stages = 20, []message.StagePlan{{Duration: 100 * time.Millisecond, VUs: 20}, {VUs: 5}, {Duration: 100 * time.Millisecond, VUs: 5}, {Duration: 50 * time.Millisecond}}
		adjust(w)
		r := run(t, t.Context(), Config{Workflow: w, VUs: 20, Duration: 250 * time.Millisecond})
		home, next := r.Stats.Steps[0], r.Stats.Steps[1]
		if home.Started == 0 || home.Started+next.Started != s.Stats().Requests || home.OK-next.Started > 20 {
			t.Errorf("started %d and %d, the target saw %d", home.Started, next.Started, s.Stats().Requests)
		}
	})
}

func TestSessionNoneForgetsConnections(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/"), get("next", s.URL()+"/", 0))
		w.Plan.Session, w.Plan.Iterations = message.SessionNone, 40
		adjust(w)
		r := run(t, t.Context(), Config{Workflow: w, VUs: 4})
		if seen := s.Stats(); seen.Connections != 40 || seen.Requests != 80 || r.Stats.Steps[1].OK != 40 {
			t.Errorf("%d requests on %d connections, want 80 on 40", seen.Requests, seen.Connections)
		}
	})
}

func TestWeightedIterations(t *testing.T) {
	var counts [2]map[string]tally
	for i, p := range paths {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/home"), get("search", s.URL()+"/search", 0), get("buy", s.URL()+"/buy", 0), get("bye", s.URL()+"/bye", 0))
		w.Steps[1].Plan.Weight, w.Steps[2].Plan.Weight = 3, 1
		w.Plan.Iterations, w.Plan.Weighted, w.Plan.VUs = 400, true, 8
		p.adjust(w)
		r := run(t, t.Context(), Config{Workflow: w, VUs: 8, Seed: 5})
		counts[i] = tallies(r)
		search, buy := counts[i]["search"].OK, counts[i]["buy"].OK
		if counts[i]["home"].OK != 400 || counts[i]["bye"].OK != 400 || search+buy != 400 || search < 250 || search > 350 {
			t.Errorf("%s: %+v", p.name, counts[i])
		}
	}
}

// Requests of a virtual user outside its steps happen, but no account counts them.
func TestBesideTheSteps(t *testing.T) {
	for _, rate := range []string{"", `rate = "100/s",`} {
		s := serve(t, nil)
		w := loadFile(t, s.URL(), `
def prepare(vu):
    vu.http.get("TARGET/setup")
    return {"path": "/shared"}

def begin(vu):
    vu.http.get("TARGET/begin")

def end(vu):
    vu.http.get("TARGET/end")

def clean(vu):
    vu.http.get("TARGET" + vu.shared["path"])

def visit(vu):
    return vu.http.get("TARGET" + vu.shared["path"] + "/visit")

workflow(
    name = "test", vus = 4, duration = "200ms", `+rate+`
    setup = prepare, vu_setup = begin, vu_teardown = end, teardown = clean,
    steps = [
        step(visit),
        step("odd", http.get("TARGET/odd"), after = ["visit"], when = lambda vu, visit: vu.iteration % 2 == 1),
        step("behind", http.get("TARGET/behind"), after = ["odd"]),
    ],
)
`)
		r := run(t, t.Context(), Config{Workflow: w, VUs: 4, Duration: 200 * time.Millisecond})
		seen, all := s.Stats().Paths, tallies(r)
		if seen["/setup"] != 1 || seen["/begin"] != 4 || seen["/end"] != 4 || seen["/shared"] != 1 {
			t.Errorf("%q: the target saw %v", rate, seen)
		}
		if got := all["visit"]; got.OK != seen["/shared/visit"] || got.Started != got.OK || got.OK < 8 {
			t.Errorf("%q: visits %+v of %v", rate, got, seen)
		}
		odd, behind := all["odd"], all["behind"]
		if odd.OK != seen["/odd"] || odd.OK > all["visit"].OK/2+4 || odd.Skipped != 0 || behind.Started != seen["/behind"] || behind.Skipped != 0 || behind.Started > odd.OK {
			t.Errorf("%q: odd %+v, behind %+v", rate, odd, behind)
		}
		var load, beside, requests, bytes uint64
		for _, step := range r.Stats.Steps {
			switch {
			case step.Kind.Measured():
				load += step.BytesIn
				fallthrough
			case step.Kind == message.StepBeside:
				bytes += step.BytesIn
			}
			if step.Kind == message.StepBeside {
				beside += step.OK
			}
			if step.Kind.Requests() {
				requests += step.OK
			}
		}
		if r.State != message.WorkflowCompleted || load >= s.Stats().BytesOut || bytes != s.Stats().BytesOut {
			t.Errorf("%q: state %v, %d bytes of load and %d of all counted, the target sent %d", rate, r.State, load, bytes, s.Stats().BytesOut)
		}
		if beside != 10 || beside+requests != s.Stats().Requests {
			t.Errorf("%q: %d requests of load and %d beside it, the target saw %d", rate, requests, beside, s.Stats().Requests)
		}
	}
}

// Without its setup a run measures nothing.
func TestFailedSetupFailsTheRun(t *testing.T) {
	for _, hook := range []string{"setup", "vu_setup"} {
		s := serve(t, nil)
		w := loadFile(t, s.URL(), `
def broken(vu):
    fail("no token")

workflow(name = "test", vus = 4, duration = "10s", `+hook+` = broken, steps = [step("home", http.get("TARGET/"))])
`)
		r := run(t, t.Context(), Config{Workflow: w, VUs: 4, Duration: 10 * time.Second})
		if r.State != message.WorkflowFailed || r.Error == "" || s.Stats().Requests != 0 || r.Duration > 5*time.Second {
			t.Errorf("%s: state %v (%s) after %v, %d requests", hook, r.State, r.Error, r.Duration, s.Stats().Requests)
		}
		t.Log(r.Error)
	}
}

// A function that begins late sends its first request late by that. Its own work before that
// request, and its later requests, are not late.
func TestFunctionsThatBeginLate(t *testing.T) {
	s := serve(t, func(c *target.Config) { c.Latency = 20 * time.Millisecond })
	w := loadFile(t, s.URL(), `
def first(vu):
    return vu.http.get("TARGET/first")

def second(vu):
    vu.http.get("TARGET/other")
    return vu.http.get("TARGET/second")

workflow(name = "test", vus = 1, rate = "200/s", when_full = "queue", duration = "500ms", steps = [step(first), step(second, after = ["first"])])
`)
	r := run(t, t.Context(), Config{Workflow: w, VUs: 1, Duration: 500 * time.Millisecond, Timeout: time.Minute})
	first, second := r.Stats.Steps[0], r.Stats.Steps[1]
	// An iteration takes 60 ms and one is due every 5 ms: the n-th waits n * 55 ms.
	if first.Started > 10 || first.Started+first.Dropped != 100 || first.Latency.Max < uint64(first.Started-1)*uint64(50*time.Millisecond) {
		t.Errorf("started %d, dropped %d, the longest latency is %v", first.Started, first.Dropped, time.Duration(first.Latency.Max))
	}
	if first.Started > 4 && second.Latency.Min > first.Latency.Max {
		t.Errorf("the second step is not late: %+v", second.Latency)
	}
}

// A run ends when its time is over and nothing is in flight; it waits for nothing else.
func TestRunsEndInTime(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		for range 10 {
			w := flow(get("home", s.URL()+"/"))
			w.Plan.Rate = 10_000
			adjust(w)
			r := run(t, t.Context(), Config{Workflow: w, VUs: 2, Duration: 100 * time.Millisecond})
			if r.Duration < 300*time.Millisecond { // of ten runs the machine leaves one undisturbed
				return
			}
		}
		t.Error("not one of ten runs of 100 ms ended within 300 ms")
	})
}

// What ended within a part of the time counts there, to the last request, on every path.
func TestSpansAddUp(t *testing.T) {
	eachPath(t, func(t *testing.T, adjust func(*workflow.Workflow)) {
		s := serve(t, nil)
		w := flow(get("home", s.URL()+"/"), get("next", s.URL()+"/missing", 0), get("other", s.URL()+"/", 0))
		w.Plan.Duration = 200 * time.Millisecond
		w.Plan.Thresholds = []message.Threshold{{Step: "home", From: 50 * time.Millisecond}, {Steps: []string{"next"}, Until: 100 * time.Millisecond}}
		adjust(w)
		r := run(t, t.Context(), Config{Workflow: w, VUs: 4, Duration: w.Plan.Duration})
		if len(r.Stats.Spans) != 2 {
			t.Fatalf("%d steps have spans, want home and next", len(r.Stats.Spans))
		}
		for i, of := range r.Stats.Spans {
			step := r.Stats.Steps[i]
			if of.Step != step.Name || len(of.Spans) != 3 {
				t.Fatalf("step %s has %d spans, want 3", of.Step, len(of.Spans))
			}
			var sum message.Span
			for _, one := range of.Spans {
				sum.OK, sum.Failed, sum.TimedOut = sum.OK+one.OK, sum.Failed+one.Failed, sum.TimedOut+one.TimedOut
				sum.Latency.Count, sum.Service.Count = sum.Latency.Count+one.Latency.Count, sum.Service.Count+one.Service.Count
				sum.Latency.Sum += one.Latency.Sum
			}
			if sum.OK != step.OK || sum.Failed != step.Failed || sum.TimedOut != step.TimedOut || sum.Latency.Count != step.Latency.Count || sum.Latency.Sum != step.Latency.Sum || sum.Service.Count != step.Service.Count {
				t.Errorf("step %s: spans hold %+v, the step %+v", step.Name, sum, step)
			}
		}
	})
}

// A run whose load begins anew sends all of it, and its figures lie where it ran in the workflow's
// time.
func TestLoadThatBeginsAnewIsLate(t *testing.T) {
	s := serve(t, func(c *target.Config) {})
	w := flow(get("home", s.URL()+"/home"))
	w.Plan.Rate = 200_000
	const vus, length, since = 4, 300 * time.Millisecond, 5 * time.Second
	r := run(t, t.Context(), Config{Workflow: w, VUs: vus, Duration: length, Seed: 3, Resume: &Resume{Since: time.Now().Add(-since), VUs: vus, Anew: true}})
	if home, want := r.Stats.Steps[0], due(*w.Plan, 3, vus, length); home.Started+home.Dropped != want || r.Stats.Generator.Missed != 0 {
		t.Errorf("started %d, dropped %d, missed %d, want %d", home.Started, home.Dropped, r.Stats.Generator.Missed, want)
	}
	course, err := stats.Intervals(r.Stats.Steps[0].Windows)
	if err != nil || len(course) == 0 || course[0].Since < since || r.Stats.Gap < since || r.Stats.Elapsed < since+length {
		t.Errorf("gap %v, elapsed %v, the first window of %v: %v", r.Stats.Gap, r.Stats.Elapsed, course, err)
	}
}

// A run that joins a workflow sends what is due from then on, ends with the workflow, and says
// what was due before. Its windows lie in the workflow's time.
func TestJoinedRunsKeepTheWorkflowsTime(t *testing.T) {
	s := serve(t, func(c *target.Config) {})
	w := flow(get("home", s.URL()+"/home"))
	w.Plan.Rate = 200_000
	const vus, length, since = 4, time.Second, 600 * time.Millisecond
	began := time.Now()
	r := run(t, t.Context(), Config{Workflow: w, VUs: vus, Duration: length, Seed: 3, Resume: &Resume{Since: began.Add(-since), FirstVU: 0, VUs: vus}})
	took := time.Since(began)
	if took > length { // a busy machine begins it late
		t.Errorf("it took %v, %v were left", took, length-since)
	}
	home, g := r.Stats.Steps[0], r.Stats.Generator
	if want := due(*w.Plan, 3, vus, length); home.Started+home.Dropped+g.Missed != want || g.Missed < 120 || g.Missed > uint64(r.Stats.Gap/(5*time.Millisecond))+1 {
		t.Errorf("started %d, dropped %d, missed %d, want %d together, of which 120 were due before", home.Started, home.Dropped, g.Missed, want)
	}
	if seen := s.Stats().Paths["/home"]; seen != home.Started {
		t.Errorf("started %d, the target saw %d", home.Started, seen)
	}
	if r.Stats.Gap < since || r.Stats.Gap > since+took || r.Stats.Elapsed < length || g.Saturated {
		t.Errorf("gap %v, elapsed %v, saturated %v", r.Stats.Gap, r.Stats.Elapsed, g.Saturated)
	}
	course, err := stats.Intervals(home.Windows)
	if err != nil || len(course) == 0 || course[0].Since < since {
		t.Errorf("the first window of %v begins before the run: %v", course, err)
	}
}
