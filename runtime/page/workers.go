package page

import (
	"fmt"

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
