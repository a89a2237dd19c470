package ui

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/load"
	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// Bounds of what is kept while a job runs.
const (
	// sampleEvery is how much of the executors' time a figure of "now" covers. Less
	// jumps with every burst, more hides a stall.
	sampleEvery = time.Second
	pointsMax   = 600
)

// Model is a job as its statuses have told it so far.
type Model struct {
	Name     string
	State    message.JobState
	Reason   string
	Position uint32
	Elapsed  time.Duration // since it was accepted
	Points   []Point       // of the whole job, one a sample, oldest first
	flows    []*flow
	sequence uint64
}

// Point is one interval of the whole job.
type Point struct {
	RateMilli uint64 // requests that ended, a second, in thousandths
	P50, P99  uint64 // of the latencies in it, in nanoseconds
}

// flow is one workflow, merged over datacenters.
type flow struct {
	name     string
	planned  time.Duration
	layer    uint32
	vus      uint64
	state    message.WorkflowState
	now      message.Stats
	base     message.Stats // at the last sample
	baseAt   time.Duration // the job's own clock then
	steps    []stepNow
	interval *stats.Histogram // latencies of the last sample, of all steps

	rate                   load.Curve // of an open workflow in one datacenter, in thousandths in per
	per                    time.Duration
	open                   bool   // passes begin when they are due
	parts                  uint64 // datacenters that run it
	askedMilli, begunMilli uint64 // passes a second in the last sample
}

// stepNow is what is shown of a step: sums since the start, rate and quantiles of
// the last sample.
type stepNow struct {
	name                string
	started, ok, failed uint64 // failed holds what timed out
	rateMilli           uint64
	p50, p99            uint64
}

// NewModel begins with what the plan promises.
func NewModel(name string, plan *message.Plan) *Model {
	m := &Model{Name: name}
	for _, w := range plan.Workflows {
		m.flows = append(m.flows, &flow{name: w.Name, planned: w.Duration, layer: w.Layer, vus: w.VUs, interval: new(stats.Histogram), open: load.Open(&w), rate: load.NewRate(&w), per: cmp.Or(w.RatePer, time.Second)})
	}
	return m
}

// Apply folds one status in; it says whether figures of a new interval came of it.
// Statuses may come twice and out of order.
func (m *Model) Apply(s *message.JobStatus) bool {
	if s.Sequence < m.sequence {
		return false
	}
	m.sequence = s.Sequence
	m.State, m.Reason, m.Position, m.Elapsed = s.State, s.Reason, s.Position, s.Elapsed
	if m.Name == "" {
		m.Name = s.Name
	}
	sampled := false
	for _, name := range m.names(s) {
		sampled = m.flow(name).apply(s, name) || sampled
	}
	if sampled {
		m.Points = append(m.Points, m.point())
		m.Points = m.Points[max(0, len(m.Points)-pointsMax):]
	}
	return sampled
}

// names are the workflows of a status, each once, in order.
func (m *Model) names(s *message.JobStatus) []string {
	var names []string
	for _, d := range s.Datacenters {
		for _, w := range d.Workflows {
			if !slices.Contains(names, w.Name) {
				names = append(names, w.Name)
			}
		}
	}
	return names
}

func (m *Model) flow(name string) *flow {
	for _, f := range m.flows {
		if f.name == name {
			return f
		}
	}
	f := &flow{name: name, interval: new(stats.Histogram)} // watched without its plan
	m.flows = append(m.flows, f)
	return f
}

// apply merges what the datacenters tell of this workflow.
func (f *flow) apply(s *message.JobStatus, name string) bool {
	var parts []*message.Stats
	ended, state := true, message.WorkflowNone
	for d := range s.Datacenters {
		for w := range s.Datacenters[d].Workflows {
			part := &s.Datacenters[d].Workflows[w]
			if part.Name != name {
				continue
			}
			parts = append(parts, &part.Stats)
			ended = ended && part.State.Terminal()
			state = max(state, part.State)
		}
	}
	sum, err := stats.Sum(parts)
	if err != nil {
		return false // progress is for people's eyes; a broken part shows in the result
	}
	f.now, f.state, f.parts = sum, state, uint64(len(parts))
	if state.Terminal() && !ended {
		f.state = message.WorkflowRunning
	}
	f.count()
	// The executors' clock is exact. It stands still while a lost share runs again
	// beside one that has ended; then the job's clock has to do.
	took := sum.Elapsed - f.base.Elapsed
	if late := s.Elapsed - f.baseAt; took < sampleEvery && late >= 2*sampleEvery && !f.state.Terminal() {
		took = late
	}
	if took < sampleEvery {
		return false
	}
	f.sample(took)
	f.baseAt = s.Elapsed
	return true
}

