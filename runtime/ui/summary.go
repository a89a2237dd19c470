package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/cells"
	"hyperscale/runtime/ui/units"
)

// Bounds of what the summary shows; the result file has everything.
const (
	errorsShown = 10
	logsShown   = 5
)

// Summary describes a job's outcome.
func Summary(r *report.Result, s Style) string {
	d := &summary{style: s, result: r}
	d.headline()
	d.order(r.Turns)
	for i := range r.Workflows {
		d.workflow(&r.Workflows[i])
	}
	d.datacenters()
	d.thresholds()
	d.generator()
	d.outputs()
	if s.ASCII {
		return cells.ASCII(strings.Join(d.lines, "\n")) + "\n"
	}
	return strings.Join(d.lines, "\n") + "\n"
}

// summary gathers the lines.
type summary struct {
	style  Style
	result *report.Result
	lines  []string
}

func (d *summary) add(lines ...string) { d.lines = append(d.lines, lines...) }

// section begins one, an empty line apart.
func (d *summary) section(title string) { d.add("", d.style.paint(bold, title)) }

func (d *summary) headline() {
	r := d.result
	d.add(fmt.Sprintf("%s  %s in %s", d.style.paint(bold, units.Clean(r.Name)), d.style.paint(outcomeColour(r.Outcome), r.Outcome), units.Duration(time.Duration(r.DurationNS))))
	if r.Error != "" {
		d.wrap("  ", d.reason(r.Error), bad)
	}
	if n := len(r.Missing); n > 0 {
		d.wrap("  ", fmt.Sprintf("partial: best effort left out %s. Load from there may have reached the target, and counts nowhere: the figures are those of %s", units.Clean(strings.Join(r.Missing, ", ")), units.Counted(uint64(len(r.Datacenters)-n), "datacenter")), bad)
	}
	d.scripts()
	t := r.Requested
	if t.Started > 0 {
		begun := units.Count(t.Started) + " started"
		if t.Sent > 0 && t.Sent != t.Started { // a function sends any number, a redirect is sent too
			begun += ", " + units.Count(t.Sent) + " sent"
		}
		d.wrap("  ", fmt.Sprintf("%s, %s ok, %s in, %s out", begun, units.Share(t.OK, t.Started), units.Bytes(t.BytesIn), units.Bytes(t.BytesOut)), faint)
	}
}

// kindScript is the engine's name for a function that failed.
const kindScript = "script"

// scripts says first which iterations failed by the test itself: no figure of the target has them.
func (d *summary) scripts() {
	for i := range d.result.Workflows {
		w := &d.result.Workflows[i]
		for k := range w.Steps {
			s := &w.Steps[k]
			for _, e := range s.Errors {
				if e.Kind == kindScript {
					d.wrap("  ", fmt.Sprintf("%s of %s (%s of %s) failed by the script, not by the target: %s", units.Share(e.Count, s.Started), units.Clean(s.Name),
						units.Count(e.Count), units.Counted(s.Started, "start"), units.Clean(e.Example)), bad)
				}
			}
		}
	}
}

// reason leaves out the name of the only datacenter.
func (d *summary) reason(s string) string {
	if len(d.result.Datacenters) == 1 {
		for name := range d.result.Datacenters {
			s = strings.TrimPrefix(s, name+": ")
		}
	}
	return units.Clean(s)
}

func outcomeColour(outcome string) string {
	switch outcome {
	case message.JobCompleted.String():
		return good
	case message.JobPartial.String(), message.JobCancelled.String():
		return warn
	}
	return bad
}

