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
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// workflow is one workflow's part of the page.
type workflow struct {
	Name, Line string
	Order      []string // in which its steps begin; nil for a plain list
	Class      string   // of its outcome, if that is no good one
	Reason     string
	Arrivals   string
	Figures    []figure
	Phases     *phases
	Tables     []table
	Details    []detail
	MoreDetail string
	Logs       []string
	MoreLogs   string
	Generator  table
}

func (d *drawer) workflow(w *report.Workflow) workflow {
	out := workflow{Name: d.named(w.Name), Line: d.line(w), Order: d.lines(w.Order), Arrivals: arrivals(w), Generator: d.generator(w)}
	if w.Outcome != message.WorkflowCompleted.String() {
		out.Class, out.Reason = bad, d.named(w.Outcome)
		if reason := d.told(w.Error); reason != "" && !strings.Contains(d.told(d.result.Error), reason) { // it stands at the top already
			out.Reason += ": " + reason
		}
	}
	var courses []report.Course
	rows, leaves := w.Shown(), w.Leaves()
	for i := range leaves {
		courses = append(courses, leaves[i].Course)
	}
	all := stretch{w.DurationNS, d.points, d.marksOf(w)}
	out.Figures = overTime(courses, all, d.limitsOf(w))
	out.Figures = append(out.Figures, activity(&w.Activity, all)...)
	curves := d.slowest(leaves)
	if f, ok := percentiles("Latency by percentile", curves, 300); ok {
		out.Figures = append(out.Figures, f)
	}
	out.Phases = d.phases(leaves)
	for _, t := range []table{d.counts("Requests", rows), d.latency(rows), d.measures(rows), d.counts("Requests beside the load: setup, teardown", w.Beside), d.errors(w), d.checks("Checks", w.Checks), d.checks("Actions", w.Actions), d.metrics(w.Metrics), d.series(w.Series), d.lost(w.Lost)} {
		if len(t.Rows) > 0 {
			out.Tables = append(out.Tables, t)
		}
	}
	out.Details, out.MoreDetail = d.detailed(w)
	for _, line := range first(w.Logs, d.rows) {
		out.Logs = append(out.Logs, d.told(line))
	}
	out.MoreLogs = more(len(w.Logs), d.rows, "line")
	return out
}

// lines are those of an order.
func (d *drawer) lines(all []string) (out []string) {
	for _, line := range first(all, d.rows) {
		out = append(out, d.told(line))
	}
	return out
}