// count takes over the sums.
func (f *flow) count() {
	old := f.steps
	f.steps = nil
	for i := range f.now.Steps {
		s := &f.now.Steps[i]
		if s.Kind != message.StepRequest && s.Kind != message.StepFunction {
			continue
		}
		step := stepNow{name: s.Name}
		if at := slices.IndexFunc(old, func(o stepNow) bool { return o.name == s.Name }); at >= 0 {
			step = old[at]
		}
		step.started, step.ok, step.failed = s.Started, s.OK, s.Failed+s.TimedOut
		f.steps = append(f.steps, step)
	}
}

// sample computes the figures since the last one.
func (f *flow) sample(took time.Duration) {
	f.interval = new(stats.Histogram)
	for i := range f.steps {
		step := &f.steps[i]
		now, base := find(&f.now, step.name), find(&f.base, step.name)
		ended := now.OK + now.Failed + now.TimedOut
		before := base.OK + base.Failed + base.TimedOut
		step.rateMilli = report.Rate(ended-min(ended, before), took)
		since := difference(now.Latency, base.Latency)
		step.p50, step.p99 = since.Quantile(500_000), since.Quantile(990_000)
		f.interval.Merge(since)
	}
	now, base := f.now.Generator, f.base.Generator
	begun, dropped := now.Begun-min(now.Begun, base.Begun), now.Dropped-min(now.Dropped, base.Dropped)
	f.askedMilli, f.begunMilli = report.Rate(begun+dropped, took), report.Rate(begun, took)
	if f.open {
		f.askedMilli = report.Rate(f.rate.At(f.now.Elapsed-took/2)*f.parts, f.per) / 1000
	}
	if f.state.Terminal() {
		f.askedMilli, f.begunMilli = 0, 0
	}
	f.base = f.now
}

func find(s *message.Stats, name string) *message.StepStats {
	for i := range s.Steps {
		if s.Steps[i].Name == name {
			return &s.Steps[i]
		}
	}
	return &message.StepStats{}
}

func difference(now, base message.Histogram) *stats.Histogram {
	n, err := stats.FromWire(now)
	if err != nil {
		return new(stats.Histogram)
	}
	if b, err := stats.FromWire(base); err == nil {
		return n.Sub(b)
	}
	return n
}

// point is the newest interval of all workflows that run.
func (m *Model) point() Point {
	var p Point
	all := new(stats.Histogram)
	for _, f := range m.flows {
		if f.state.Terminal() {
			continue
		}
		for _, s := range f.steps {
			p.RateMilli += s.rateMilli
		}
		all.Merge(f.interval)
	}
	p.P50, p.P99 = all.Quantile(500_000), all.Quantile(990_000)
	return p
}

// Now is the newest point, zero before the first.
func (m *Model) Now() Point {
	if len(m.Points) == 0 {
		return Point{}
	}
	return m.Points[len(m.Points)-1]
}

// answered says that some latency was measured: there is something to plot.
func (m *Model) answered() bool {
	return slices.ContainsFunc(m.Points, func(p Point) bool { return p.P99 > 0 })
}

// Active is how many virtual users run.
func (m *Model) Active() (n uint64) {
	for _, f := range m.flows {
		if !f.state.Terminal() {
			n += f.now.Active
		}
	}
	return n
}

// Sums are the counts of all measured steps.
func (m *Model) Sums() (started, ok, failed uint64) {
	for _, f := range m.flows {
		for _, s := range f.steps {
			started, ok, failed = started+s.started, ok+s.ok, failed+s.failed
		}
	}
	return started, ok, failed
}

// Progress is how much of the planned load has been sent, in time: the longest
// workflow of each layer counts, since the next layer waits for it.
func (m *Model) Progress() (done, planned time.Duration) {
	for layer := range uint32(len(m.flows)) {
		var layerDone, layerPlanned time.Duration
		for _, f := range m.flows {
			if f.layer != layer {
				continue
			}
			sent := min(f.now.Elapsed, f.planned)
			if f.state.Terminal() {
				sent = f.planned
			}
			layerDone, layerPlanned = max(layerDone, sent), max(layerPlanned, f.planned)
		}
		done, planned = done+layerDone, planned+layerPlanned
	}
	return done, planned
}

// failureNow is one kind of failure so far.
type failureNow struct {
	step string
	message.ErrorCount
}

// failures are the kinds so far, the most frequent first.
func (m *Model) failures() []failureNow {
	var all []failureNow
	for _, f := range m.flows {
		for _, s := range f.now.Steps {
			for _, e := range s.Errors {
				all = append(all, failureNow{s.Name, e})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b failureNow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.step, b.step), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// waiting says what a job that does not run yet waits for.
func (m *Model) waiting() string {
	switch {
	case m.Position > 0:
		return "number " + Count(uint64(m.Position)) + " in the queue" + because(m.Reason)
	case m.Reason != "":
		return Clean(m.Reason)
	}
	return ""
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + Clean(reason)
}
