package result

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/plan/plantest"
	"hyperscale/core/stats"
)

// ladder is a histogram of n values that are far apart: each takes its own bucket.
func ladder(n int) message.Histogram {
	var h stats.Histogram
	for i := range n {
		h.Record(uint64(i*i*i)*97 + 1)
	}
	return h.Wire()
}

// bulk says how large the parts of a drawn result are.
type bulk struct {
	histogram message.Histogram
	steps     int
	workflows int
	text      string // of each error, example, tag and line
	workers   int
	service   bool
}

func (b *bulk) stats() (s message.Stats) {
	s.Elapsed, s.Rows, s.Active = time.Minute, 7, 3
	for i := range b.steps {
		step := message.StepStats{
			Name: fmt.Sprintf("s%d", i), Kind: message.StepRequest, Started: 9, Sent: 8, OK: 5, Failed: 2, TimedOut: 1, Skipped: 4, BytesIn: 3, BytesOut: 2,
			Latency: b.histogram, Errors: []message.ErrorCount{{Kind: "k", Count: 2, Example: b.text[:min(len(b.text), 256)]}},
		}
		if b.service {
			step.Service = b.histogram
		}
		s.Steps = append(s.Steps, step)
	}
	return s
}

func (b *bulk) workflow(i int) message.WorkflowResult {
	w := message.WorkflowResult{Name: fmt.Sprintf("w%d", i), State: message.WorkflowCompleted, Error: b.text[:min(len(b.text), ErrorMax)], VUs: 4, Cores: 2, Duration: time.Minute, Burned: 6, Stats: b.stats()}
	if b.text != "" {
		w.Tags = []message.Tag{{Name: "t", Value: b.text}}
		w.Lost = []message.LostAttempt{{Reason: b.text}}
	}
	return w
}

func drawBulk(t *rapid.T) *bulk {
	b := &bulk{
		histogram: ladder(rapid.SampledFrom([]int{0, 3, 300, 3000}).Draw(t, "values")),
		steps:     rapid.SampledFrom([]int{1, 4, 40, 400}).Draw(t, "steps"),
		workflows: rapid.SampledFrom([]int{1, 2, 20, 200}).Draw(t, "workflows"),
		text:      strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 3000, 30_000}).Draw(t, "text")),
		workers:   rapid.SampledFrom([]int{0, 2, 64}).Draw(t, "workers"),
		service:   rapid.Bool().Draw(t, "service"),
	}
	for b.steps*b.workflows > 400 {
		b.steps = max(1, b.steps/10)
		if b.steps == 1 {
			break
		}
	}
	return b
}

func (b *bulk) place(i int) message.DatacenterResult {
	d := message.DatacenterResult{Name: fmt.Sprintf("d%d", i), State: message.JobCompleted, Duration: time.Minute}
	for k := range b.workflows {
		d.Workflows = append(d.Workflows, b.workflow(k))
	}
	for k := range b.workers {
		d.Workers = append(d.Workers, message.WorkerShare{Node: fmt.Sprintf("worker-%d", k), State: message.WorkerDone, Started: 9})
	}
	return d
}

// same asserts that a workflow shows no wrong figure, only fewer: its counts stay, and so do
// count, sum and extremes of each histogram that is left.
func same(t *rapid.T, was, is *message.WorkflowResult) {
	a, b := *was, *is
	for _, w := range []*message.WorkflowResult{&a, &b} {
		w.Stats.Steps, w.Stats.Logs, w.Stats.Told, w.Tags, w.StepTags, w.Lost = nil, nil, 0, nil, nil, nil
	}
	if x, y := (&message.DatacenterResult{Workflows: []message.WorkflowResult{a}}), (&message.DatacenterResult{Workflows: []message.WorkflowResult{b}}); sizeAndDigest(x) != sizeAndDigest(y) {
		t.Fatalf("workflow %+v reads as %+v", a, b)
	}
	if len(is.Stats.Steps) == 0 {
		return
	}
	if len(is.Stats.Steps) != len(was.Stats.Steps) {
		t.Fatalf("%d steps of %d are left", len(is.Stats.Steps), len(was.Stats.Steps))
	}
	for i := range is.Stats.Steps {
		x, y := was.Stats.Steps[i], is.Stats.Steps[i]
		for _, h := range [][2]message.Histogram{{x.Latency, y.Latency}, {x.Service, y.Service}} {
			if h[1].Count != 0 && (h[0].Count != h[1].Count || h[0].Sum != h[1].Sum || h[0].Min != h[1].Min || h[0].Max != h[1].Max) {
				t.Fatalf("a histogram of %+v reads as %+v", h[0], h[1])
			}
		}
		if x.Started != y.Started || x.Sent != y.Sent || x.OK != y.OK || x.Failed != y.Failed || x.TimedOut != y.TimedOut || x.Skipped != y.Skipped ||
			x.BytesIn != y.BytesIn || x.BytesOut != y.BytesOut || x.Name != y.Name || x.Kind != y.Kind || len(x.Errors) != len(y.Errors) || x.Errors[0].Count != y.Errors[0].Count {
			t.Fatalf("step %+v reads as %+v", x, y)
		}
	}
}

