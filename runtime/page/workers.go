package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// hands are the workers of a datacenter, folded unless one of them is in trouble.
type hands struct {
	Name, Line string
	Open       bool
	Table      table
}

func (d *drawer) hands(place string, all []report.Worker) hands {
	out := hands{Name: d.named(place)}
	out.Table = table{
		Caption: "Workers", Head: heads("worker", "state", "#cores", "#virtual users", "#started", "#ok", "#failed", "#timed out", "#a second", "#late, 99%", "#busiest second"),
		More: more(len(all), d.rows, "row"), Note: "What each did of the requests. Starts that were late count in the latency; a loop that is busy all the time makes them late.",
	}
	var workers, lost, saturated uint64
	for i := range all {
		w := &all[i]
		workers += uint64(max(w.Others, 1))
		if w.Lost > 0 {
			lost++
		}
		if w.Saturated {
			saturated++
		}
	}
	for i := range first(all, d.rows) {
		out.Table.Rows = append(out.Table.Rows, d.hand(&all[i]))
	}
	out.Line = units.Counted(workers, "worker")
	if lost > 0 {
		out.Line += ", attempts lost on " + units.Count(lost)
	}
	if saturated > 0 {
		out.Line += ", " + units.Count(saturated) + " saturated"
	}
	out.Open = lost+saturated > 0
	return out
}

// hand is the row of one worker.
func (d *drawer) hand(w *report.Worker) []cell {
	name := cell{Text: d.named(w.Name)}
	if w.Name == "" {
		name.Text = units.Count(uint64(w.Others)) + " more"
	}
	state := cell{Text: d.named(w.State)}
	switch {
	case w.State == message.WorkerLost.String():
		state.Class = bad
	case w.Lost > 0:
		state.Class, state.Under = warn, units.Counted(uint64(w.Lost), "attempt")+" lost"
	}
	cores := cell{Text: units.Count(uint64(w.Cores))}
	if w.CoresTotal > 0 {
		cores.Under = "of " + units.Count(uint64(w.CoresTotal))
	}
	late, busy := cell{Text: "–"}, cell{Text: "–"}
	if w.Started > 0 {
		busy.Text = fmt.Sprintf("%d%%", w.BusyMaxPPM/10_000)
		if w.Name != "" {
			late.Text = units.Latency(w.LateP99NS)
		}
	}
	if w.Saturated {
		busy.Class, busy.Under = warn, "saturated"
	}
	return []cell{name, state, cores, {Text: units.Count(w.VUs)}, {Text: units.Count(w.Started)}, {Text: units.Count(w.OK)}, alarm(w.Failed, bad), alarm(w.TimedOut, bad),
		{Text: units.Milli(w.RateMilli)}, late, busy}
}

// marksMost bounds the marks of a chart.
const marksMost = 100

// marksOf are a workflow's losses of workers and datacenters, and the times at which sinks were behind.
func (d *drawer) marksOf(w *report.Workflow) (all []mark) {
	placed := 0
	for _, name := range slices.Sorted(maps.Keys(d.result.Datacenters)) {
		for _, one := range d.result.In(name) {
			if one.Name != w.Name || !one.Began() {
				continue
			}
			since := max(0, one.BeganNS-w.BeganNS) // times of a datacenter count from its own begin
			for i := range one.Lost {
				all = append(all, mark{kind: "lost", at: since + one.Lost[i].UntilNS})
				placed++
			}
			if d.result.Datacenters[name].Outcome == message.JobFailed.String() && len(d.result.Datacenters) > 1 {
				all = append(all, mark{kind: "lost", at: since + one.DurationNS})
			}
		}
	}
	if placed == 0 {
		for i := range w.Lost {
			all = append(all, mark{kind: "lost", at: w.Lost[i].UntilNS})
		}
	}
	for i := range d.result.Sinks {
		for _, l := range d.result.Sinks[i].Late {
			if from, until := l.FromNS-w.BeganNS, l.UntilNS-w.BeganNS; until > 0 && from < w.DurationNS {
				all = append(all, mark{"sink", max(0, from), min(until, w.DurationNS)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	return first(all, marksMost)
}

var signs = map[string]string{good: "✓ ", warn: "! ", bad: "✗ "}

// sinks has a row for each sink of the cluster that got the job's rows.
func (d *drawer) sinks() table {
	t := table{
		Caption: "Sinks", Head: heads("sink", "state", "#rows delivered", "#through", "#late by", "#lost", "#rejected", "#perhaps twice", "why"), More: more(len(d.result.Sinks), d.rows, "sink"),
		Note: "Places that the gates deliver the rows of this job to, as far as they were when the result was fetched. What is late still comes; what is lost or rejected does not.",
	}
	for i := range first(d.result.Sinks, d.rows) {
		s := &d.result.Sinks[i]
		word, health := s.State()
		through, late := cell{Text: "–"}, cell{Text: "–"}
		switch {
		case s.Done:
			through.Text = "the end"
		case s.ThroughNS > 0:
			through.Text = units.Duration(time.Duration(s.ThroughNS))
		}
		if s.BehindNS > 0 {
			late.Text = units.Duration(time.Duration(s.BehindNS))
		}
		var times []string
		for _, l := range s.Late {
			times = append(times, units.Duration(time.Duration(l.FromNS))+" to "+units.Duration(time.Duration(l.UntilNS)))
		}
		if len(times) > 0 {
			late.Under = "was late " + strings.Join(first(times, 3), ", ")
		}
		t.Rows = append(t.Rows, []cell{
			{Text: d.named(s.Name), Under: d.named(s.Kind)}, {Text: signs[health] + word, Class: health}, {Text: units.Count(s.Delivered)}, through, late,
			alarm(s.Lost, bad), alarm(s.Rejected, bad), alarm(s.PerhapsTwice, warn), {Text: cmp.Or(d.told(s.Why()), "–"), Class: "wide"},
		})
	}
	return t
}
