package output

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/output/outputtest"
	"hyperscale/core/stats"
)

// world is a job whose shards send load, are lost, and are forgotten by new managers.
type world struct {
	t      *rapid.T
	shards []*shard
	lost   map[string][]message.LostAttempt // by datacenter
	now    time.Duration
}

type shard struct {
	datacenter string
	steps      map[string]*sum
	gone       bool
}

type sum struct {
	message.StepStats
	latency stats.Histogram
}

func (s *sum) stats(name string) message.StepStats {
	out := s.StepStats
	out.Name, out.Kind, out.Latency = name, message.StepRequest, s.latency.Wire()
	return out
}

func (w *world) load() {
	s := rapid.SampledFrom(w.shards).Draw(w.t, "shard")
	if s.gone {
		return
	}
	step := rapid.SampledFrom([]string{"home", "cart"}).Draw(w.t, "step")
	if s.steps[step] == nil {
		s.steps[step] = &sum{}
	}
	f := s.steps[step]
	n := rapid.Uint64Range(1, 50).Draw(w.t, "requests")
	f.Started += n
	f.BytesIn += n * 10
	status := rapid.SampledFrom([]uint32{200, 404}).Draw(w.t, "status")
	f.Statuses = stats.AddStatus(slices.Clone(f.Statuses), message.StatusCount{Status: status, Count: n})
	if status == 200 {
		f.OK += n
	} else {
		f.Failed += n
		f.Errors = stats.AddError(slices.Clone(f.Errors), message.ErrorCount{Kind: "status", Count: n})
	}
	f.latency.RecordN(rapid.Uint64Range(1, 1<<40).Draw(w.t, "latency"), n)
}

func (w *world) lose() {
	s := rapid.SampledFrom(w.shards).Draw(w.t, "shard")
	if s.gone || len(s.steps) == 0 {
		return
	}
	counted := rapid.Bool().Draw(w.t, "counted")
	started := uint64(0)
	//lint:orderfree a sum does not depend on order
	for _, f := range s.steps {
		started += f.Started
	}
	w.lost[s.datacenter] = append(slices.Clone(w.lost[s.datacenter]), message.LostAttempt{Started: started, Counted: counted})
	if s.gone = true; !counted {
		s.steps = map[string]*sum{}
	}
}

// datacenters are the figures that managers know: a new one may not have heard of a shard yet.
func (w *world) datacenters(forgets int) (all []message.DatacenterResult) {
	for _, name := range []string{"east", "west"} {
		var parts []*message.Stats
		for i, s := range w.shards {
			if s.datacenter != name || i == forgets {
				continue
			}
			part := &message.Stats{Active: 1}
			for _, step := range slices.Sorted(maps.Keys(s.steps)) {
				part.Steps = append(part.Steps, s.steps[step].stats(step))
			}
			parts = append(parts, part)
		}
		flow := message.WorkflowResult{Name: "shop", State: message.WorkflowRunning, Lost: w.lost[name]}
		var err error
		if flow.Stats, err = stats.Sum(parts); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, message.DatacenterResult{Name: name, Workflows: []message.WorkflowResult{flow}})
	}
	return all
}

func (w *world) result() *message.Result {
	r := &message.Result{Job: message.JobOf("a"), Name: "t.star", State: message.JobCompleted, Duration: w.now, Datacenters: w.datacenters(-1)}
	r.Workflows = merged(r.Datacenters)
	return r
}

// sums add up rows by key.
type sums struct {
	counts map[string]int64
	blunt  map[string]bool
	last   map[string]time.Duration
}

func newSums() *sums {
	return &sums{counts: map[string]int64{}, blunt: map[string]bool{}, last: map[string]time.Duration{}}
}

func (l *sums) add(t *rapid.T, rows []Row) {
	for i := range rows {
		r := &rows[i]
		sign := map[RowKind]int64{RowWindow: 1, RowLost: -1, RowResult: -1}[r.Kind]
		if sign == 0 {
			continue
		}
		key := r.Datacenter + "/" + r.Workflow + "/" + r.Step
		if r.Kind == RowWindow {
			if r.From < l.last[key] || r.To <= r.From {
				t.Fatalf("row %s from %v to %v, behind one to %v", key, r.From, r.To, l.last[key])
			}
			l.last[key] = r.To
		}
		l.blunt[key] = l.blunt[key] || r.Figures.Blunt
		f := r.Figures
		//lint:orderfree a sum does not depend on order
		for name, n := range map[string]uint64{"begun": f.Begun, "ok": f.OK, "failed": f.Failed, "in": f.BytesIn, "count": f.Latency.Count} {
			l.counts[key+" "+name] += sign * int64(n)
		}
		for _, c := range f.Statuses {
			l.counts[fmt.Sprint(key, " status ", c.Status)] += sign * int64(c.Count)
		}
		for _, c := range f.Errors {
			l.counts[key+" error "+c.Kind] += sign * int64(c.Count)
		}
		bounds, counts := f.Buckets()
		for i := range bounds {
			l.counts[fmt.Sprintf("%s bucket %d", key, bounds[i])] += sign * int64(counts[i])
		}
	}
}

