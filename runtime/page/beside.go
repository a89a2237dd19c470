package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hyperscale/runtime/compare"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/ui/units"
)

// The curves of the two files have the same colours in all charts.
const (
	classBefore = "before"
	classAfter  = "after"
)

// curves are the charts of each step, both files in each, those that moved first unfolded.
func (d *contrast) curves(p *compare.Pair) part {
	out := part{Title: "Both curves", Lead: "By percentile: the share of requests that took at most so long; each nine has the same room, so that the slow ones can be seen. Over time: from the beginning of each load."}
	order := slices.Clone(p.Steps)
	slices.SortStableFunc(order, func(a, b compare.Step) int { return cmp.Compare(weight(a.Verdict), weight(b.Verdict)) })
	var moved []report.Step
	for i := range order {
		s := &order[i]
		if d.details == 0 {
			out.Notes = append(out.Notes, more(len(order), i, "step"))
			break
		}
		d.details--
		one := d.both(p, s)
		one.Open = weight(s.Verdict) < 2 || len(order) <= 3
		if len(one.Figures) > 0 {
			out.Details = append(out.Details, one)
		}
		if weight(s.Verdict) < 2 && len(moved) < d.rows {
			before, after := *s.Before, *s.After
			before.Name, after.Name = one.Name+", baseline", one.Name+", now"
			moved = append(moved, before, after)
		}
	}
	if len(out.Details) == 0 {
		return part{}
	}
	out.Phases = d.drawer.phases(moved)
	return out
}

// weight orders verdicts by what a reader looks for first.
func weight(v compare.Verdict) int {
	switch v {
	case compare.Worse:
		return 0
	case compare.Better:
		return 1
	}
	return 2
}

func (d *contrast) both(p *compare.Pair, s *compare.Step) detail {
	out := detail{Name: d.stepName(p, &s.Place), Line: stepLine(s)}
	var all []quantiles
	if h := d.histogramOf(s.Before); h != nil {
		all = append(all, quantiles{"baseline", h, classBefore})
	}
	if h := d.histogramOf(s.After); h != nil {
		all = append(all, quantiles{"now", h, classAfter})
	}
	if f, ok := percentiles("Latency by percentile", all, 150); ok {
		f.Note = ""
		out.Figures = append(out.Figures, f)
	}
	out.Figures = append(out.Figures, d.together(p, s)...)
	return out
}

// stepLine is the line of a folded step: its worst change.
func stepLine(s *compare.Step) string {
	line := fmt.Sprintf("%s, now %s", units.Counted(s.Ended[0], "request"), units.Count(s.Ended[1]))
	for _, c := range units.Figures(s) {
		if c.Verdict == compare.Worse || c.Verdict == compare.Better {
			line += fmt.Sprintf(" · %s %s %s", c.Figure, units.ChangeWord(c), units.By(c))
		}
	}
	return line
}

// together are rates over the time since each load began.
func (d *contrast) together(p *compare.Pair, s *compare.Step) []figure {
	lasted := max(lasting(d.Baseline.Result, s.Workflow), lasting(p.Run.Result, s.Workflow))
	g := gridOf([]report.Course{s.Before.Course, s.After.Course}, lasted, d.few)
	if g.n == 0 {
		return nil
	}
	before, after := g.merge([]report.Course{s.Before.Course}), g.merge([]report.Course{s.After.Course})
	chart := func(title string, of func(*point) uint64) (figure, bool) {
		curves := []curve{{Name: "baseline", class: classBefore, Values: before.perSecond(of)}, {Name: "now", class: classAfter, Values: after.perSecond(of)}}
		return before.timed(title, curves), most(curves) > 0
	}
	rate, _ := chart("Answered as expected over time", func(p *point) uint64 { return p.OK })
	out := []figure{rate}
	if f, any := chart("Errors over time", func(p *point) uint64 { return p.Failed + p.TimedOut }); any {
		out = append(out, f)
	}
	return out
}

// lasting is how long a workflow of a result sent load; 0 if it is not there.
func lasting(r *report.Result, name string) int64 {
	for i := range r.Workflows {
		if r.Workflows[i].Name == name {
			return r.Workflows[i].DurationNS
		}
	}
	return 0
}

