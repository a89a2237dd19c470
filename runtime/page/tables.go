package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/page/markup"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// table is any of the page's.
type table struct {
	Caption string
	Head    []head
	Rows    [][]cell
	More    string // omitted rows
	Note    string
}

// named is the column that names a row: the first one with a head, as signs have none.
func (t *table) named() int {
	for i, h := range t.Head {
		if h.Text != "" {
			return i
		}
	}
	return 0
}

type head struct {
	Text   string
	Number bool // to the right
}

type cell struct {
	Text  string
	Class string
	Under string // in small letters below

	Drawing markup.HTML
}

// heads reads a head: "#ok" is of numbers.
func heads(names ...string) []head {
	var out []head
	for _, n := range names {
		text := strings.TrimPrefix(n, "#")
		out = append(out, head{text, text != n})
	}
	return out
}

func words(texts ...string) []cell {
	var out []cell
	for _, t := range texts {
		out = append(out, cell{Text: t})
	}
	return out
}

// alarm is a count that should be zero.
func alarm(n uint64, class string) cell {
	if n == 0 {
		class = ""
	}
	return cell{Text: units.Count(n), Class: class}
}

// latencyCells are a dash where nothing was measured: no answer takes no time.
func latencyCells(l *report.Distribution) []cell {
	var out []cell
	for _, v := range []uint64{l.P50, l.P90, l.P95, l.P99, l.P999, l.Max} {
		text := "–"
		if l.Count > 0 {
			text = units.Latency(v)
		}
		out = append(out, cell{Text: text})
	}
	return out
}

// counts is one row a step. Columns in which all is zero are left out.
func (d *drawer) counts(caption string, all []report.Step) table {
	t := table{Caption: caption, More: more(len(all), d.rows, "step")}
	var sum report.Totals
	for i := range all {
		sum.Cancelled, sum.Skipped, sum.Dropped, sum.Retried = sum.Cancelled|all[i].Cancelled, sum.Skipped|all[i].Skipped, sum.Dropped|all[i].Dropped, sum.Retried|all[i].Retried
		sum.Challenged |= all[i].Challenged
	}
	names := []string{"step", "#started", "#ok", "#failed", "#timed out"}
	rare := []struct {
		name string
		any  uint64
		of   func(*report.Step) uint64
	}{
		{"#cancelled", sum.Cancelled, func(s *report.Step) uint64 { return s.Cancelled }},
		{"#dropped", sum.Dropped, func(s *report.Step) uint64 { return s.Dropped }},
		{"#skipped", sum.Skipped, func(s *report.Step) uint64 { return s.Skipped }},
		{"#retried", sum.Retried, func(s *report.Step) uint64 { return s.Retried }},
		{"#challenged", sum.Challenged, func(s *report.Step) uint64 { return s.Challenged }},
	}
	for _, r := range rare {
		if r.any > 0 {
			names = append(names, r.name)
		}
	}
	t.Head = heads(append(names, "#a second", "#received", "#sent", "answers")...)
	for i := range first(all, d.rows) {
		s := &all[i]
		row := append(words(d.named(s.Name), units.Count(s.Started), units.Count(s.OK)), alarm(s.Failed, bad), alarm(s.TimedOut, bad))
		for _, r := range rare {
			if r.any > 0 {
				row = append(row, alarm(r.of(s), warn))
			}
		}
		row = append(row, words(units.Milli(s.RateMilli), units.Bytes(s.BytesIn), units.Bytes(s.BytesOut))...)
		row = append(row, cell{Text: d.statuses(s.Statuses), Class: "wide"})
		t.Rows = append(t.Rows, row)
	}
	return t
}

// statusesMost is how many statuses a row shows.
const statusesMost = 8

// statuses lists answers by status, the most frequent first.
func (d *drawer) statuses(all map[string]uint64) string {
	type answers struct {
		status string
		n      uint64
	}
	var sorted []answers
	for status, n := range all {
		sorted = append(sorted, answers{status, n})
	}
	slices.SortFunc(sorted, func(a, b answers) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.status, b.status)) })
	var out []string
	for _, a := range first(sorted, statusesMost) {
		out = append(out, d.named(a.status)+" × "+units.Count(a.n))
	}
	if len(sorted) > statusesMost {
		out = append(out, units.Count(uint64(len(sorted)-statusesMost))+" more")
	}
	return strings.Join(out, ", ")
}

func (d *drawer) latency(all []report.Step) table {
	t := table{Caption: "Latency", Head: heads("step", "#50%", "#90%", "#95%", "#99%", "#99.9%", "#slowest"), More: more(len(all), d.rows, "step")}
	t.Note = "From when a request should have begun to the last byte of its answer, connecting included."
	for i := range first(all, d.rows) {
		t.Rows = append(t.Rows, append(words(d.named(all[i].Name)), latencyCells(&all[i].LatencyNS)...))
	}
	return t
}