func (l *sums) differences() (all []string) {
	for _, key := range slices.Sorted(maps.Keys(l.counts)) {
		of, what, _ := strings.Cut(key, " ")
		if l.counts[key] != 0 && !(l.blunt[of] && (what == "count" || strings.HasPrefix(what, "bucket"))) {
			all = append(all, fmt.Sprint(key, " ", l.counts[key]))
		}
	}
	return all
}

// OUTPUT-1 and OUTPUT-2: whatever is lost, forgotten and skipped, windows = result + lost.
func TestWindowsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, lost: map[string][]message.LostAttempt{}}
		for _, d := range []string{"east", "east", "east", "west"} {
			w.shards = append(w.shards, &shard{datacenter: d, steps: map[string]*sum{}})
		}
		f, l := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0)), newSums()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				w.lose()
			case 1, 2, 3:
				w.now += time.Duration(rapid.IntRange(1, 25).Draw(t, "seconds")) * time.Second
				s := &message.JobStatus{Job: message.JobOf("a"), State: message.JobRunning, Elapsed: w.now, Datacenters: w.datacenters(rapid.IntRange(-3, 3).Draw(t, "forgets"))}
				l.add(t, f.Apply(s))
			default:
				w.load()
			}
		}
		r := w.result()
		l.add(t, f.Finish(r, Run{}))
		if d := l.differences(); d != nil {
			t.Fatalf("windows - lost - result: %v", d)
		}
	})
}

// line is a row in a few words.
func line(r *Row) string {
	s := fmt.Sprintf("%s %s/%s/%s %v-%v", r.Kind, r.Datacenter, r.Workflow, r.Step, r.From, r.To)
	if r.Figures != nil {
		s += fmt.Sprintf(" begun %d in %d users %d", r.Figures.Begun, r.Figures.Latency.Count, r.Figures.ActiveUsers)
	}
	return s
}

func lines(rows []Row) (all []string) {
	for i := range rows {
		if rows[i].Kind != RowRun && (rows[i].Datacenter != "" || rows[i].Kind == RowThreshold) {
			all = append(all, line(&rows[i]))
		}
	}
	return all
}

func TestRows(t *testing.T) {
	f := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0))
	gone := []message.LostAttempt{{Started: 30}}
	for _, step := range []struct {
		what string
		in   *message.JobStatus
		want []string
	}{
		{"nothing between two boundaries", outputtest.Status(9*time.Second, nil, 50), nil},
		{"the first row", outputtest.Status(11*time.Second, nil, 100), []string{"window east/shop/home 0s-10s begun 100 in 100 users 7"}},
		{"a manager that has not heard of all workers: the row waits", outputtest.Status(20*time.Second, nil, 80), nil},
		{"and is wider", outputtest.Status(30*time.Second, nil, 120), []string{"window east/shop/home 10s-30s begun 20 in 20 users 7"}},
		{"an attempt whose figures count nowhere", outputtest.Status(40*time.Second, gone, 95), []string{"lost east/shop/home 30s-40s begun 25 in 25 users 0"}},
		{"it grows again", outputtest.Status(50*time.Second, gone, 96), []string{"window east/shop/home 40s-50s begun 1 in 1 users 7"}},
	} {
		if d := cmp.Diff(step.want, lines(f.Apply(step.in))); d != "" {
			t.Fatalf("%s:\n%s", step.what, d)
		}
	}
	end := outputtest.Status(0, gone, 100)
	r := &message.Result{Job: message.JobOf("a"), Name: "t.star", State: message.JobCompleted, Duration: 55 * time.Second, Datacenters: end.Datacenters, Thresholds: []message.ThresholdResult{{Workflow: "shop", Expr: "errors < 1%", OK: true}}}
	r.Workflows = merged(r.Datacenters)
	rows := f.Finish(r, Run{})
	want := []string{"window east/shop/home 50s-55s begun 4 in 4 users 7", "result east/shop/home 0s-0s begun 100 in 100 users 0", "threshold /shop/ 0s-0s"}
	if d := cmp.Diff(want, lines(rows)); d != "" {
		t.Fatal(d)
	}
	if last := rows[len(rows)-1]; last.Kind != RowRun || last.Run.Outcome != "COMPLETED" || last.Run.LostRequests != 30 || !last.Run.Ended.Equal(time.Unix(1055, 0)) {
		t.Fatalf("the last row is %+v", last.Run)
	}
}

