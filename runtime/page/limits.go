package page

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"hyperscale/core/message"
	"hyperscale/core/workflow/demand"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// sizeMax is how long a page is at most.
const sizeMax = 1 << 20

// limits bound what a page shows, for any author of the result. Each bounds one list at one
// place, except details and source, which bound the whole page.
type limits struct {
	workflows int // shown whole
	rows      int // of any table
	details   int // steps with charts of their own
	points    int // of a chart of a workflow
	few       int // of a chart of a step
	name      int // characters of a name
	text      int // characters of an example, a reason or a line of a log
	source    int // bytes of source
}

func generous() limits {
	return limits{workflows: 20, rows: 100, details: 40, points: 600, few: 200, name: 120, text: 500, source: 128 << 10}
}

// harder halves what makes a page long.
func (l limits) harder() limits {
	half := func(n, least int) int { return max(n/2, least) }
	return limits{
		workflows: half(l.workflows, 1), rows: half(l.rows, 5), details: l.details / 2, points: half(l.points, 50), few: half(l.few, 50),
		name: half(l.name, 30), text: half(l.text, 60), source: l.source / 2,
	}
}

// limitsMost is how many thresholds a chart draws.
const limitsMost = 6

// limit is a threshold that a chart draws as a line.
type limit struct {
	of     message.ThresholdOf
	step   string // empty: of all, or of a group
	text   string
	bound  int64
	missed bool
}

// limitsOf reads a workflow's thresholds, those that were missed first. One that cannot be read has no line.
func (d *drawer) limitsOf(w *report.Workflow) (all []limit) {
	var known demand.Judged
	add := func(kind message.StepKind, name string) {
		known.Steps = append(known.Steps, message.StepPlan{Name: name, Kind: kind})
	}
	for i := range w.Steps {
		add(message.StepRequest, w.Steps[i].Name)
	}
	for i := range w.Checks {
		add(message.StepCheck, w.Checks[i].Name)
	}
	for i := range w.Metrics {
		add(message.StepMetric, w.Metrics[i].Name)
	}
	for i := range d.result.Thresholds {
		one := &d.result.Thresholds[i]
		if one.Workflow != w.Name {
			continue
		}
		t, fault := demand.ParseThreshold(one.Expr, known)
		if fault == nil && (t.Of != message.OfLatency || t.Statistic == message.StatQuantile) {
			all = append(all, limit{t.Of, t.Step, d.named(one.Expr), t.Bound, !one.OK})
		}
	}
	slices.SortStableFunc(all, func(a, b limit) int {
		switch {
		case a.missed == b.missed:
			return 0
		case a.missed:
			return -1
		}
		return 1
	})
	return all
}

// only are the thresholds of one kind; ofStep those of one step.
func only(all []limit, of message.ThresholdOf) []limit {
	return slices.DeleteFunc(slices.Clone(all), func(l limit) bool { return l.of != of })
}

func ofStep(all []limit, step string) []limit {
	return slices.DeleteFunc(slices.Clone(all), func(l limit) bool { return l.step != step })
}

// first is the beginning of a list that may be too long.
func first[T any](all []T, most int) []T { return all[:min(len(all), most)] }

// more names how many entries a list omits, or "".
func more(all, most int, noun string) string {
	if all <= most {
		return ""
	}
	return fmt.Sprintf("and %s more: --out json=FILE keeps all", units.Counted(uint64(all-most), noun))
}

// short cuts text to so many characters, and shows that it did.
func short(s string, most int) string {
	if len(s) > most*utf8.UTFMax { // of a text of megabytes the rest is not looked at
		s = s[:most*utf8.UTFMax+1]
	}
	return units.Shorten(units.Clean(s), most)
}

func (l limits) named(s string) string { return short(s, l.name) }
func (l limits) told(s string) string  { return short(s, l.text) }
