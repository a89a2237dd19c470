package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hyperscale/runtime/compare"
)

// worseShown bounds what the headline names; the table has all of it.
const worseShown = 5

// designShown is from where on it is worth telling that requests hang together.
const designShown = 2

// Comparison tells what differs between runs, the verdict first.
func Comparison(c *compare.Comparison, s Style) string {
	d := &summary{style: s}
	base := Clean(c.Baseline.File)
	for i := range c.Pairs {
		if i > 0 {
			d.add("")
		}
		d.pair(&c.Pairs[i], base, c.AlphaPPM)
	}
	if len(c.Pairs) > 1 { // before all tables stands what they come to
		lines := d.lines
		d.lines = nil
		for i := range c.Pairs {
			d.add(d.pairHead(&c.Pairs[i], base))
		}
		d.add("")
		d.add(lines...)
	}
	d.add("")
	d.wrap("", fmt.Sprintf("All intervals of a pair hold together with %s. A change below %s is called the same, of errors one below %s of all requests. "+
		"What differs from one run of the same to the next is in no interval: run each twice to see it.",
		level(1_000_000-c.AlphaPPM), level(c.TolerancePPM), level(c.ErrorFloorPPM)), faint)
	if s.ASCII {
		return ascii(strings.Join(d.lines, "\n")) + "\n"
	}
	return strings.Join(d.lines, "\n") + "\n"
}

func (d *summary) pairHead(p *compare.Pair, base string) string {
	words, colour := "", ""
	switch p.Verdict {
	case compare.Regression:
		words, colour = "REGRESSION", bad
	case compare.Improvement:
		words, colour = "BETTER", good
	case compare.Same:
		words, colour = "SAME", good
	case compare.Noise:
		words, colour = "NO REGRESSION", good
	case compare.Few:
		words, colour = "TOO FEW REQUESTS TO TELL", warn
	default:
		words, colour = "NOTHING TO TELL", warn
	}
	return d.style.paint(colour, words) + "  " + d.style.paint(bold, Clean(p.Run.File)) + " against " + base
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
		d.wrap("  ", "- "+Clean(caution), warn)
	}
	flows := map[string]bool{}
	for i := range p.Steps {
		flows[p.Steps[i].Workflow] = true
	}
	t := &table{style: d.style, indent: 2, head: []string{"step", "baseline", "now", "change", level(1_000_000-alpha) + " interval", ""}}
	for i := range p.Steps {
		t.step(&p.Steps[i], len(flows) > 1)
	}
	d.add("")
	d.add(t.draw()...)
	for i := range p.Steps {
		d.hangTogether(&p.Steps[i])
		d.service(&p.Steps[i])
	}
	d.alone("only in "+base, p.Gone)
	d.alone("only in "+Clean(p.Run.File), p.Added)
}

// moved names the figures with a verdict, the first few of them.
func (d *summary) moved(p *compare.Pair, verdict compare.Verdict, colour string) {
	found := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, c := range figures(s) {
			if c.Verdict != verdict {
				continue
			}
			if found++; found <= worseShown {
				d.wrap("  ", fmt.Sprintf("%s: %s %s, %s instead of %s (%s)", Clean(s.Step), c.Figure, verdictWord(c), figure(c, c.New), figure(c, c.Base), change(c, c.ChangePPM)), colour)
			}
		}
	}
	if found > worseShown {
		d.add(d.style.paint(faint, fmt.Sprintf("  and %s more", plural(uint64(found-worseShown), "figure"))))
	}
}

func figures(s *compare.Step) []*compare.Change {
	var all []*compare.Change
	for i := range s.Latency {
		all = append(all, &s.Latency[i])
	}
	return append(all, &s.Errors, &s.Rate)
}

func (t *table) step(s *compare.Step, workflow bool) {
	name := Clean(s.Step)
	if workflow {
		name = Clean(s.Workflow) + ": " + name
	}
	none := cell{}
	t.rows = append(t.rows, []cell{{name, bold}, plain(Count(s.Ended[0])), plain(Count(s.Ended[1])), plain("requests"), none, none})
	for _, c := range figures(s) {
		bounds := plain("-")
		if c.Tested {
			bounds = plain(intervalText(c))
		}
		by := change(c, c.ChangePPM)
		if c.Base == 0 && c.Figure != errorsFigure || c.New == 0 && c.Figure != errorsFigure {
			by = "-" // nothing was measured
		}
		t.rows = append(t.rows, []cell{plain("  " + c.Figure), plain(figure(c, c.Base)), plain(figure(c, c.New)), plain(by), bounds, {verdictWord(c), verdictColour(c.Verdict)}})
	}
}