// load shows the requests that were sent, how they ended, and errors by kind.
func (d *contrast) load(p *compare.Pair) part {
	a, b := d.Baseline.Result, p.Run.Result
	t := table{Caption: "Load", Head: heads("what", "#baseline", "#now")}
	add := func(name, before, after string) { t.Rows = append(t.Rows, words(name, before, after)) }
	each := func(name string, of func(*report.Result) string) { add(name, of(a), of(b)) }
	each("outcome", func(r *report.Result) string { return d.named(r.Outcome) })
	each("duration", func(r *report.Result) string { return units.Duration(time.Duration(r.DurationNS)) })
	each("virtual users", func(r *report.Result) string {
		return units.Count(summed(r, func(w *report.Workflow) uint64 { return w.VUs }))
	})
	each("cores", func(r *report.Result) string {
		return units.Count(summed(r, func(w *report.Workflow) uint64 { return uint64(w.Cores) }))
	})
	for _, one := range []struct {
		name string
		of   func(*report.Totals) uint64
	}{
		{"requests", func(t *report.Totals) uint64 { return t.Started }}, {"as expected", func(t *report.Totals) uint64 { return t.OK }},
		{"failed", func(t *report.Totals) uint64 { return t.Failed }}, {"timed out", func(t *report.Totals) uint64 { return t.TimedOut }},
		{"cancelled", func(t *report.Totals) uint64 { return t.Cancelled }}, {"never started", func(t *report.Totals) uint64 { return t.Dropped }},
		{"skipped", func(t *report.Totals) uint64 { return t.Skipped }},
	} {
		if x, y := one.of(&a.Requested), one.of(&b.Requested); x+y > 0 {
			add(one.name, units.Count(x), units.Count(y))
		}
	}
	each("answered a second", func(r *report.Result) string { return units.Milli(summed(r, rateOf)) })
	each("received", func(r *report.Result) string { return units.Bytes(r.Requested.BytesIn) })
	each("sent", func(r *report.Result) string { return units.Bytes(r.Requested.BytesOut) })
	each("busiest second of a generator", func(r *report.Result) string { return fmt.Sprintf("%d%%", r.Generator.BusyMaxPPM/10_000) })
	each("starts late at 99%", func(r *report.Result) string { return units.Latency(r.Generator.LagNS.P99) })
	out := part{Title: "Rates and errors", Tables: []table{t}}
	if e := d.failures(p); len(e.Rows) > 0 {
		out.Tables = append(out.Tables, e)
	}
	for _, one := range []struct {
		where string
		all   []compare.Place
	}{{"baseline", p.Gone}, {"other file", p.Added}} {
		for i := range first(one.all, d.rows) {
			out.Notes = append(out.Notes, "Only in the "+one.where+": "+d.named(one.all[i].Step))
		}
	}
	return out
}

func summed(r *report.Result, of func(*report.Workflow) uint64) (sum uint64) {
	for i := range r.Workflows {
		sum += of(&r.Workflows[i])
	}
	return sum
}

func rateOf(w *report.Workflow) (sum uint64) {
	for _, s := range w.Leaves() {
		sum += s.RateMilli
	}
	return sum
}

// failures are those of both files by step and kind, the most frequent first.
func (d *contrast) failures(p *compare.Pair) table {
	type failure struct {
		where, kind, example string
		counts               [2]uint64
	}
	var all []*failure
	for i := range p.Steps {
		s, kinds := &p.Steps[i], map[string]*failure{}
		for side, errors := range [][]report.Error{s.Before.Errors, s.After.Errors} {
			for _, e := range errors {
				f := kinds[e.Kind]
				if f == nil {
					f = &failure{where: d.stepName(p, &s.Place), kind: d.told(e.Kind)}
					kinds[e.Kind] = f
					all = append(all, f)
				}
				f.counts[side] += e.Count
				f.example = d.told(e.Example)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *failure) int {
		return cmp.Compare(max(b.counts[0], b.counts[1]), max(a.counts[0], a.counts[1]))
	})
	t := table{Caption: "Errors", Head: heads("where", "#baseline", "#now", "what"), More: more(len(all), d.rows, "kind")}
	for _, f := range first(all, d.rows) {
		what := cell{Text: f.kind, Class: "wide"}
		if f.example != f.kind {
			what.Under = f.example
		}
		t.Rows = append(t.Rows, []cell{{Text: f.where}, alarm(f.counts[0], bad), alarm(f.counts[1], bad), what})
	}
	return t
}

// kept are the thresholds of both files.
func (d *contrast) kept(p *compare.Pair) part {
	type at struct{ workflow, expr string }
	var order []at
	found := map[at]*[2]*report.Threshold{}
	for side, r := range []*report.Result{d.Baseline.Result, p.Run.Result} {
		for i := range r.Thresholds {
			t := &r.Thresholds[i]
			k := at{t.Workflow, t.Expr}
			if found[k] == nil {
				found[k] = new([2]*report.Threshold)
				order = append(order, k)
			}
			found[k][side] = t
		}
	}
	if len(order) == 0 {
		return part{}
	}
	t := table{Head: heads("threshold", "#baseline", "", "#now", ""), More: more(len(order), d.rows, "threshold")}
	for _, k := range first(order, d.rows) {
		row := []cell{{Text: d.told(k.expr), Class: "code"}}
		for _, one := range found[k] {
			if one == nil {
				row = append(row, words("–", "not asked")...)
				continue
			}
			sign := cell{Text: "✓ met", Class: good}
			if !one.OK {
				sign = cell{Text: "✗ missed", Class: bad}
			}
			row = append(row, cell{Text: ui.ThresholdValue(*one)}, sign)
		}
		t.Rows = append(t.Rows, row)
	}
	return part{Title: "Thresholds", Tables: []table{t}}
}
