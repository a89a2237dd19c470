package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hyperscale/runtime/compare"
)

// designShown is from where on it is worth telling that requests hang together.
const designShown = 2

// PairWord is the verdict on two files in words.
func PairWord(v compare.Verdict) string {
	switch v {
	case compare.Regression:
		return "Regression"
	case compare.Improvement:
		return "Better"
	case compare.Same:
		return "Same"
	case compare.Noise:
		return "No regression"
	case compare.Few:
		return "Too few requests to tell"
	}
	return "Nothing to tell"
}

// HowKnown says what the intervals of a comparison cover, and what they do not.
func HowKnown(c *compare.Comparison) string {
	return fmt.Sprintf("All intervals of a pair hold together with %s. A change below %s is called the same, of errors one below %s of all requests. "+
		"What differs from one run of the same to the next is in no interval: run each twice to see it.",
		Level(1_000_000-c.AlphaPPM), Level(c.TolerancePPM), Level(c.ErrorFloorPPM))
}

// Figures are all that is compared of a step.
func Figures(s *compare.Step) []*compare.Change {
	var all []*compare.Change
	for i := range s.Latency {
		all = append(all, &s.Latency[i])
	}
	return append(all, &s.Errors, &s.Rate)
}

// The figures that are no latency.
const (
	ErrorsFigure = "errors"
	rateFigure   = "rate"
)

// FigureValue writes a figure with its unit.
func FigureValue(c *compare.Change, v uint64) string {
	switch c.Figure {
	case ErrorsFigure:
		return Share(v, 1_000_000)
	case rateFigure:
		return Milli(v) + "/s"
	}
	return LatencyOr(v)
}

// Bounds writes an interval. It leaves out an end that is none.
func Bounds(c *compare.Change) string {
	switch {
	case !c.Tested:
		return "-"
	case c.HighPPM == compare.Boundless:
		return "at least " + ChangeText(c, c.LowPPM)
	case c.LowPPM == -1_000_000 && c.Figure != ErrorsFigure:
		return "at most " + ChangeText(c, c.HighPPM)
	}
	return ChangeText(c, c.LowPPM) + ".." + ChangeText(c, c.HighPPM)
}

// By writes by how much a figure moved, if it was measured in both files.
func By(c *compare.Change) string {
	if c.Figure != ErrorsFigure && (c.Base == 0 || c.New == 0) {
		return "-"
	}
	return ChangeText(c, c.ChangePPM)
}

// ChangeText writes by how much: of errors in points of a hundred.
func ChangeText(c *compare.Change, ppm int64) string {
	const tenfold = 10_000_000
	switch text := percent(ppm); {
	case c.Figure == ErrorsFigure:
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

// Level writes parts per million as they were set.
func Level(ppm uint32) string { return strconv.FormatFloat(float64(ppm)/10_000, 'f', -1, 64) + "%" }

// ChangeWord describes a change of a figure in a word: slower, fewer, noise.
func ChangeWord(c *compare.Change) string {
	words := [2]string{"slower", "faster"}
	switch c.Figure {
	case ErrorsFigure:
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

// StepNotes say why a step's intervals are as wide as they are, and how much of a change
// remains without waiting and connecting.
func StepNotes(s *compare.Step) (notes []string) {
	name := Clean(s.Step)
	if last := len(s.Latency) - 1; last >= 0 {
		if a, b := s.Design[0].Latency[last], s.Design[1].Latency[last]; max(a, b) >= designShown {
			notes = append(notes, fmt.Sprintf("%s: slow requests come together: at %s the %s and %s say as much as %s and %s that had nothing to do with each other", name, s.Latency[last].Figure,
				Count(s.Ended[0]), Count(s.Ended[1]), Count(independent(s.Ended[0], a)), Count(independent(s.Ended[1], b))))
		}
	}
	if !s.Design[0].Known || !s.Design[1].Known {
		notes = append(notes, name+": too short a run, or too old a file, to see whether slow requests come together: its intervals take each for itself")
	}
	if s.Verdict != compare.Worse && s.Verdict != compare.Better {
		return notes
	}
	if last := len(s.Service) - 1; last >= 0 {
		if c := &s.Service[last]; c.Base > 0 && c.New > 0 {
			notes = append(notes, fmt.Sprintf("%s: without waiting and connecting its %s went from %s to %s (%s)", name, c.Figure, Latency(c.Base), Latency(c.New), ChangeText(c, c.ChangePPM)))
		}
	}
	return notes
}

func independent(n uint64, design float64) uint64 { return uint64(math.Round(float64(n) / design)) }

// lineFigures bounds the figures that a line names.
const lineFigures = 3

// PairLine says in a line what moved between two runs.
func PairLine(p *compare.Pair) string {
	var worse, better []string
	for i := range p.Steps {
		for _, c := range Figures(&p.Steps[i]) {
			text := fmt.Sprintf("%s %s %s (%s)", Clean(Shorten(p.Steps[i].Step, 40)), c.Figure, By(c), ChangeWord(c))
			switch c.Verdict {
			case compare.Worse:
				worse = append(worse, text)
			case compare.Better:
				better = append(better, text)
			}
		}
	}
	moved := append(worse, better...)
	switch {
	case len(moved) > lineFigures:
		return fmt.Sprintf("%s, and %d more", strings.Join(moved[:lineFigures], ", "), len(moved)-lineFigures)
	case len(moved) > 0:
		return strings.Join(moved, ", ")
	case p.Verdict == compare.Noise:
		return "nothing moved by more than chance"
	case p.Verdict == compare.Same:
		return "nothing moved"
	}
	return strings.ToLower(PairWord(p.Verdict))
}
