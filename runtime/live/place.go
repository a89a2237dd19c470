package live

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/ui/units"
)

// newestSpan is how far figures of now look back.
const newestSpan = 2 * time.Second

// placeOf is the part of one datacenter.
func placeOf(d *message.DatacenterResult, parts []part, origin time.Duration, all uint64) Place {
	out := Place{Name: short(d.Name), State: d.State.String(), Workers: []Worker{}}
	var waits []string
	lost := 0
	for i := range d.Workflows {
		w := &d.Workflows[i]
		started, _, failed := w.Stats.Requests()
		out.Started, out.Failed = out.Started+started, out.Failed+failed
		lost += len(w.Lost)
		if !w.State.Terminal() {
			out.Users += w.Stats.Active
		}
		if w.Error != "" && w.Error != d.Error && !slices.Contains(waits, w.Error) {
			waits = append(waits, w.Error)
		}
	}
	if all > 0 {
		out.SharePPM = uint64(float64(out.Started) / float64(all) * 1e6)
	}
	mine := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.place != d.Name })
	if slices.ContainsFunc(mine, func(p part) bool { return p.running }) {
		course := courseOf(mine, origin)
		out.RateMilli, out.P99 = course.newest(newestSpan)
	}
	saturated := 0
	for i := range d.Workers {
		w := &d.Workers[i]
		if w.Saturated {
			saturated++
		}
		out.Workers = append(out.Workers, Worker{
			Name: short(w.Node), Others: w.Others, State: w.State.String(), Cores: w.Cores, Users: w.Active, Started: w.Started, Failed: w.Failed + w.TimedOut,
			Lost: w.Lost, LateP99NS: int64(w.Late), BusyMaxPPM: w.BusyMax, Saturated: w.Saturated,
		})
	}
	out.Health = healthOf(d.State, lost+saturated > 0)
	out.Waits = waitsText(d, waits, lost, saturated)
	return out
}

// healthOf is good, warn or bad: a class of page.css.
func healthOf(s message.JobState, trouble bool) string {
	switch {
	case s == message.JobFailed || s == message.JobTimedOut:
		return "bad"
	case trouble || s == message.JobCancelled || s == message.JobPartial:
		return "warn"
	}
	return "good"
}

// waitsText says what a datacenter waits for, why it ended so, or what is wrong with it.
func waitsText(d *message.DatacenterResult, waits []string, lost, saturated int) string {
	var text string
	add := func(more string) {
		if more == "" {
			return
		}
		if text != "" {
			text += "; "
		}
		text += more
	}
	add(d.Error)
	for _, w := range waits {
		add(w)
	}
	if lost > 0 {
		add(units.Counted(uint64(lost), "attempt") + " lost")
	}
	if saturated > 0 {
		add(units.Counted(uint64(saturated), "worker") + " saturated")
	}
	if d.Every > 2*time.Second {
		add("figures come every " + units.Duration(d.Every))
	}
	return short(text)
}