// list has a row for each workflow, with its state and its reason, if there are several or one never
// began.
func (d *drawer) list() table {
	all := d.result.Workflows
	t := table{Caption: "Workflows", Head: heads("", "workflow", "#began", "#lasted", "#requests"), More: more(len(all), d.rows, "workflow")}
	if len(all) == 0 || len(all) == 1 && all[0].Began() {
		return t
	}
	for i := range first(all, d.rows) {
		w := &all[i]
		row := []cell{d.state(w), {Text: d.named(w.Name), Under: d.told(w.Error)}, {Text: "never"}, {Text: "–"}, {Text: "–"}}
		if w.Began() {
			row[2].Text, row[3].Text, row[4].Text = units.Duration(time.Duration(w.BeganNS)), units.Duration(time.Duration(w.DurationNS)), units.Count(w.Requested.Started)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// state is a workflow's outcome as a word with a sign.
func (d *drawer) state(w *report.Workflow) cell {
	word := strings.ToLower(strings.ReplaceAll(d.named(w.Outcome), "_", " "))
	switch w.Outcome {
	case message.WorkflowCompleted.String():
		return cell{Text: "✓ " + word, Class: good}
	case message.WorkflowFailed.String(), message.WorkflowTimedOut.String():
		return cell{Text: "✗ " + word, Class: bad}
	}
	return cell{Text: "! " + word, Class: warn}
}

// line describes the workflow's size.
func (d *drawer) line(w *report.Workflow) string {
	parts := []string{units.Counted(w.VUs, "virtual user") + " on " + units.Counted(uint64(w.Cores), d.result.Runner()), units.Duration(time.Duration(w.DurationNS))}
	if !w.Began() {
		parts = []string{units.Counted(w.VUs, "virtual user"), d.result.NotBegun(w)}
	}
	if w.Rows > 0 {
		parts = append(parts, units.Counted(w.Rows, "row")+" of its feed taken")
	}
	if w.RowsBurned > 0 {
		parts = append(parts, units.Counted(w.RowsBurned, "row")+" burned: lost attempts held them")
	}
	for i := range w.Barriers {
		parts = append(parts, ui.WaitsText(&w.Barriers[i]))
	}
	for i := range w.Counters {
		parts = append(parts, ui.TakenText(&w.Counters[i]))
	}
	for _, name := range first(slices.Sorted(maps.Keys(w.Tags)), 20) {
		parts = append(parts, d.named(name)+" = "+d.named(w.Tags[name]))
	}
	return strings.Join(parts, " · ")
}

// arrivals compares the requested iterations with those that began, if there were too few
// virtual users.
func arrivals(w *report.Workflow) string {
	g, clock := &w.Generator, w.Loaded()
	if g.Dropped == 0 && g.Waited == 0 {
		return ""
	}
	all := g.Begun + g.Dropped
	s := fmt.Sprintf("%s iterations a second were asked, %s began.", units.Milli(report.Rate(all, clock)), units.Milli(report.Rate(g.Begun, clock)))
	if g.Waited > 0 {
		s += fmt.Sprintf(" %s waited for a virtual user: that is in their latency.", units.Counted(g.Waited, "iteration"))
	}
	if g.Dropped > 0 {
		s += fmt.Sprintf(" %s of them never began, as no virtual user was free.", units.Share(g.Dropped, all))
	}
	return s
}

// slowest are the curves of all steps, those that were slowest at 99 % first.
func (d *drawer) slowest(all []report.Step) []quantiles {
	var out []quantiles
	for i := range all {
		if h := d.histogramOf(&all[i]); h != nil {
			out = append(out, quantiles{name: d.named(all[i].Name), histogram: h})
		}
	}
	slices.SortStableFunc(out, func(a, b quantiles) int {
		return cmp.Compare(b.histogram.Quantile(990_000), a.histogram.Quantile(990_000))
	})
	return out
}

// detail is one step with its own charts.
type detail struct {
	Name, Line string
	Open       bool
	Figures    []figure
}

// detailed draws steps apart where there are several: of one, all is said above.
func (d *drawer) detailed(w *report.Workflow) (out []detail, left string) {
	all := w.Shown()
	if len(all) < 2 {
		return nil, ""
	}
	limits, marks := d.limitsOf(w), d.marksOf(w)
	for i := range all {
		s := &all[i]
		if d.details == 0 {
			return out, more(len(all), i, "step")
		}
		d.details--
		one := detail{Name: d.named(s.Name), Figures: overTime([]report.Course{s.Course}, stretch{w.DurationNS, d.few, marks}, ofStep(limits, s.Name))}
		one.Line = fmt.Sprintf("%s, %s a second", units.Counted(s.Started, "request"), units.Milli(s.RateMilli))
		if s.LatencyNS.Count > 0 {
			one.Line += ", " + units.Latency(s.LatencyNS.P99) + " at 99%"
		}
		if h := d.histogramOf(s); h != nil {
			if f, ok := percentiles("Latency by percentile", []quantiles{{name: one.Name, histogram: h}}, 150); ok {
				one.Figures = append(one.Figures, f)
			}
		}
		if len(one.Figures) > 0 {
			out = append(out, one)
		}
	}
	return out, ""
}

// generator says whether to trust the figures.
func (d *drawer) generator(w *report.Workflow) table {
	g := &w.Generator
	t := table{Caption: "Generator", Head: heads("", "busiest second", "#late at 99%", "#latest", "#iterations begun", "#waited", "#dropped")}
	if g.Begun == 0 && g.LagNS.Count == 0 {
		return t
	}
	sign := cell{Text: "✓ kept up", Class: good}
	switch {
	case g.Throttled():
		sign = cell{Text: "! throttled", Class: warn}
	case g.Saturated:
		sign = cell{Text: "! saturated", Class: warn}
	case g.Starved:
		sign = cell{Text: "! starved", Class: warn}
	case g.Late:
		sign = cell{Text: "! late", Class: warn}
	}
	t.Rows = [][]cell{{sign, {Text: fmt.Sprintf("%d%%", g.BusyMaxPPM/10_000)}, {Text: units.Latency(g.LagNS.P99)}, {Text: units.Latency(g.LagNS.Max)},
		{Text: units.Count(g.Begun)}, alarm(g.Waited, warn), alarm(g.Dropped, warn)}}
	t.Note = "How busy the processes that send were at most, and by how much requests began later than they should have."
	if text := g.MemoryText(); text != "" {
		t.Note += " ! " + text
	}
	for _, u := range w.Generator.UnansweredText() {
		t.Note += " ! " + d.told(u)
	}
	return t
}