func (d *summary) workflow(w *report.Workflow) {
	d.section("workflow " + units.Clean(w.Name))
	head := fmt.Sprintf("  %s on %s, %s", units.Counted(w.VUs, "VU"), units.Counted(uint64(w.Cores), d.result.Runner()), units.Duration(time.Duration(w.DurationNS)))
	if !w.Began() {
		head = "  " + units.Counted(w.VUs, "VU") + ", " + d.result.NotBegun(w)
	}
	if w.Outcome != message.WorkflowCompleted.String() {
		head += "  " + w.Outcome
	}
	d.add(d.style.paint(faint, head))
	if reason := d.reason(w.Error); !strings.Contains(d.reason(d.result.Error), reason) { // it stands at the top already
		d.wrap("  ", reason, bad)
	}
	d.order(w.Order)
	d.arrivals(w)
	d.wrap("  ", GapText(w), warn)
	d.rows(w)
	for i := range w.Barriers {
		d.wrap("  ", WaitsText(&w.Barriers[i]), "")
	}
	for i := range w.Counters {
		d.wrap("  ", TakenText(&w.Counters[i]), "")
	}
	d.steps(w.Shown())
	d.beside(w.Beside)
	d.failures(w)
	d.checks(w)
	d.metrics(w.Metrics)
	d.lost(w.Lost)
	d.logs(w.Logs)
}

// order draws in which order steps or workflows begin, if that is no plain list.
func (d *summary) order(lines []string) {
	word := "  order  "
	for _, line := range lines {
		for _, part := range wrapped(units.Clean(line), max(d.style.Width-len(word), 20)) {
			d.add(d.style.paint(faint, word+part))
			word = "         "
		}
	}
}

// arrivals compares the requested iterations with those that began, if there were too few
// virtual users.
func (d *summary) arrivals(w *report.Workflow) {
	g, clock := w.Generator, w.Loaded()
	if g.Dropped == 0 && g.Waited == 0 {
		return
	}
	all := g.Begun + g.Dropped
	text := fmt.Sprintf("%s/s asked, %s/s begun: ", units.Milli(report.Rate(all, clock)), units.Milli(report.Rate(g.Begun, clock)))
	if g.Waited > 0 {
		text += fmt.Sprintf("%s waited for a virtual user, in their latency; ", units.Counted(g.Waited, "start"))
	}
	if g.Dropped > 0 {
		text += fmt.Sprintf("%s (%s) dropped, as no virtual user was free; ", units.Counted(g.Dropped, "start"), units.Share(g.Dropped, all))
	}
	if g.Throttled() {
		text += "executors were throttled for their memory, as said below"
	} else if g.Saturated || g.Starved || g.Late {
		text += "the generator was late, as said below"
	} else {
		text += "the target is slower than the rate asks, or it needs more --vus"
	}
	d.wrap("  ", text, warn)
}

// steps are two tables, since eleven columns do not fit in 80.
func (d *summary) steps(steps []report.Step) {
	if len(steps) == 0 {
		return
	}
	counts := &table{style: d.style, indent: 2, head: []string{"step", "started", "ok", "failed", "timed out", "cancelled", "rate/s"}}
	times := &table{style: d.style, indent: 2, head: []string{"latency", "p50", "p90", "p95", "p99", "p99.9", "max"}}
	for _, s := range steps {
		name := plain(units.Clean(s.Name))
		counts.rows = append(counts.rows, []cell{name, plain(units.Count(s.Started)), alarm(s.OK, ""), alarm(s.Failed, bad), alarm(s.TimedOut, bad), alarm(s.Cancelled, warn), plain(units.Milli(s.RateMilli))})
		l := s.LatencyNS
		if l.Count == 0 {
			times.rows = append(times.rows, []cell{name, plain("-"), plain("-"), plain("-"), plain("-"), plain("-"), plain("-")})
			continue
		}
		times.rows = append(times.rows, []cell{name, plain(units.Latency(l.P50)), plain(units.Latency(l.P90)), plain(units.Latency(l.P95)), plain(units.Latency(l.P99)), plain(units.Latency(l.P999)), plain(units.Latency(l.Max))})
	}
	names := min(counts.widths()[0], times.widths()[0])
	for _, t := range []*table{counts, times} {
		for _, row := range t.rows {
			row[0].text = d.style.fit(row[0].text, names)
		}
		t.first = names
		d.add("")
		d.add(t.draw()...)
	}
	d.phases(steps, names)
	d.measures(steps, names)
	for _, s := range steps {
		if s.Skipped > 0 {
			d.wrap("  ", fmt.Sprintf("%s skipped %s: a step that it needs failed", units.Clean(s.Name), units.Counted(s.Skipped, "time")), warn)
		}
		if s.Challenged > 0 {
			d.wrap("  ", fmt.Sprintf("%s was challenged %s to prove its user: each challenge is a request that the target counts, within one of the row", units.Clean(s.Name), units.Counted(s.Challenged, "time")), faint)
		}
		if s.Retried > 0 {
			d.wrap("  ", fmt.Sprintf("%s was sent again %s after a failure: each counts as a request of its own", units.Clean(s.Name), units.Counted(s.Retried, "time")), warn)
		}
	}
}

