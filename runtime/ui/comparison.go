package ui

import (
	"fmt"
	"strings"

	"hyperscale/runtime/compare"
	"hyperscale/runtime/ui/cells"
	"hyperscale/runtime/ui/units"
)

// worseShown bounds the figures in the headline; the table has all.
const worseShown = 5

// Comparison shows the differences between runs, the verdict first.
func Comparison(c *compare.Comparison, s Style) string {
	d := &summary{style: s}
	base := units.Clean(c.Baseline.File)
	for i := range c.Pairs {
		if i > 0 {
			d.add("")
		}
		d.pair(&c.Pairs[i], base, c.AlphaPPM)
	}
	if len(c.Pairs) > 1 { // the overall results precede all tables
		lines := d.lines
		d.lines = nil
		for i := range c.Pairs {
			d.add(d.pairHead(&c.Pairs[i], base))
		}
		d.add("")
		d.add(lines...)
	}
	d.add("")
	d.wrap("", units.HowKnown(c), faint)
	if s.ASCII {
		return cells.ASCII(strings.Join(d.lines, "\n")) + "\n"
	}
	return strings.Join(d.lines, "\n") + "\n"
}

func (d *summary) pairHead(p *compare.Pair, base string) string {
	words, colour := units.PairWord(p.Verdict), warn
	switch p.Verdict {
	case compare.Regression:
		colour = bad
	case compare.Improvement, compare.Same, compare.Noise:
		colour = good
	}
	return d.style.paint(colour, strings.ToUpper(words)) + "  " + d.style.paint(bold, units.Clean(p.Run.File)) + " against " + base
}

func (d *summary) pair(p *compare.Pair, base string, alpha uint32) {
	d.add(d.pairHead(p, base))
	if p.Verdict == compare.Noise {
		d.wrap("  ", "something moved by more than the tolerance, but no more than it does by chance", faint)
	}
	d.moved(p, compare.Worse, bad)
	if p.Verdict == compare.Improvement {
		d.moved(p, compare.Better, good)
	}
	for i, caution := range p.Cautions {
		if i == 0 {
			d.add("", d.style.paint(warn, "  caution"))
		}
		d.wrap("  ", "- "+units.Clean(caution), warn)
	}
	flows := map[string]bool{}
	for i := range p.Steps {
		flows[p.Steps[i].Workflow] = true
	}
	t := &table{style: d.style, indent: 2, head: []string{"step", "baseline", "now", "change", units.Level(1_000_000-alpha) + " interval", ""}}
	for i := range p.Steps {
		t.step(&p.Steps[i], len(flows) > 1)
	}
	d.add("")
	d.add(t.draw()...)
	for i := range p.Steps {
		for _, note := range units.StepNotes(&p.Steps[i]) {
			d.wrap("  ", note, faint)
		}
	}
	d.alone("only in "+base, p.Gone)
	d.alone("only in "+units.Clean(p.Run.File), p.Added)
}

// moved names the figures with a verdict, the first few of them.
func (d *summary) moved(p *compare.Pair, verdict compare.Verdict, colour string) {
	found := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, c := range units.Figures(s) {
			if c.Verdict != verdict {
				continue
			}
			if found++; found <= worseShown {
				d.wrap("  ", fmt.Sprintf("%s: %s %s, %s instead of %s (%s)", units.Clean(s.Step), c.Figure, units.ChangeWord(c), units.FigureValue(c, c.New), units.FigureValue(c, c.Base), units.ChangeText(c, c.ChangePPM)), colour)
			}
		}
	}
	if found > worseShown {
		d.add(d.style.paint(faint, fmt.Sprintf("  and %s more", units.Counted(uint64(found-worseShown), "figure"))))
	}
}

func (t *table) step(s *compare.Step, workflow bool) {
	name := units.Clean(s.Step)
	if workflow {
		name = units.Clean(s.Workflow) + ": " + name
	}
	none := cell{}
	t.rows = append(t.rows, []cell{{name, bold}, plain(units.Count(s.Ended[0])), plain(units.Count(s.Ended[1])), plain("requests"), none, none})
	for _, c := range units.Figures(s) {
		t.rows = append(t.rows, []cell{plain("  " + c.Figure), plain(units.FigureValue(c, c.Base)), plain(units.FigureValue(c, c.New)), plain(units.By(c)), plain(units.Bounds(c)), {units.ChangeWord(c), verdictColour(c.Verdict)}})
	}
}

func verdictColour(v compare.Verdict) string {
	switch v {
	case compare.Worse:
		return bad
	case compare.Better:
		return good
	case compare.Few:
		return warn
	}
	return faint
}

func (d *summary) alone(where string, all []compare.Place) {
	if len(all) == 0 {
		return
	}
	names := make([]string, 0, len(all))
	for _, at := range all {
		names = append(names, units.Clean(at.Step))
	}
	d.wrap("  ", where+": "+strings.Join(names, ", "), warn)
}
