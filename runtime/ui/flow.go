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

// flow is one workflow, merged over datacenters.
type flow struct {
	name     string
	planned  time.Duration
	late     time.Duration // how much later than elsewhere it began in a datacenter
	layer    uint32
	vus      uint64
	state    message.WorkflowState
	now      message.Stats
	base     message.Stats // at the last sample
	baseAt   time.Duration // the job's own clock then
	steps    []stepNow
	interval *stats.Histogram // latencies of the last sample, of all steps
	shares   []share
	bases    map[string]*message.Stats // shares at the last sample

	thresholds []message.Threshold
	judged     []judged // thresholds as they stand

	rate load.Curve // of an open workflow in one datacenter, in thousandths in per
	per  time.Duration
	open bool // iterations begin when they are due
	pace pace
	turn turn
}

// stepNow is what the screen shows of a step: sums since the start, and rate and quantiles of
// the last sample.
type stepNow struct {
	name                      string
	started, sent, ok, failed uint64 // failed holds what timed out
	rateMilli, failMilli      uint64
	p50, p95, p99             uint64
}

// promise takes over the plan's values.
func (f *flow) promise(w *message.WorkflowPlan) {
	f.planned, f.layer, f.vus, f.thresholds = w.Duration, w.Layer, w.VUs, w.Thresholds
	f.open, f.rate, f.per = load.Open(w), load.NewRate(w), cmp.Or(w.RatePer, time.Second)
	f.judge()
}

// whole is how long it is planned to send load, from where it began first to where it ends last.
func (f *flow) whole() time.Duration {
	if f.planned == 0 {
		return 0
	}
	return f.planned + f.late
}

// apply merges the datacenters' reports about this workflow.
func (f *flow) apply(s *message.JobStatus, name string) bool {
	var parts []stats.Begun
	f.shares, f.turn.waits = f.shares[:0], ""
	ended, state := true, message.WorkflowNone
	for d := range s.Datacenters {
		for w := range s.Datacenters[d].Workflows {
			part := &s.Datacenters[d].Workflows[w]
			if part.Name != name {
				continue
			}
			parts = append(parts, stats.Begun{At: part.Began, Stats: &part.Stats})
			f.shares = append(f.shares, share{s.Datacenters[d].Name, &part.Stats, part.Cores > 1})
			if !part.State.Terminal() {
				f.turn.waits = cmp.Or(f.turn.waits, part.Error)
			}
			ended = ended && part.State.Terminal()
			state = max(state, part.State)
		}
	}
	sum, _, late, err := stats.SumBegun(parts)
	if err != nil {
		return false // progress is for people's eyes; a broken part shows in the result
	}
	f.now, f.state, f.late = sum, state, late
	if state.Terminal() && !ended {
		f.state = message.WorkflowRunning
	}
	f.count()
	// The executors' clock is exact. It stands still while a lost share runs again next to one
	// that has ended; then the job's clock is used.
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
		if !f.now.CountsRequests(s) {
			continue
		}
		step := stepNow{name: s.Name}
		if at := slices.IndexFunc(old, func(o stepNow) bool { return o.name == s.Name }); at >= 0 {
			step = old[at]
		}
		step.started, step.sent, step.ok, step.failed = s.Started, s.Sent, s.OK, s.Failed+s.TimedOut
		f.steps = append(f.steps, step)
	}
}

// sample computes the figures since the last one.
func (f *flow) sample(took time.Duration) {
	f.interval = new(stats.Histogram)
	for i := range f.steps {
		step := &f.steps[i]
		now, base := find(&f.now, step.name), find(&f.base, step.name)
		step.rateMilli, step.failMilli = f.rates(step.name, took)
		since := difference(now.Latency, base.Latency)
		step.p50, step.p95, step.p99 = since.Quantile(500_000), since.Quantile(950_000), since.Quantile(990_000)
		f.interval.Merge(since)
	}
	f.pace.apply(told{f.now.Elapsed, f.now.Generator.Begun, f.now.Generator.Dropped})
	if f.open {
		var asked uint64
		for _, s := range f.shares {
			if s.now.Elapsed > 0 { // it has begun there
				asked += f.rate.At(max(0, s.now.Elapsed-took/2))
			}
		}
		f.pace.askedMilli = report.Rate(asked, f.per) / 1000
	}
	if f.state.Terminal() {
		f.pace.askedMilli, f.pace.begunMilli = 0, 0
	}
	f.judge()
	f.base = f.now
	clear(f.bases)
	for _, s := range f.shares {
		f.bases[s.place] = s.now
	}
}