// sizeAndDigest distinguishes two datacenters' results.
func sizeAndDigest(d *message.DatacenterResult) [2]uint64 {
	s := &message.JobStatus{Datacenters: []message.DatacenterResult{*d}}
	return [2]uint64{uint64(s.Size()), s.Digest()}
}

// TestResultsFitAFrame: a result that fits stays as it is. Any other loses details until it
// fits, those of datacenters before those of workflows. Its remaining figures are right, its
// verdicts stay, and it names its losses. It shares no memory that it changes.
func TestResultsFitAFrame(t *testing.T) {
	lost := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		b := drawBulk(t)
		was := message.JobResult{Request: message.RequestID{Counter: 1}, Result: message.Result{Job: message.JobID{1}, Name: "n", State: message.JobCompleted, Duration: time.Minute}}
		for i := range rapid.IntRange(1, 3).Draw(t, "places") {
			was.Result.Datacenters = append(was.Result.Datacenters, b.place(i))
		}
		if rapid.Bool().Draw(t, "other workflows") {
			b = drawBulk(t)
		}
		for i := range b.workflows {
			was.Result.Workflows = append(was.Result.Workflows, b.workflow(i))
			was.Result.Thresholds = append(was.Result.Thresholds, message.ThresholdResult{Workflow: "w", Expr: "x", OK: i%2 == 0})
		}
		before := was.Digest()
		r := was
		fitResult(&r)
		if was.Digest() != before {
			t.Fatal("it wrote to what it was given")
		}
		if n := r.Size(); n > resultMax {
			t.Fatalf("it has %d bytes, a message holds %d", n, resultMax)
		}
		if was.Size() <= resultMax {
			if r.Digest() != before {
				t.Fatalf("%d bytes fit, and it is changed", was.Size())
			}
			return
		}
		if strings.Count(r.Result.Error, "some details are left out") != 1 {
			t.Fatalf("its loss reads as %q", r.Result.Error)
		}
		if len(r.Result.Thresholds) != len(was.Result.Thresholds) || r.Result.State != was.Result.State || r.Result.Duration != was.Result.Duration {
			t.Fatalf("its verdicts are %v %+v", r.Result.State, r.Result.Thresholds)
		}
		whole := len(r.Result.Workflows) == len(was.Result.Workflows)
		for i := range r.Result.Workflows {
			same(t, &was.Result.Workflows[i], &r.Result.Workflows[i])
			whole = whole && sizeAndDigest(&message.DatacenterResult{Workflows: r.Result.Workflows[i : i+1]}) == sizeAndDigest(&message.DatacenterResult{Workflows: was.Result.Workflows[i : i+1]})
		}
		if len(r.Result.Workflows) == 0 {
			lost["workflows"]++
			for _, less := range []func(*message.WorkflowResult){dropHistograms, dropTexts, dropSteps} { // all that it has besides names and numbers
				was.Result.Workflows = workflows(was.Result.Workflows, less)
			}
			was.Result.Datacenters = withoutWorkers(datacenters(was.Result.Datacenters, dropSteps))
			if was.Size() <= resultMax {
				t.Fatalf("without details it has %d bytes, and its workflows are left out", was.Size())
			}
		}
		for i := range r.Result.Datacenters {
			old, d := &was.Result.Datacenters[i], &r.Result.Datacenters[i]
			for k := range d.Workflows {
				same(t, &old.Workflows[k], &d.Workflows[k])
			}
			details := len(d.Workers) > 0 || len(d.Workflows[0].Stats.Steps) > 0
			if details && !whole {
				t.Fatalf("workflows lost details before datacenter %s did", d.Name)
			}
			if details {
				lost["histograms of datacenters"]++
			}
		}
		if !whole && len(r.Result.Workflows) > 0 {
			lost["details of workflows"]++
		}
	})
	for _, what := range []string{"histograms of datacenters", "details of workflows", "workflows"} {
		if lost[what] == 0 {
			t.Errorf("no result lost its %s: %v", what, lost)
		}
	}
}

