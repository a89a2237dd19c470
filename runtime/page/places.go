package page

import (
	"maps"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// columnsMost is how many datacenters a table shows next to each other.
const columnsMost = 8

// places compares datacenters, and the workers of each.
type places struct {
	Tables []table
	Shares []hands
}

// places is nil if one worker did everything: the rest of the page shows that, except why it
// failed.
func (d *drawer) places() *places {
	names := slices.Sorted(maps.Keys(d.result.Datacenters))
	out := new(places)
	if len(names) > 1 {
		out.Tables = d.compared(names)
	}
	for _, name := range first(names, d.rows) {
		f := d.result.Datacenters[name].Figures
		if f != nil && (len(f.Workers) > 1 || len(names) > 1 && len(f.Workers) > 0) {
			out.Shares = append(out.Shares, d.hands(name, f.Workers))
		}
	}
	if len(out.Tables)+len(out.Shares) == 0 {
		return nil
	}
	return out
}

// compared are the tables of datacenters side by side.
func (d *drawer) compared(names []string) []table {
	all := table{Caption: "Each datacenter's share", Head: heads("datacenter", "outcome", "#time", "#started", "#ok", "#failed", "#timed out", "#received"), More: more(len(names), d.rows, "datacenter")}
	for _, name := range first(names, d.rows) {
		c := d.result.Datacenters[name]
		outcome := cell{Text: d.named(c.Outcome), Class: bad, Under: d.told(c.Error)}
		if c.Outcome == message.JobCompleted.String() {
			outcome.Class = ""
		}
		lasted := cell{Text: units.Duration(time.Duration(c.DurationNS))}
		if by := d.result.Late(name); by >= time.Second {
			lasted.Under = "began " + units.Duration(by) + " later"
		}
		figures := slices.Repeat([]cell{{Text: "-"}}, 5) // not known
		if c.Figures != nil {
			t := &c.Requested
			figures = []cell{{Text: units.Count(t.Started)}, {Text: units.Count(t.OK)}, alarm(t.Failed, bad), alarm(t.TimedOut, bad), {Text: units.Bytes(t.BytesIn)}}
		}
		all.Rows = append(all.Rows, append([]cell{{Text: d.named(name)}, outcome, lasted}, figures...))
	}
	out := []table{all}
	if t := d.beside(names); len(t.Rows) > 0 {
		out = append(out, t)
	}
	return out
}

// beside shows the latency of each step in each datacenter.
func (d *drawer) beside(names []string) table {
	t := table{Caption: "Latency by datacenter", Note: "99 of 100 requests took at most so long; below it the median.", More: more(len(names), columnsMost, "datacenter")}
	names = first(names, columnsMost)
	head := []string{"step"}
	for _, name := range names {
		head = append(head, "#"+d.named(name))
	}
	t.Head = heads(head...)
	measured := map[[2]string][]cell{}
	for column, name := range names {
		for _, w := range d.result.In(name) {
			for i := range w.Steps {
				s := [2]string{w.Name, w.Steps[i].Name}
				if measured[s] == nil {
					measured[s] = make([]cell, len(names))
				}
				if l := &w.Steps[i].LatencyNS; l.Count > 0 {
					measured[s][column] = cell{Text: units.Latency(l.P99), Under: units.Latency(l.P50)}
				}
			}
		}
	}
	d.inOrder(func(w *report.Workflow, s *report.Step) {
		if cells, ok := measured[[2]string{w.Name, s.Name}]; ok && len(t.Rows) < d.rows {
			label := d.named(s.Name)
			if len(d.result.Workflows) > 1 {
				label = d.named(w.Name) + ": " + label
			}
			t.Rows = append(t.Rows, append([]cell{{Text: label}}, cells...))
		}
	})
	return t
}

// inOrder visits all steps in the file's order.
func (d *drawer) inOrder(visit func(*report.Workflow, *report.Step)) {
	for i := range d.result.Workflows {
		for k := range d.result.Workflows[i].Steps {
			visit(&d.result.Workflows[i], &d.result.Workflows[i].Steps[k])
		}
	}
}