// An attempt counts calls of functions, and a report lacks their own requests too.
func TestALostAttemptOfAFunction(t *testing.T) {
	of := func(at time.Duration, lost []message.LostAttempt, calls uint64) *message.JobStatus {
		s := outputtest.Status(at, lost, calls)
		flow := &s.Datacenters[0].Workflows[0]
		flow.Stats.Steps[0].Kind = message.StepFunction
		flow.Stats.Steps = append(flow.Stats.Steps, message.StepStats{Name: "home/a", Kind: message.StepPart, Started: 3 * calls, OK: 3 * calls})
		return s
	}
	f := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0))
	f.Apply(of(10*time.Second, nil, 60))
	got := lines(f.Apply(of(20*time.Second, []message.LostAttempt{{Started: 30}}, 30)))
	if d := cmp.Diff([]string{"lost east/shop/home 10s-20s begun 30 in 30 users 0", "lost east/shop/home/a 10s-20s begun 90 in 0 users 0"}, got); d != "" {
		t.Fatal(d)
	}
}

// A loss that others' requests have made up for explains no fall that follows.
func TestAnOldLossExplainsNoLaterFall(t *testing.T) {
	f, gone := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0)), []message.LostAttempt{{Started: 1000}}
	f.Apply(outputtest.Status(10*time.Second, nil, 2000))
	for _, step := range []struct {
		in   *message.JobStatus
		want []string
	}{
		{outputtest.Status(20*time.Second, gone, 2500), []string{"window east/shop/home 10s-20s begun 500 in 500 users 7"}},
		{outputtest.Status(30*time.Second, gone, 2000), nil}, // a manager has not heard of a worker
		{outputtest.Status(40*time.Second, gone, 3000), []string{"window east/shop/home 20s-40s begun 500 in 500 users 7"}},
	} {
		if d := cmp.Diff(step.want, lines(f.Apply(step.in))); d != "" {
			t.Fatalf("%v:\n%s", step.in.Elapsed, d)
		}
	}
}

// A report that lost precision has counts, and no distribution that nothing measured.
func TestBluntRows(t *testing.T) {
	f := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0))
	f.Apply(outputtest.Status(10*time.Second, nil, 100))
	s := outputtest.Status(20*time.Second, nil, 130)
	var coarse stats.Histogram
	coarse.RecordN(1_048_576, 130)
	s.Datacenters[0].Workflows[0].Stats.Steps[0].Latency = coarse.Wire()
	for range patience {
		if rows := f.Apply(s); len(rows) > 0 {
			t.Fatalf("a distribution that may return: %v", lines(rows))
		}
		s.Elapsed += 10 * time.Second
	}
	rows := f.Apply(s)
	if len(rows) != 2 {
		t.Fatalf("rows: %v", lines(rows))
	}
	for _, r := range rows {
		if r.Figures.Begun != 30 || !r.Figures.Blunt || r.Figures.Latency.Count != 0 {
			t.Fatalf("%s: %+v", line(&r), r.Figures)
		}
	}
}

// Rows of 60 s are sums of rows of 10 s, at the same boundaries.
func TestWindowsOfTwoLengths(t *testing.T) {
	short, long := New(message.JobOf("a"), "t.star", 10*time.Second, time.Unix(1000, 0)), New(message.JobOf("a"), "t.star", time.Minute, time.Unix(1000, 0))
	begun, minutes := uint64(0), 0
	for i := range 400 {
		s := outputtest.Status(time.Duration(i)*1100*time.Millisecond, nil, uint64(i*i))
		for _, r := range short.Apply(s) {
			if r.Kind == RowWindow && r.Datacenter == "" {
				begun += r.Figures.Begun
			}
		}
		for _, r := range long.Apply(s) {
			if r.Kind == RowWindow && r.Datacenter == "" {
				if minutes++; r.Figures.Begun != begun {
					t.Errorf("%s: rows of 10 s have %d", line(&r), begun)
				}
				begun = 0
			}
		}
	}
	if minutes != 7 {
		t.Errorf("%d minutes", minutes)
	}
}
