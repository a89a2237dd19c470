package page

import (
	"math"

	"hyperscale/runtime/compare"
	"hyperscale/runtime/page/markup"
	"hyperscale/runtime/ui/units"
)

// moved groups the figures that changed by their verdict.
func (d *contrast) moved(p *compare.Pair) part {
	out := part{Title: "What moved", Lead: "The interval is where the true change lies; the shaded band in its drawing is the tolerance, the line in it no change."}
	for _, one := range []struct {
		verdict compare.Verdict
		caption string
		note    string
	}{
		{compare.Worse, "Worse", ""},
		{compare.Better, "Better", ""},
		{compare.Noise, "Noise", "They moved by more than the tolerance, but as much happens by chance."},
	} {
		t := d.changes(p, one.caption, func(c *compare.Change) bool { return c.Verdict == one.verdict })
		t.Note = one.note
		if len(t.Rows) > 0 {
			out.Tables = append(out.Tables, t)
		}
	}
	if len(out.Tables) == 0 {
		return part{}
	}
	return out
}

// figures are all of them, and why their intervals are as wide as they are.
func (d *contrast) figures(p *compare.Pair) part {
	out := part{Title: "All figures", Tables: []table{d.changes(p, "", func(*compare.Change) bool { return true })}}
	for i := range first(p.Steps, d.rows) {
		for _, note := range units.StepNotes(&p.Steps[i]) {
			out.Notes = append(out.Notes, d.told(note))
		}
	}
	return out
}

// stepName says the workflow, too, where there are several.
func (d *contrast) stepName(p *compare.Pair, at *compare.Place) string {
	for i := range p.Steps {
		if p.Steps[i].Workflow != p.Steps[0].Workflow {
			return d.named(at.Workflow) + ": " + d.named(at.Step)
		}
	}
	return d.named(at.Step)
}

func (d *contrast) changes(p *compare.Pair, caption string, which func(*compare.Change) bool) table {
	t := table{Caption: caption, Head: heads("step", "figure", "", "#change", "#baseline", "#now", "#"+units.Level(1_000_000-d.AlphaPPM)+" interval", "")}
	s, left := d.scale(p), 0
	for i := range p.Steps {
		name := d.stepName(p, &p.Steps[i].Place)
		for _, c := range units.Figures(&p.Steps[i]) {
			if !which(c) {
				continue
			}
			if len(t.Rows) == d.rows {
				left++
				continue
			}
			verdict := cell{Text: units.ChangeWord(c)}
			if c.Verdict == compare.Worse || c.Verdict == compare.Better || c.Verdict == compare.Few {
				verdict.Class = verdictClass(c.Verdict)
			}
			row := append(words(name, c.Figure), verdict)
			row = append(row, words(units.By(c), units.FigureValue(c, c.Base), units.FigureValue(c, c.New), units.Bounds(c))...)
			t.Rows = append(t.Rows, append(row, cell{Drawing: s.interval(c)}))
			name = ""
		}
	}
	t.More = more(left, 0, "figure")
	return t
}

// scale is the common scale of intervals below each other. Near zero it is linear, far off
// logarithmic, so that one step that is ten times as slow does not hide all others.
type scale struct{ tolerance, floor, far float64 }

func (d *contrast) scale(p *compare.Pair) *scale {
	s := &scale{tolerance: math.Max(float64(d.TolerancePPM), 1), floor: math.Max(float64(d.ErrorFloorPPM), 1), far: 2}
	for i := range p.Steps {
		for _, c := range units.Figures(&p.Steps[i]) {
			for _, ppm := range []int64{c.LowPPM, c.ChangePPM, c.HighPPM} {
				if c.Tested && ppm != compare.Boundless {
					s.far = math.Max(s.far, math.Abs(s.tolerances(c, ppm)))
				}
			}
		}
	}
	return s
}

// tolerances are how many times the tolerance a change is.
func (s *scale) tolerances(c *compare.Change, ppm int64) float64 {
	if c.Figure == units.ErrorsFigure {
		return float64(ppm) / s.floor
	}
	return float64(ppm) / s.tolerance
}

// The drawing of an interval, in pixels.
const (
	intervalWidth  = 132
	intervalHeight = 16
)

// at is where so many tolerances are.
func (s *scale) at(tolerances float64) float64 {
	share := math.Asinh(tolerances) / math.Asinh(s.far)
	return intervalWidth/2 + (intervalWidth/2-6)*math.Min(1, math.Max(-1, share))
}

// interval is a line between the bounds, and a dot at the change.
func (s *scale) interval(c *compare.Change) markup.HTML {
	if !c.Tested {
		return markup.HTML{}
	}
	low, at, high := s.at(s.tolerances(c, c.LowPPM)), s.at(s.tolerances(c, c.ChangePPM)), s.at(s.tolerances(c, c.HighPPM))
	class := "same"
	switch c.Verdict {
	case compare.Worse:
		class = bad
	case compare.Better:
		class = good
	}
	var w markup.Writer
	w.Put(`<svg class="interval %s" width="%d" height="%d" aria-hidden="true"><rect x="%.1f" width="%.1f" height="%d"/><path d="M%d 0v%d"/><path class="line" d="M%.1f 8H%.1f"/><circle cx="%.1f" cy="8" r="4"/></svg>`,
		class, intervalWidth, intervalHeight, s.at(-1), s.at(1)-s.at(-1), intervalHeight, intervalWidth/2, intervalHeight, low, high, at)
	return w.HTML()
}