// beginningsSpan is how long the rate of iterations looks back: no window has them, and executors
// tell of theirs at different times.
const beginningsSpan = 4 * time.Second

// pace is how many iterations are asked for and begun.
type pace struct {
	told                   []told // of the last beginningsSpan, oldest first
	askedMilli, begunMilli uint64 // a second in it
}

func (p *pace) apply(now told) {
	if n := len(p.told); n > 0 && p.told[n-1].at > now.at {
		p.told = nil // a lost attempt took its time with it
	}
	p.told = append(p.told, now)
	for len(p.told) > 2 && p.told[1].at <= now.at-beginningsSpan {
		p.told = p.told[1:]
	}
	var first told
	if len(p.told) > 1 {
		first = p.told[0]
	}
	begun, dropped := now.begun-min(now.begun, first.begun), now.dropped-min(now.dropped, first.dropped)
	p.askedMilli, p.begunMilli = report.Rate(begun+dropped, now.at-first.at), report.Rate(begun, now.at-first.at)
}

// askedOf is what was asked for: users that go round ask for nothing.
func (p *pace) askedOf(open bool) uint64 {
	if open {
		return p.askedMilli
	}
	return 0
}

// told is what a sample knew of iterations.
type told struct {
	at             time.Duration
	begun, dropped uint64
}

// rates add up what each datacenter did by its own clock: their news come at different
// times, and the sum of them at one time would jump.
func (f *flow) rates(step string, took time.Duration) (all, bad uint64) {
	for _, s := range f.shares {
		before := f.bases[s.place]
		if before == nil {
			before = &message.Stats{}
		}
		if ended, failed, ok := s.course(step); ok {
			all, bad = all+ended, bad+failed
			continue
		}
		since := s.now.Elapsed - before.Elapsed
		if since < sampleEvery/2 { // no news, or it began again
			since = took
		}
		now, base := find(s.now, step), find(before, step)
		failed, was := now.Failed+now.TimedOut, base.Failed+base.TimedOut
		ended, had := failed+now.OK, was+base.OK
		all += report.Rate(ended-min(ended, had), since)
		bad += report.Rate(failed-min(failed, was), since)
	}
	return all, bad
}

// share is one datacenter's report about a workflow.
type share struct {
	place string
	now   *message.Stats
	many  bool // several executors tell of it, each at its own time
}

// The newest windows of many executors lack what some have not told yet.
const (
	tellMax    = 1500 * time.Millisecond
	courseSpan = 2 * time.Second
)

// course is what ended and failed a second, in thousandths, by the windows' own time: reports of
// many executors arrive in bursts, and a rate over arrivals would jump.
func (s *share) course(step string) (all, bad uint64, ok bool) {
	w := find(s.now, step)
	list, err := stats.Intervals(w.Windows)
	until := s.now.Elapsed
	if s.many {
		until -= tellMax
	}
	if err != nil || w.Windows.Dropped || len(list) == 0 || until <= 0 {
		return 0, 0, false
	}
	width := w.Windows.Width
	until -= until % width
	from := max(0, until-max(courseSpan, 2*width))
	if until-from < sampleEvery/2 {
		return 0, 0, false
	}
	for i := range list {
		if in := &list[i]; in.Since >= from && in.Since+width <= until {
			all, bad = all+in.OK+in.Failed+in.TimedOut, bad+in.Failed+in.TimedOut
		}
	}
	return report.Rate(all, until-from), report.Rate(bad, until-from), true
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
	if base.Count == 0 {
		return n
	}
	if b, err := stats.FromWire(base); err == nil {
		return n.Sub(b)
	}
	return n
}