// beside counts what setup, teardown and the like sent: it is no load.
func (d *summary) beside(all []report.Step) {
	if len(all) == 0 {
		return
	}
	t := &table{style: d.style, indent: 2, head: []string{"beside the load", "sent", "ok", "failed", "timed out", "p99"}}
	for _, s := range all {
		t.rows = append(t.rows, []cell{plain(units.Clean(s.Name)), plain(units.Count(s.Sent)), alarm(s.OK, ""), alarm(s.Failed, bad), alarm(s.TimedOut, bad), plain(units.LatencyOr(s.LatencyNS.P99))})
	}
	t.first = t.widths()[0]
	d.add("")
	d.add(t.draw()...)
}

// alarm colours a count that should be zero.
func alarm(n uint64, colour string) cell {
	if n == 0 {
		colour = ""
	}
	return cell{units.Count(n), colour}
}

// failures are the errors grouped by kind, the most frequent first, and the answers by status.
func (d *summary) failures(w *report.Workflow) {
	type failure struct {
		step string
		report.Error
	}
	var all []failure
	for _, f := range w.Failures() {
		all = append(all, failure{f.Step, f.Error})
	}
	for _, a := range w.Actions {
		for _, e := range a.Errors {
			all = append(all, failure{a.Name, e})
		}
	}
	for _, m := range w.Metrics {
		for _, e := range m.Errors {
			all = append(all, failure{m.Name, e})
		}
	}
	slices.SortStableFunc(all, func(a, b failure) int { return cmp.Compare(b.Count, a.Count) })
	if len(all) > 0 {
		d.add("", d.style.paint(bad, "  errors"))
	}
	for i, f := range all {
		if i == errorsShown {
			d.add(d.style.paint(faint, fmt.Sprintf("  and %s more: --out json=FILE keeps all", units.Counted(uint64(len(all)-i), "kind"))))
			break
		}
		d.example(fmt.Sprintf("  %s  %s  %s", cells.Right(units.Count(f.Count), 8), units.Clean(f.step), units.Clean(f.Kind)), f.Example)
	}
	d.statuses(w)
}

// statuses lists each step's answers by status.
func (d *summary) statuses(w *report.Workflow) {
	var names, lines []string
	widest := 8
	for _, s := range w.Leaves() {
		if line := statusLine(s.Statuses); line != "" {
			name := d.style.fit(units.Clean(s.Name), 24)
			names, lines, widest = append(names, name), append(lines, line), max(widest, cells.Columns(name))
		}
	}
	if len(names) > 0 {
		d.add("", d.style.paint(faint, "  statuses"))
	}
	for i, name := range names {
		d.add(d.style.fit("  "+cells.Left(name, widest)+"  "+lines[i], d.style.Width))
	}
}

// example adds a line and, where it says more, an example below.
func (d *summary) example(line, example string) {
	d.add(d.style.fit(line, d.style.Width))
	if example = units.Clean(example); example != "" && !strings.HasSuffix(line, "  "+example) {
		d.wrap("            ", example, faint)
	}
}