// measures are what the steps' protocols count or time beside the latency.
func (d *drawer) measures(all []report.Step) table {
	t := table{Caption: "Measures of protocols", Head: heads("step", "measure", "#count", "#50%", "#90%", "#95%", "#99%", "#99.9%", "#slowest")}
	total := 0
	for i := range all {
		for _, name := range all[i].MeasureNames() {
			if total++; len(t.Rows) == d.rows {
				continue
			}
			m := all[i].Measures[name]
			row := words(d.named(all[i].Name), d.named(name), units.Count(m.Count))
			switch l := m.AmountMilli; {
			case m.TimesNS != nil:
				row = append(row, latencyCells(m.TimesNS)...)
			case l != nil:
				row = append(row, words(units.Milli(l.P50), units.Milli(l.P90), units.Milli(l.P95), units.Milli(l.P99), units.Milli(l.P999), units.Milli(l.Max))...)
			default:
				row = append(row, words("", "", "", "", "", "")...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.More = more(total, d.rows, "measure")
	return t
}

// errors are all failures of a workflow by kind, the most frequent first.
func (d *drawer) errors(w *report.Workflow) table {
	type failure struct {
		where string
		report.Error
	}
	var all []failure
	gather := func(where string, errors []report.Error) {
		for _, e := range errors {
			all = append(all, failure{where, e})
		}
	}
	for _, f := range w.Failures() {
		gather(f.Step, []report.Error{f.Error})
	}
	for i := range w.Actions {
		gather(w.Actions[i].Name, w.Actions[i].Errors)
	}
	for i := range w.Checks {
		gather(w.Checks[i].Name, w.Checks[i].Errors)
	}
	for i := range w.Metrics {
		gather(w.Metrics[i].Name, w.Metrics[i].Errors)
	}
	slices.SortStableFunc(all, func(a, b failure) int { return cmp.Compare(b.Count, a.Count) })
	t := table{Caption: "Errors", Head: heads("where", "#times", "what"), More: more(len(all), d.rows, "kind")}
	for _, f := range first(all, d.rows) {
		what := cell{Text: d.told(f.Kind), Class: "wide"}
		if example := d.told(f.Example); example != what.Text {
			what.Under = example
		}
		t.Rows = append(t.Rows, []cell{{Text: d.named(f.where)}, alarm(f.Count, bad), what})
	}
	return t
}

func (d *drawer) checks(caption string, all []report.Check) table {
	t := table{Caption: caption, Head: heads("", "name", "#passed", "#failed", "#skipped"), More: more(len(all), d.rows, "line")}
	for _, c := range first(all, d.rows) {
		sign := cell{Text: "✓", Class: good}
		switch {
		case c.Failed > 0:
			sign = cell{Text: "✗", Class: bad}
		case c.Passed == 0:
			sign = cell{Text: "never asked", Class: warn}
		}
		asked := c.Passed + c.Failed
		t.Rows = append(t.Rows, []cell{sign, {Text: d.named(c.Name)}, {Text: units.Count(c.Passed), Under: units.Share(c.Passed, asked)}, alarm(c.Failed, bad), alarm(c.Skipped, warn)})
	}
	return t
}

func (d *drawer) metrics(all []report.Metric) table {
	t := table{Caption: "Metrics", Head: heads("name", "#count", "#sum", "#a second", "#mean", "#50%", "#99%", "#largest", "#failed"), More: more(len(all), d.rows, "metric")}
	for _, m := range first(all, d.rows) {
		v := &m.ValueMilli
		row := words(d.named(m.Name), units.Count(v.Count), units.Milli(m.SumMilli), units.Milli(m.RateMilli), units.Milli(v.Mean), units.Milli(v.P50), units.Milli(v.P99), units.Milli(v.Max))
		t.Rows = append(t.Rows, append(row, alarm(m.Failed, bad)))
	}
	return t
}

func (d *drawer) series(all []report.Series) table {
	t := table{Caption: "By tag", Head: heads("tag", "#started", "#ok", "#failed", "#timed out", "#a second", "#50%", "#90%", "#95%", "#99%", "#99.9%", "#slowest"), More: more(len(all), d.rows, "series")}
	t.Note = "What the steps that have a tag in common measured together."
	for i := range first(all, d.rows) {
		s := &all[i]
		row := append(words(d.named(s.Tag)+" = "+d.named(s.Value), units.Count(s.Started), units.Count(s.OK)), alarm(s.Failed, bad), alarm(s.TimedOut, bad), cell{Text: units.Milli(s.RateMilli)})
		t.Rows = append(t.Rows, append(row, latencyCells(&s.LatencyNS)...))
	}
	return t
}

func (d *drawer) lost(all []report.Lost) table {
	t := table{Caption: "Lost attempts", Head: heads("worker", "#shard", "#attempt", "why", "#started", "#ok", "#from", "#until", "#unreported"), More: more(len(all), d.rows, "attempt")}
	t.Note = "Until its last report an attempt's figures count, if it has one. What it sent after that is in no figure: unreported bounds that time."
	for _, l := range first(all, d.rows) {
		worker, why, until := d.named(l.Worker), d.told(l.Reason), units.Duration(time.Duration(l.UntilNS))
		if l.Worker == "" {
			worker = "unknown"
		}
		if l.Unreplaced {
			why += "; no worker was free to replace it"
		}
		if !l.Counted {
			until = "no report counts"
		}
		t.Rows = append(t.Rows, words(worker, units.Count(uint64(l.Shard)), units.Count(l.Attempt), why, units.Count(l.Started), units.Count(l.OK), units.Duration(time.Duration(l.FromNS)), until, units.Duration(time.Duration(l.UnreportedNS))))
	}
	return t
}
