package ui

import (
	"fmt"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/cells"
	"hyperscale/runtime/ui/units"
)

// stepTable has a row for each measured step; whole adds columns for a wide screen or a
// separate tab.
func (m *Model) stepTable(s Style, whole bool) *table {
	wide := s.Width >= 100
	t := &table{style: s, indent: 1, head: []string{"step", "rate/s"}}
	if wide {
		t.head = append(t.head, "started", "sent")
	}
	t.head = append(t.head, "ok", "failed", "p50", "p95", "p99")
	if whole && wide {
		t.head = append(t.head, "errors")
	}
	for _, f := range m.flows {
		for _, step := range f.steps {
			name := units.Clean(step.name)
			if len(m.flows) > 1 {
				name = ofFlow(units.Clean(f.name), name, s.Width*2/5)
			}
			row := []cell{plain(name), plain(units.Milli(step.rateMilli))}
			if wide {
				row = append(row, plain(units.Count(step.started)), plain(units.Count(step.sent)))
			}
			row = append(row, plain(units.Count(step.ok)), alarm(step.failed, bad), plain(units.LatencyOr(step.p50)), plain(units.LatencyOr(step.p95)), plain(units.LatencyOr(step.p99)))
			if whole && wide {
				share := alarm(step.failed, bad)
				share.text = units.Share(step.failed, step.ok+step.failed)
				row = append(row, share)
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// ofFlow is a step's name after its workflow's. What is too wide loses of the workflow's name first:
// rows of one workflow must differ.
func ofFlow(flow, step string, most int) string {
	const least = 6
	if over := cells.Columns(flow) + 1 + cells.Columns(step) - most; over > 0 {
		flow = cells.Fit(flow, max(least, cells.Columns(flow)-over))
	}
	return flow + "." + step
}

func (b *body) steps() {
	if t := b.m.stepTable(b.s, true); len(t.rows) > 0 {
		b.grid(t)
	} else {
		b.say(faint, "no step has been heard of yet")
	}
	checks := &table{style: b.s, indent: 1, head: []string{"check", "passed", "failed", "share"}}
	metrics := &table{style: b.s, indent: 1, head: []string{"metric", "count", "p50", "p99", "max"}}
	for _, f := range b.m.flows {
		for i := range f.now.Steps {
			switch step := &f.now.Steps[i]; step.Kind {
			case message.StepCheck:
				checks.rows = append(checks.rows, []cell{plain(units.Clean(step.Name)), plain(units.Count(step.OK)), alarm(step.Failed, bad), plain(units.Share(step.OK, step.OK+step.Failed))})
			case message.StepMetric:
				all := difference(step.Metric, message.Histogram{})
				metrics.rows = append(metrics.rows, []cell{plain(units.Clean(step.Name)), plain(units.Count(all.Count())), plain(units.Milli(all.Quantile(500_000))), plain(units.Milli(all.Quantile(990_000))), plain(units.Milli(all.Max()))})
			}
		}
	}
	for _, t := range []*table{checks, metrics} {
		if len(t.rows) > 0 {
			b.rows = append(append(b.rows, ""), t.draw()...)
		}
	}
}

func (f *failureNow) text() string {
	text := units.Clean(f.step) + "  " + units.Clean(f.Kind)
	if f.Example != "" && f.Example != f.Kind {
		text += ": " + units.Clean(f.Example)
	}
	return text
}

// errors are the kinds, each with an example, then the answers by status.
func (b *body) errors() {
	kinds := b.m.failures()
	if len(kinds) == 0 {
		b.say(good, "nothing has failed")
	}
	var all uint64
	for _, f := range kinds {
		all += f.Count
	}
	t := &table{style: b.s, indent: 1, head: []string{"error", "count", "share"}}
	for _, f := range kinds {
		t.rows = append(t.rows, []cell{{units.Clean(f.step) + "  " + units.Clean(f.Kind), bad}, plain(units.Count(f.Count)), plain(units.Share(f.Count, all))})
	}
	if len(kinds) > 0 {
		lines := t.draw()
		b.pin(lines[0])
		for i, f := range kinds {
			b.rows = append(b.rows, lines[i+1])
			if f.Example != "" && f.Example != f.Kind {
				b.say(faint, "  "+units.Clean(f.Example))
			}
		}
	}
	first := true
	for _, f := range b.m.flows {
		for _, step := range f.now.Steps {
			if len(step.Statuses) == 0 {
				continue
			}
			if first {
				b.rows = append(b.rows, "", b.title("answers by status"))
				first = false
			}
			text := cells.Left(cells.Fit(units.Clean(step.Name), 24), 24)
			for _, c := range step.Statuses {
				text += fmt.Sprintf("  %d: %s", c.Status, units.Count(c.Count))
			}
			b.say("", text)
		}
	}
}

func (b *body) thresholds() {
	all, _ := b.m.verdicts()
	switch {
	case len(all) == 0 && b.m.watched:
		b.tell(faint, "its plan has not arrived: they are judged at its end")
	case len(all) == 0:
		b.say(faint, "the file declares none")
	}
	several := len(b.m.flows) > 1
	width := 0
	for _, j := range all {
		width = max(width, cells.Columns(units.Clean(j.Expr)))
	}
	width = min(width, max(20, b.s.Width-24))
	for _, j := range all {
		mark, value := b.s.paint(faint, "·"), "nothing measured yet"
		switch {
		case j.known && j.OK:
			mark, value = b.s.paint(good, "✓"), ThresholdValue(j.Threshold)
		case j.known:
			mark, value = b.s.paint(bad, "✗"), b.s.paint(bad, ThresholdValue(j.Threshold))
		}
		row := " " + mark + " " + cells.Left(cells.Fit(units.Clean(j.Expr), width), width) + "  " + value
		if several {
			row += b.s.paint(faint, "  "+units.Clean(j.Workflow))
		}
		b.rows = append(b.rows, row)
	}
}

// generator says whether the figures can be trusted.
func (b *body) generator() {
	t := &table{style: b.s, indent: 1, head: []string{"workflow", "VUs", "busy", "late p50", "late p99", "late max", "begun", "waited", "dropped"}}
	var worst message.Generator
	for _, f := range b.m.flows {
		g := &f.now.Generator
		lag := difference(g.Lag, message.Histogram{})
		worst.Saturated, worst.Starved, worst.Late = worst.Saturated || g.Saturated, worst.Starved || g.Starved, worst.Late || g.Late
		busy := cell{fmt.Sprintf("%d%%", g.BusyMax/10_000), ""}
		worst.Usage = stats.AddUsage(worst.Usage, g.Usage)
		worst.Held += g.Held
		if g.Saturated || g.Starved {
			busy.colour = warn
		}
		t.rows = append(t.rows, []cell{
			plain(units.Clean(f.name)), plain(units.Count(f.now.Active)), busy, plain(units.LatencyOr(lag.Quantile(500_000))), plain(units.LatencyOr(lag.Quantile(990_000))), plain(units.LatencyOr(lag.Max())),
			plain(units.Count(g.Begun)), alarm(g.Waited, warn), alarm(g.Dropped, warn),
		})
	}
	if picture := min(b.room-len(t.rows)-6, b.room*3/5, 16); picture >= 6 && len(b.m.Points) > 0 {
		b.load(picture)
		b.pin("")
	}
	if len(t.rows) > 0 {
		b.grid(t)
	}
	b.rows = append(b.rows, "")
	if u := worst.Usage; u.MemoryMax > 0 {
		b.tell(faint, fmt.Sprintf("memory of an executor: at most %s of %s.", units.Bytes(u.Memory), units.Bytes(u.MemoryMax)))
	}
	switch u := worst.Usage; {
	case u.Throttles > 0:
		b.tell(warn, fmt.Sprintf("throttled: for %s, executors near their budget of memory began no new virtual user; %s held back. The load is less than asked. Give it more cores, fewer virtual users, or more memory.", units.Duration(u.Throttled), units.Counted(worst.Held, "begin")))
		return
	case u.Pressed:
		b.tell(warn, "memory: an executor is near its budget: it is throttled at 85% of it. Give it more cores, fewer virtual users, or more memory.")
		return
	case worst.Saturated:
		b.tell(warn, "saturated: its own work filled its core for a second: latencies include its delays. Give it more cores, or fewer virtual users.")
		return
	case worst.Starved:
		b.tell(warn, "starved: others had its core for a part of a second: latencies include that. Stop other programs, or give it a machine of its own.")
		return
	case worst.Late:
		b.tell(warn, "late: many virtual users start at once: latencies include that. Spread them with stages.")
		return
	}
	b.tell(faint, "busy: its busiest second. late: by how much requests began after they were due; it counts in their latency. dropped: iterations that never began, as no virtual user was free.")
}

// places lists the datacenters, each with its workers and its lost attempts.
func (b *body) places() {
	t := &table{style: b.s, indent: 1, head: []string{"datacenter", "state", "cores", "VUs", "rate/s", "ok", "failed", "busy", "late p99"}}
	for _, p := range b.m.places {
		t.rows = append(t.rows, []cell{{units.Clean(p.name), bold}, {p.state.String(), stateColour(p.state)}, plain(units.Count(p.cores)), plain(units.Count(p.vus)), plain(units.Milli(p.rateMilli)),
			plain(units.Count(p.ok)), alarm(p.failed, bad), plain(""), plain("")})
		for i := range p.hands {
			t.rows = append(t.rows, p.hands[i].row())
		}
	}
	if len(t.rows) == 0 {
		b.say(faint, "no datacenter has been heard of yet")
		return
	}
	lines := t.draw()
	b.pin(lines[0])
	lines = lines[1:]
	for _, p := range b.m.places {
		b.rows, lines = append(b.rows, lines[0]), lines[1:]
		if p.fault != "" {
			b.tell(bad, "  "+units.Clean(p.fault))
		}
		b.rows, lines = append(b.rows, lines[:len(p.hands)]...), lines[len(p.hands):]
		for i := range p.lost {
			l := report.LostOf(&p.lost[i])
			b.tell(warn, "  "+LostText(&l))
		}
	}
}

// help lists the keys.
func (b *body) help() {
	interrupt := "stop the job and print the summary; once more ends at once"
	if b.v.Leaves {
		interrupt = "leave; the job goes on"
	}
	for _, row := range [][2]string{
		{"1 ... 6", "a tab"}, {"tab  l  →", "the next tab"}, {"shift+tab  h  ←", "the one before"}, {"j  ↓", "a row down"}, {"k  ↑", "a row up"},
		{"space  pgdown", "a page down"}, {"b  pgup", "a page up"}, {"g  home", "the first row"}, {"G  end", "the last row"},
		{"w", "plots of the newest part, or of the whole run"}, {"ctrl+l", "paint again"}, {"ctrl+z", "stop this process; `fg` goes on"}, {"q  ctrl+c", interrupt}, {"?", "this"},
	} {
		b.rows = append(b.rows, " "+b.s.paint(accent, cells.Left(row[0], 18))+cells.Fit(row[1], b.s.Width-20))
	}
	b.rows = append(b.rows, "")
	b.tell(faint, "rates and percentiles are of the last second, counts and errors of the whole run")
}
