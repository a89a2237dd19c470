package ui

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

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
			p.FailMilli += s.failMilli
		}
		all.Merge(f.interval)
		p.of(f.open).add(Course{f.now.Active, f.pace.begunMilli, f.pace.askedOf(f.open)})
	}
	p.P50, p.P95, p.P99 = all.Quantile(500_000), all.Quantile(950_000), all.Quantile(990_000)
	return p
}

// of is the course of one kind of workflows.
func (p *Point) of(open bool) *Course {
	if open {
		return &p.Open
	}
	return &p.Closed
}

// Now is the newest point, zero before the first.
func (m *Model) Now() Point {
	if len(m.Points) == 0 {
		return Point{}
	}
	return m.Points[len(m.Points)-1]
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

// begun counts the requests that left the generator: those sent, if the engine counts them,
// otherwise those started. word names the figure.
func (m *Model) begun() (n uint64, word string) {
	for _, f := range m.flows {
		for _, s := range f.steps {
			n += s.sent
		}
	}
	if n > 0 {
		return n, "sent"
	}
	n, _, _ = m.Sums()
	return n, "started"
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
			sent := min(f.now.Elapsed, f.whole())
			if f.state.Terminal() {
				sent = f.whole()
			}
			layerDone, layerPlanned = max(layerDone, sent), max(layerPlanned, f.whole())
		}
		done, planned = done+layerDone, planned+layerPlanned
	}
	return done, planned
}

// clock is how long load was sent, layer after layer.
func (m *Model) clock() (sum time.Duration) {
	layers := map[uint32]time.Duration{}
	for _, f := range m.flows {
		layers[f.layer] = max(layers[f.layer], f.now.Elapsed)
	}
	//lint:orderfree a sum
	for _, d := range layers {
		sum += d
	}
	return sum
}

// span is the time that plots show: the whole run, or so much of its end that a point
// has two dots.
func (m *Model) span(recent bool, width int) (from, to time.Duration) {
	_, planned := m.Progress()
	at := time.Duration(0)
	if n := len(m.Points); n > 0 {
		at = m.Points[n-1].At
	}
	if recent {
		return max(0, at-time.Duration(width/2)*sampleEvery), max(at, sampleEvery)
	}
	return 0, max(planned, at, sampleEvery)
}

// generator sums up how well the load was made, and names what held it, if something did.
func (m *Model) generator() (busy uint32, lag *stats.Histogram, trouble string) {
	lag = new(stats.Histogram)
	for _, f := range m.flows {
		g := &f.now.Generator
		lag.Merge(difference(g.Lag, message.Histogram{}))
		busy = max(busy, g.BusyMax)
		switch {
		case g.Usage.Throttles > 0:
			trouble = "throttled"
		case trouble == "throttled":
		case g.Saturated:
			trouble = "saturated"
		case trouble == "saturated":
		case g.Starved:
			trouble = "starved"
		case g.Late && trouble == "":
			trouble = "late"
		}
	}
	return busy, lag, trouble
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
		return "number " + units.Count(uint64(m.Position)) + " in the queue" + because(m.Reason)
	case m.Reason != "":
		return units.Clean(m.Reason)
	}
	return ""
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + units.Clean(reason)
}

// Figures are a job's workflows as the screen shows them: sums since the start, and rates and
// quantiles of the last sample.
type Figures struct {
	Workflow string
	State    message.WorkflowState
	Planned  time.Duration // how long it is to send load; 0: not known
	Users    uint64        // virtual users now
	Steps    []StepFigures
	Judged   []Judged // its thresholds
}

// StepFigures are those of one step.
type StepFigures struct {
	Name                 string
	Started, OK, Failed  uint64 // Failed holds what timed out
	RateMilli, FailMilli uint64 // requests that ended, and that failed, a second, in thousandths
	P50, P95, P99        uint64 // nanoseconds
}

// Judged is a threshold as if the run ended now.
type Judged struct {
	report.Threshold
	Known bool // something happened that it can be judged by
}

// Figures returns those of all workflows, in the order in which the plan or the statuses name them.
func (m *Model) Figures() (all []Figures) {
	for _, f := range m.flows {
		one := Figures{Workflow: f.name, State: f.state, Planned: f.whole(), Users: f.now.Active}
		for _, s := range f.steps {
			one.Steps = append(one.Steps, StepFigures{s.name, s.started, s.ok, s.failed, s.rateMilli, s.failMilli, s.p50, s.p95, s.p99})
		}
		for _, j := range f.judged {
			one.Judged = append(one.Judged, Judged{j.Threshold, j.known})
		}
		all = append(all, one)
	}
	return all
}