// The figures that are no latency.
const (
	errorsFigure = "errors"
	rateFigure   = "rate"
)

func figure(c *compare.Change, v uint64) string {
	switch c.Figure {
	case errorsFigure:
		return Share(v, 1_000_000)
	case rateFigure:
		return Milli(v) + "/s"
	}
	return latencyOr(v)
}

// intervalText leaves out an end that is none.
func intervalText(c *compare.Change) string {
	switch {
	case c.HighPPM == compare.Boundless:
		return "over " + change(c, c.LowPPM)
	case c.LowPPM == -1_000_000 && c.Figure != errorsFigure:
		return "below " + change(c, c.HighPPM)
	}
	return change(c, c.LowPPM) + ".." + change(c, c.HighPPM)
}

// change writes by how much: of errors in points of a hundred.
func change(c *compare.Change, ppm int64) string {
	const tenfold = 10_000_000
	switch text := percent(ppm); {
	case c.Figure == errorsFigure:
		text = strings.TrimSuffix(text, "%") + "pt"
		if ppm > 0 && text != "0pt" {
			text = "+" + text
		}
		return text
	case ppm >= tenfold:
		return "x" + Count(min(uint64(ppm)/1_000_000, 9_999)+1)
	case ppm > 0 && text != "0%":
		return "+" + text
	default:
		return text
	}
}

// percent writes parts per million with the digits that matter.
func percent(ppm int64) string {
	v := float64(ppm) / 10_000
	switch a := math.Abs(v); {
	case a < 0.005:
		return "0%"
	case a < 1:
		return fmt.Sprintf("%.2f%%", v)
	case a < 100:
		return fmt.Sprintf("%.1f%%", v)
	}
	return fmt.Sprintf("%.0f%%", v)
}

// level writes parts per million as they were set.
func level(ppm uint32) string { return strconv.FormatFloat(float64(ppm)/10_000, 'f', -1, 64) + "%" }

func verdictWord(c *compare.Change) string {
	words := [2]string{"slower", "faster"}
	switch c.Figure {
	case errorsFigure:
		words = [2]string{"more", "fewer"}
	case rateFigure:
		words = [2]string{"lower", "higher"}
	}
	switch c.Verdict {
	case compare.Worse:
		return words[0]
	case compare.Better:
		return words[1]
	case compare.Few:
		return "too few"
	case compare.Untold:
		return "-"
	}
	return string(c.Verdict)
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

// hangTogether says why an interval is wider than so many requests would make it.
func (d *summary) hangTogether(s *compare.Step) {
	if last := len(s.Latency) - 1; last >= 0 {
		a, b := s.Design[0].Latency[last], s.Design[1].Latency[last]
		if max(a, b) >= designShown {
			d.wrap("  ", fmt.Sprintf("%s: slow requests come together: at %s the %s and %s say as much as %s and %s that had nothing to do with each other", Clean(s.Step), s.Latency[last].Figure,
				Count(s.Ended[0]), Count(s.Ended[1]), Count(independent(s.Ended[0], a)), Count(independent(s.Ended[1], b))), faint)
		}
	}
	if !s.Design[0].Known || !s.Design[1].Known {
		d.wrap("  ", Clean(s.Step)+": too short a run, or too old a file, to see whether slow requests come together: its intervals take each for itself", faint)
	}
}

func independent(n uint64, design float64) uint64 { return uint64(math.Round(float64(n) / design)) }

// service tells what is left of a change without waiting and connecting.
func (d *summary) service(s *compare.Step) {
	if s.Verdict != compare.Worse && s.Verdict != compare.Better {
		return
	}
	for i := range s.Service {
		if c := &s.Service[i]; i == len(s.Service)-1 && c.Base > 0 && c.New > 0 {
			d.wrap("  ", fmt.Sprintf("%s: without waiting and connecting its %s went from %s to %s (%s)", Clean(s.Step), c.Figure, Latency(c.Base), Latency(c.New), change(c, c.ChangePPM)), faint)
		}
	}
}

func (d *summary) alone(where string, all []compare.Place) {
	if len(all) == 0 {
		return
	}
	names := make([]string, 0, len(all))
	for _, at := range all {
		names = append(names, Clean(at.Step))
	}
	d.wrap("  ", where+": "+strings.Join(names, ", "), warn)
}
