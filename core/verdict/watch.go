package verdict

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Window is how far back a watched condition looks, and Step how often. A second is the
// shortest step that people can distinguish, and five of them are enough that one bad answer is
// no share of its own. A part's reports in its first Settling are no base: a new manager may
// not have received all of it yet.
const (
	Window   = 5 * time.Second
	Step     = time.Second
	Settling = 2 * time.Second
)

// Since returns what a histogram recorded after an earlier state of it; false if before is no
// earlier state.
type Since = func(now, before message.Histogram) (message.Histogram, bool, error)

// Part is the figures of one part of a workflow, as one node reports them: another node's
// reports have another base.
type Part struct {
	Name     string
	Teller   uint64
	Sequence uint64 // of the report: an equal one has nothing new
	Stats    message.Stats
	Every    time.Duration // how often the workers behind it report, if seldom
}

// settling is how long a new node may lack reports of workers: until each has come twice, as one may
// be under way when the time begins.
func (p *Part) settling() time.Duration { return max(Settling, 2*p.Every) }

// reach is how far back a condition looks: each worker has reported within it at least twice.
func reach(parts []Part) time.Duration {
	w := Window
	for i := range parts {
		w = max(w, 2*parts[i].Every)
	}
	return w
}

// Watch judges one condition while its workflow runs.
type Watch struct {
	plan   message.AbortPlan
	last   node.Instant // when it last looked
	tracks []track      // of the parts that ran then
	holds  bool         // the condition, since the next field
	since  node.Instant
	known  node.Instant // when it last judged anything
}

// track holds a part's reports.
type track struct {
	name             string
	teller, sequence uint64
	born             node.Instant
	samples          []sample // ascending, the first at most a step older than the window
}

// sample is the state of the figures at one time.
type sample struct {
	at    node.Instant
	stats message.Stats // reduced
}

// NewWatch returns a watch of a condition without any figures yet.
func NewWatch(plan message.AbortPlan) *Watch { return &Watch{plan: plan} }

// reduce keeps the figures of a workflow that the condition reads.
func (w *Watch) reduce(s *message.Stats) message.Stats {
	t := &w.plan.When
	var out message.Stats
	for i := range s.Steps {
		step := &s.Steps[i]
		if !t.Looks(step.Name) {
			continue
		}
		kept := message.StepStats{Name: step.Name, Kind: step.Kind, OK: step.OK, Failed: step.Failed, TimedOut: step.TimedOut}
		switch t.Of {
		case message.OfLatency:
			kept.Latency = step.Latency
		case message.OfService:
			kept.Service = step.Service
		case message.OfMetric, message.OfRate:
			kept.Metric = step.Metric
		case message.OfPhase:
			kept.Phases = []message.PhaseTimes{{Phase: t.Phase, Time: times(t, step)}}
		case message.OfMeasure, message.OfAmount:
			kept.Measures.List = []message.Measure{{Name: t.Measure, Kind: message.MeasureTimes, Times: times(t, step)}}
		case message.OfCount:
			kept.Started = step.Started
			if m := measure(t, step); m != nil {
				kept.Measures.List = []message.Measure{{Name: m.Name, Kind: m.Kind, Count: m.Count}}
			}
		}
		out.Steps = append(out.Steps, kept)
	}
	return out
}

// Due reports whether Observe would look.
func (w *Watch) Due(now node.Instant) bool { return w.last == 0 || now.Sub(w.last) >= Step }

// Observe takes the figures of all running parts, about once a step. It reports whether the
// condition has held for its time, and its current value.
//
// It judges what arrived in the last Window, of all parts, or in a longer one where workers report
// seldom. While one of them reports nothing
// new, or not for long enough yet, it judges nothing. When a count falls (an attempt was lost
// with its reports), a new window begins. While no request ends, there is nothing to judge
// except a rate, which is zero then. A condition that could not be judged for twice the window
// starts over.
func (w *Watch) Observe(now node.Instant, parts []Part, q Quantile, since Since) (value int64, held bool, err error) {
	if !w.Due(now) || w.stale(parts) {
		return 0, false, nil
	}
	w.last = now
	window := reach(parts)
	whole := len(parts) > 0
	var passed time.Duration
	var all []*message.Stats
	tracks := make([]track, len(parts))
	for i := range parts {
		t := &tracks[i]
		*t = w.follow(now, &parts[i], window)
		first := &t.samples[0]
		fresh, ok, err := between(&t.samples[len(t.samples)-1].stats, &first.stats, since)
		if err != nil || !ok {
			t.samples = t.samples[len(t.samples)-1:]
			whole = false
			continue
		}
		whole = whole && now.Sub(first.at) >= window
		passed = max(passed, now.Sub(first.at))
		all = append(all, &fresh)
	}
	w.tracks = tracks
	if !whole {
		return 0, false, nil
	}
	sum, err := add(all)
	if err != nil {
		return 0, false, err
	}
	f, err := compute(&w.plan.When, &sum, passed, q)
	if err != nil {
		return 0, false, err
	}
	if f.over == 0 && w.plan.When.Of == message.OfRate {
		f = fraction{0, 1, 1}
	}
	if f.over == 0 {
		return 0, false, nil
	}
	w.judge(now, f.holds(w.plan.When.Op, w.plan.When.Bound), window)
	return f.value(), w.holds && now.Sub(w.since) >= w.plan.For, nil
}

func (w *Watch) find(name string) int {
	return slices.IndexFunc(w.tracks, func(t track) bool { return t.name == name })
}