// TestStatusesFitAFrame: a status that fits stays as it is. Any other loses details, and what
// remains is right. Promise adds a plan where there is room.
func TestStatusesFitAFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBulk(t)
		was := message.JobStatus{Job: message.JobID{1}, State: message.JobState(rapid.IntRange(1, 9).Draw(t, "state"))}
		for i := range rapid.IntRange(1, 4).Draw(t, "places") {
			was.Datacenters = append(was.Datacenters, b.place(i))
		}
		before := was.Digest()
		s := was
		FitStatus(&s)
		if was.Digest() != before || s.Size() > resultMax || was.Size() <= resultMax && s.Digest() != before {
			t.Fatalf("%d bytes became %d, what it was given changed: %v", was.Size(), s.Size(), was.Digest() != before)
		}
		for i := range s.Datacenters {
			for k := range s.Datacenters[i].Workflows {
				same(t, &was.Datacenters[i].Workflows[k], &s.Datacenters[i].Workflows[k])
			}
		}
		if s.Datacenters == nil {
			was.Datacenters = withoutWorkers(datacenters(was.Datacenters, dropSteps))
			if was.Size() <= resultMax {
				t.Fatalf("without details it has %d bytes, and names no datacenter", was.Size())
			}
		}
		plan := plantest.Legal(t)
		size := s.Size()
		Promise(&s, plan)
		if s.Size() > resultMax {
			t.Fatalf("with its plan it has %d bytes", s.Size())
		}
		small := message.JobSubmit{Plan: message.Plan{Workflows: plan.Workflows}}
		switch {
		case s.State.Terminal() && s.Plan != nil:
			t.Fatal("a job that has ended promises a load")
		case !s.State.Terminal() && s.Plan == nil && size+small.Size() < resultMax:
			t.Fatalf("a plan of %d bytes is left out of a status of %d", small.Size(), size)
		}
		for i := range s.Plan {
			p, w := &s.Plan[i], &plan.Workflows[i]
			if p.Name != w.Name || p.VUs != w.VUs || p.Rate != w.Rate || p.Duration != w.Duration || p.Iterations != w.Iterations || len(p.Stages) != len(w.Stages) || len(p.Thresholds) != len(w.Thresholds) {
				t.Fatalf("workflow %+v is promised as %+v", w, p)
			}
			if p.Steps != nil || p.Tags != nil || p.Report != nil {
				t.Fatalf("a promise tells more than load and thresholds: %+v", p)
			}
		}
	})
}

// TestStatusesBecomeCoarserFirst: where datacenters' figures have no room together, the live screen
// still has percentiles and a course of each.
func TestStatusesBecomeCoarserFirst(t *testing.T) {
	var w stats.Windows
	for at := range stats.WindowsMax {
		for i := 0; i < stats.LatencyBuckets; i += 3 {
			w.Record(time.Duration(at)*stats.WindowWidth, stats.LatencyBound(i))
		}
	}
	b := bulk{histogram: ladder(200), steps: 8, workflows: 1}
	s := message.JobStatus{Datacenters: []message.DatacenterResult{b.place(0), b.place(1)}}
	for i := range s.Datacenters {
		steps := s.Datacenters[i].Workflows[0].Stats.Steps
		for k := range steps {
			steps[k].Windows = w.Wire()
		}
	}
	if s.Size() < resultMax {
		t.Fatalf("%d bytes are too few to show it", s.Size())
	}
	FitStatus(&s)
	for i := range s.Datacenters {
		for _, step := range s.Datacenters[i].Workflows[0].Stats.Steps {
			if step.Latency.Count == 0 || step.Windows.Width == 0 {
				t.Errorf("datacenter %d, step %s has %d latencies and windows of %v: want both", i, step.Name, step.Latency.Count, step.Windows.Width)
			}
		}
	}
	if s.Size() > resultMax {
		t.Errorf("%d bytes, want at most %d", s.Size(), resultMax)
	}
}