func statusLine(statuses map[string]uint64) string {
	var all []string
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		all = append(all, fmt.Sprintf("%s: %s", status, units.Count(statuses[status])))
	}
	return strings.Join(all, "  ")
}

func (d *summary) checks(w *report.Workflow) {
	if len(w.Checks) == 0 {
		return
	}
	d.add("", d.style.paint(faint, "  checks"))
	for _, c := range w.Checks {
		all := c.Passed + c.Failed
		line := fmt.Sprintf("%s of %s passed", units.Share(c.Passed, all), units.Count(all))
		if all == 0 {
			line = "never asked"
		}
		if c.Skipped > 0 {
			line += fmt.Sprintf(", %s skipped", units.Count(c.Skipped))
		}
		d.add("  " + d.verdict(c.Failed == 0 && all > 0) + " " + units.Clean(c.Name) + "  " + line)
		for i, e := range c.Errors {
			if i == errorsShown {
				break
			}
			d.example(fmt.Sprintf("  %s  %s", cells.Right(units.Count(e.Count), 8), units.Clean(e.Kind)), e.Example)
		}
	}
}

func (d *summary) metrics(metrics []report.Metric) {
	if len(metrics) == 0 {
		return
	}
	t := &table{style: d.style, indent: 2, head: []string{"metric", "count", "sum", "sum/s", "mean", "p50", "p99", "max"}}
	for _, m := range metrics {
		v := m.ValueMilli
		t.rows = append(t.rows, []cell{plain(units.Clean(m.Name)), plain(units.Count(v.Count)), plain(units.Milli(m.SumMilli)), plain(units.Milli(m.RateMilli)), plain(units.Milli(v.Mean)), plain(units.Milli(v.P50)), plain(units.Milli(v.P99)), plain(units.Milli(v.Max))})
	}
	d.add("")
	d.add(t.draw()...)
}

// WaitsText says how the waits of a workflow's users at a barrier ended.
func WaitsText(b *report.Barrier) string {
	text := fmt.Sprintf("barrier %s: %s released, %s timed out", units.Clean(b.Name), units.Counted(b.Released, "wait"), units.Count(b.TimedOut))
	if b.Ended > 0 {
		text += fmt.Sprintf(", %s ended with the run", units.Count(b.Ended))
	}
	return text
}

// TakenText says how many values of a counter were taken.
func TakenText(c *report.Counter) string {
	return fmt.Sprintf("counter %s: %s taken", units.Clean(c.Name), units.Counted(c.Taken, "value"))
}

// rows shows how many rows of its feed were taken, and which ones were lost.
func (d *summary) rows(w *report.Workflow) {
	if w.Rows == 0 && w.RowsBurned == 0 {
		return
	}
	text := units.Counted(w.Rows, "row") + " of its feed taken"
	if w.RowsBurned > 0 {
		text += fmt.Sprintf(", %s burned: lost attempts held them, and no record says which of them they used", units.Counted(w.RowsBurned, "row"))
	}
	d.wrap("  ", text, "")
}

func (d *summary) lost(lost []report.Lost) {
	if len(lost) == 0 {
		return
	}
	d.add("", d.style.paint(warn, "  lost attempts"))
	for i := range lost {
		d.wrap("  ", LostText(&lost[i]), "")
	}
}

func (d *summary) logs(logs []string) {
	if len(logs) == 0 {
		return
	}
	d.add("", d.style.paint(faint, "  logged"))
	for i, line := range logs {
		if i == logsShown {
			d.add(d.style.paint(faint, fmt.Sprintf("  and %s more: --out json=FILE keeps them", units.Counted(uint64(len(logs)-i), "line"))))
			break
		}
		d.add("  " + d.style.fit(units.Clean(line), d.style.Width-2))
	}
}