// stale reports that a part has reported nothing since the last look.
func (w *Watch) stale(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool {
		at := w.find(p.Name)
		return at >= 0 && w.tracks[at].teller == p.Teller && w.tracks[at].sequence == p.Sequence
	})
}

// follow adds a part's current report to its earlier ones.
func (w *Watch) follow(now node.Instant, p *Part, window time.Duration) track {
	s := w.reduce(&p.Stats)
	t := track{name: p.Name, teller: p.Teller, born: now}
	if at := w.find(p.Name); at >= 0 && w.tracks[at].teller == p.Teller {
		t = w.tracks[at]
	}
	t.sequence = p.Sequence
	if n := len(t.samples); n > 0 && fell(&s, &t.samples[n-1].stats) {
		t.born = now
	}
	if now.Sub(t.born) < p.settling() {
		t.samples = nil
	}
	t.samples = append(t.samples, sample{now, s})
	for len(t.samples) > 1 && now.Sub(t.samples[1].at) >= window {
		t.samples = t.samples[1:]
	}
	return t
}

// add sums the figures of parts, by the names of steps.
func add(parts []*message.Stats) (message.Stats, error) {
	var out message.Stats
	for _, p := range parts {
		for i := range p.Steps {
			from := &p.Steps[i]
			at := slices.IndexFunc(out.Steps, func(s message.StepStats) bool { return s.Name == from.Name })
			if at < 0 {
				out.Steps = append(out.Steps, *from)
				continue
			}
			to := &out.Steps[at]
			to.OK, to.Failed, to.TimedOut = to.OK+from.OK, to.Failed+from.Failed, to.TimedOut+from.TimedOut
			for _, h := range []struct{ to, from *message.Histogram }{{&to.Latency, &from.Latency}, {&to.Service, &from.Service}, {&to.Metric, &from.Metric}} {
				var err error
				if *h.to, err = merge([]message.Histogram{*h.to, *h.from}); err != nil {
					return out, err
				}
			}
		}
	}
	return out, nil
}

func (w *Watch) judge(now node.Instant, holds bool, window time.Duration) {
	if holds && (!w.holds || now.Sub(w.known) > 2*window) {
		w.since = now
	}
	w.holds, w.known = holds, now
}

// fell reports that a count is lower than before.
func fell(now, before *message.Stats) bool {
	for i := range before.Steps {
		b := &before.Steps[i]
		at := slices.IndexFunc(now.Steps, func(n message.StepStats) bool { return n.Name == b.Name })
		if at < 0 || now.Steps[at].OK < b.OK || now.Steps[at].Failed < b.Failed || now.Steps[at].TimedOut < b.TimedOut {
			return true
		}
	}
	return false
}

// between returns what was counted after before; false if a histogram is no later state.
func between(now, before *message.Stats, since Since) (message.Stats, bool, error) {
	out := message.Stats{Steps: make([]message.StepStats, len(now.Steps))}
	for i := range now.Steps {
		n, o := &now.Steps[i], &message.StepStats{}
		if at := slices.IndexFunc(before.Steps, func(b message.StepStats) bool { return b.Name == n.Name }); at >= 0 {
			o = &before.Steps[at]
		}
		d := &out.Steps[i]
		d.Name, d.Kind, d.OK, d.Failed, d.TimedOut = n.Name, n.Kind, n.OK-o.OK, n.Failed-o.Failed, n.TimedOut-o.TimedOut
		pairs := []struct{ to, now, before *message.Histogram }{{&d.Latency, &n.Latency, &o.Latency}, {&d.Service, &n.Service, &o.Service}, {&d.Metric, &n.Metric, &o.Metric}}
		d.Phases = make([]message.PhaseTimes, len(n.Phases)) // reduce keeps one, of every step
		for k := range n.Phases {
			before := new(message.Histogram)
			if k < len(o.Phases) {
				before = &o.Phases[k].Time
			}
			d.Phases[k].Phase = n.Phases[k].Phase
			pairs = append(pairs, struct{ to, now, before *message.Histogram }{&d.Phases[k].Time, &n.Phases[k].Time, before})
		}
		d.Started = n.Started - min(n.Started, o.Started)
		d.Measures.List = make([]message.Measure, len(n.Measures.List)) // reduce keeps one, of every step
		for k := range n.Measures.List {
			to, now, before := &d.Measures.List[k], &n.Measures.List[k], new(message.Measure)
			if k < len(o.Measures.List) {
				before = &o.Measures.List[k]
			}
			if now.Count < before.Count {
				return out, false, nil
			}
			to.Name, to.Kind, to.Count = now.Name, now.Kind, now.Count-before.Count
			pairs = append(pairs, struct{ to, now, before *message.Histogram }{&to.Times, &now.Times, &before.Times})
		}
		for _, h := range pairs {
			var ok bool
			var err error
			if *h.to, ok, err = since(*h.now, *h.before); !ok || err != nil {
				return out, false, err
			}
		}
	}
	return out, true, nil
}

// Text formats a value for users, in the unit of its threshold.
func Text(of message.ThresholdOf, value int64) string {
	switch of {
	case message.OfLatency, message.OfService, message.OfPhase, message.OfMeasure:
		return time.Duration(value).Round(time.Microsecond).String()
	case message.OfErrors, message.OfChecks:
		return fmt.Sprintf("%d.%02d%%", value/10_000, value%10_000/100)
	case message.OfRate:
		return fmt.Sprintf("%d.%03d/s", value/1000, value%1000)
	}
	return fmt.Sprintf("%d.%03d", value/1000, value%1000)
}
