package ui

import (
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

// datacenters lists the datacenters if there are several.
func (d *summary) datacenters() {
	if len(d.result.Datacenters) < 2 {
		return
	}
	d.section("datacenters")
	t := &table{style: d.style, indent: 2, head: []string{"name", "outcome", "time", "started", "ok", "failed", "timed out"}}
	var faults, late []string
	for _, name := range slices.Sorted(maps.Keys(d.result.Datacenters)) {
		c := d.result.Datacenters[name]
		figures := slices.Repeat([]cell{plain("-")}, 4) // not known
		if c.Figures != nil {
			figures = []cell{plain(units.Count(c.Requested.Started)), plain(units.Count(c.Requested.OK)), alarm(c.Requested.Failed, bad), alarm(c.Requested.TimedOut, bad)}
		}
		t.rows = append(t.rows, append([]cell{
			plain(units.Clean(name)), {c.Outcome, outcomeColour(c.Outcome)}, plain(units.Duration(time.Duration(c.DurationNS))),
		}, figures...))
		if by := d.result.Late(name); by >= time.Second {
			late = append(late, fmt.Sprintf("%s began %s later; rates are over the time in which load ran", units.Clean(name), units.Duration(by)))
		}
		if c.Error != "" {
			faults = append(faults, units.Clean(name)+": "+units.Clean(c.Error))
		}
	}
	d.add(t.draw()...)
	for _, l := range late {
		d.wrap("  ", l, faint)
	}
	for _, f := range faults {
		d.wrap("  ", f, bad)
	}
}

func (d *summary) thresholds() {
	if len(d.result.Thresholds) == 0 {
		return
	}
	d.section("thresholds")
	width := 0
	for _, t := range d.result.Thresholds {
		width = max(width, cells.Columns(units.Clean(t.Expr)))
	}
	for _, t := range d.result.Thresholds {
		line := cells.Left(units.Clean(t.Expr), width) + "  " + ThresholdValue(t)
		if len(d.result.Workflows) > 1 {
			line = units.Clean(t.Workflow) + ": " + line
		}
		d.add("  " + d.verdict(t.OK) + " " + line)
	}
}

// ThresholdValue writes a threshold's value in the unit that people wrote it in, and which of its
// windows was the worst.
func ThresholdValue(t report.Threshold) string {
	switch {
	case t.Unmeasured:
		return "nothing was measured"
	case t.UntilNS > 0:
		return fmt.Sprintf("%s at worst, from %s to %s", thresholdFigure(t), units.Duration(time.Duration(t.FromNS)), units.Duration(time.Duration(t.UntilNS)))
	}
	return thresholdFigure(t)
}

func thresholdFigure(t report.Threshold) string {
	v := uint64(max(t.Value, 0))
	switch t.Of {
	case "latency", "service", "phase", "measure":
		return units.LatencyOr(v)
	case "errors", "checks":
		return units.Share(v, 1_000_000)
	case "rate":
		return units.Milli(v) + "/s"
	}
	return units.Milli(v)
}

func (d *summary) verdict(ok bool) string {
	if ok {
		return d.style.paint(good, "✓")
	}
	return d.style.paint(bad, "✗")
}

// generator says whether to trust the figures, and what to do if not.
func (d *summary) generator() {
	g := d.result.Generator
	if d.result.Requested.Started == 0 {
		return
	}
	d.section("generator")
	d.wrap("  ", fmt.Sprintf("busiest second %d%%, %s", g.BusyMaxPPM/10_000, Lateness(g.LagNS)), "")
	if n := d.result.Generator.SharedCores; n > 0 {
		d.wrap("  ", fmt.Sprintf("the workflows shared cores, so that all begin together: %s", units.Counted(uint64(n), "executor")), "")
	}
	if g.MemoryMax > 0 {
		d.wrap("  ", fmt.Sprintf("memory of an executor at most %s of %s, processors %s", units.Bytes(g.MemoryBytes), units.Bytes(g.MemoryMax), units.Duration(time.Duration(g.CPUNS))), "")
	}
	if text := g.MemoryText(); text != "" {
		d.wrap("  ", text, warn)
	}
	for _, text := range Doubts(d.result) {
		d.wrap("  ", text, warn)
	}
	for _, text := range g.UnansweredText() {
		d.wrap("  ", units.Clean(text), warn)
	}
}

// startsLeast is how many starts have a p99: that of fewer is among their ten latest.
const startsLeast = 1000

// outputs says what places have of the run's rows.
func (d *summary) outputs() {
	if len(d.result.Outputs)+len(d.result.Sinks) == 0 {
		return
	}
	d.section("outputs")
	for i := range d.result.Sinks {
		s := &d.result.Sinks[i]
		colour := ""
		if _, health := s.State(); health == "bad" {
			colour = bad
		} else if !s.Done {
			colour = warn
		}
		d.wrap("  ", SinkText(s), colour)
	}
	for i := range d.result.Outputs {
		o := &d.result.Outputs[i]
		colour := ""
		if o.Delivered+o.Merged < o.Offered {
			colour = bad
		}
		d.wrap("  ", units.Clean(o.Name+": "+o.Text()), colour)
	}
}

// Lateness says by how much starts were late.
func Lateness(lag report.Distribution) string {
	if lag.Count < startsLeast {
		return fmt.Sprintf("%s late by %s at most", units.Counted(lag.Count, "start"), units.Latency(lag.Max))
	}
	return fmt.Sprintf("starts late by %s at p99, %s at most", units.Latency(lag.P99), units.Latency(lag.Max))
}

// Doubts are the reasons why latencies include the generator's own delays, each with its remedy.
func Doubts(r *report.Result) (all []string) {
	g := &r.Generator
	if g.Saturated {
		all = append(all, "saturated: an executor's own work filled its core for a second, so the latencies above include its own delays. "+relief(r))
	}
	if g.Starved {
		who, remedy := "other programs", "Stop them, or give the generator a machine of its own."
		if g.StealMaxPPM > g.WaitMaxPPM {
			who, remedy = "other machines of the same host", "Use a machine with cores of its own."
		}
		all = append(all, fmt.Sprintf("starved: %s had the generator's core for %d%% of a second in which it was needed; the latencies above include that. %s", who, max(g.WaitMaxPPM, g.StealMaxPPM)/10_000, remedy))
	}
	if g.Late && !g.Saturated && !g.Starved {
		all = append(all, "late: starts were late although the generator had its core and was not busy: many virtual users start at once. The latencies above include that. Spread them with stages.")
	}
	return all
}

// relief is what helps a generator that has too much to do.
func relief(r *report.Result) string {
	for _, w := range r.Workflows {
		if w.Generator.Saturated && w.VUs > uint64(w.Cores) {
			return fmt.Sprintf("Give it more than %s (run --cores, or more workers), fewer VUs than %s, or think time.", units.Counted(uint64(max(w.Cores, 1)), r.Runner()), units.Count(w.VUs))
		}
	}
	return "Give it a machine with faster cores, or more workers."
}

// wrap adds text in lines of the screen's width.
func (d *summary) wrap(indent, text, colour string) {
	for _, line := range wrapped(text, max(d.style.Width-len(indent), 20)) {
		d.add(indent + d.style.paint(colour, line))
	}
}

// wrapped breaks text between words into lines of at most width columns, unless a word is
// longer.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && cells.Columns(line)+1+cells.Columns(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Failed says in a few words why a state is a failure; it returns "" for a good one.
func Failed(s message.JobState) string {
	switch s {
	case message.JobPartial:
		return "a part of the job failed"
	case message.JobFailed:
		return "the job failed"
	case message.JobTimedOut:
		return "the job took longer than it may"
	case message.JobCancelled:
		return "the job was cancelled"
	}
	return ""
}

// atMost writes a bound of a time: rounded up, so that it stays one.
func atMost(d time.Duration) string {
	return units.Duration((d + 99*time.Millisecond).Truncate(100 * time.Millisecond))
}

func LostText(l *report.Lost) string {
	var b strings.Builder
	switch {
	case l.Worker == "" && l.Counted: // of a datacenter, as its reason says
	case l.Worker == "":
		fmt.Fprintf(&b, "shard %d may have lost an attempt: ", l.Shard)
	default:
		fmt.Fprintf(&b, "%s lost shard %d, attempt %d: ", units.Clean(l.Worker), l.Shard, l.Attempt)
	}
	b.WriteString(units.Clean(l.Reason))
	if l.Counted {
		fmt.Fprintf(&b, "; %s until %s count", units.Counted(l.Started, "start"), units.Duration(time.Duration(l.UntilNS)))
	}
	if l.UnreportedNS > 0 {
		fmt.Fprintf(&b, "; at most %s of its load is in no figure", atMost(time.Duration(l.UnreportedNS)))
	}
	if l.Unreplaced {
		b.WriteString("; no worker was free to replace it: what was due after it was not offered")
	}
	return b.String()
}

// GapText says how much load lost attempts cost a workflow, or returns "".
func GapText(w *report.Workflow) string {
	var parts []string
	if g := &w.Generator; g.NotOffered > 0 {
		all := g.Begun + g.Dropped + g.NotOffered
		parts = append(parts, fmt.Sprintf("%s (%s) were not offered, as attempts were lost", units.Counted(g.NotOffered, "start"), units.Share(g.NotOffered, all)))
	}
	if w.GapNS > 0 {
		parts = append(parts, fmt.Sprintf("no load ran for %s of %s: rates leave that out", units.Duration(time.Duration(w.GapNS)), units.Duration(time.Duration(w.DurationNS))))
	}
	return strings.Join(parts, "; ")
}
