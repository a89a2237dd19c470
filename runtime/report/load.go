package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"hyperscale/core/load"
	"hyperscale/core/message"
)

// LoadOf says what a plan asks of a workflow. Every number is whole, so that equal texts are equal loads.
func LoadOf(w *message.WorkflowPlan) Load {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	open := load.Open(w)
	if open {
		add("%s", perTime(w.Rate, w.RatePer))
	}
	add("%d VUs", w.VUs)
	for _, s := range w.Stages {
		to := strconv.FormatUint(s.VUs, 10)
		if open {
			to = perTime(s.Rate, w.RatePer)
		}
		add("stage %v:%s", s.Duration, to)
	}
	switch {
	case w.UserIterations > 0:
		add("%d iterations each", w.UserIterations)
	case w.Iterations > 0:
		add("%d iterations", w.Iterations)
	case w.Duration == 0:
		add("one iteration each")
	}
	if w.Duration > 0 {
		add("%v", w.Duration)
	}
	if w.Poisson {
		add("poisson")
	}
	if w.Queue {
		add("queued")
	}
	if w.Think > 0 || w.ThinkMax > 0 {
		add("think %v to %v", w.Think, max(w.Think, w.ThinkMax))
	}
	for _, t := range []struct {
		name string
		is   time.Duration
	}{{"pace", w.Pace}, {"jitter", w.Jitter}, {"start delay", w.StartDelay}} {
		if t.is > 0 {
			add("%s %v", t.name, t.is)
		}
	}
	if w.Cores > 0 {
		add("%d cores", w.Cores)
	}
	return Load{Workflow: w.Name, Text: strings.Join(all, ", ")}
}

// perTime writes thousandths of an iteration in a time.
func perTime(thousandths uint64, per time.Duration) string {
	unit := "s"
	switch per {
	case time.Minute:
		unit = "m"
	case time.Hour:
		unit = "h"
	}
	return strconv.FormatFloat(float64(thousandths)/1000, 'f', -1, 64) + "/" + unit
}

// LoadSeen says what a workflow did, for results that do not say what was asked.
func LoadSeen(w *Workflow) string {
	took := time.Duration(w.DurationNS)
	if took > time.Minute {
		took = took.Round(time.Second)
	}
	return fmt.Sprintf("%d VUs, about %v", w.VUs, took.Round(100*time.Millisecond))
}
