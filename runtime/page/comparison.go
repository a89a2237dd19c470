package page

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"hyperscale/core/stats"
	"hyperscale/runtime/compare"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

//go:embed comparison.html
var comparisonLayout string

// comparisonView is all that comparison.html shows.
type comparisonView struct {
	frame
	told             // of the only pair, or of all
	Summary   table  // of the pairs, if there are several
	Pairs     []pair // each with what it needs to be told, if there are several
	MorePairs string // pairs left out
	Known     string // what the intervals mean
}

// told is what a reader who stops after it has read.
type told struct{ Class, Word, Title, Sentence, When string }

// pair is the baseline and one other file.
type pair struct {
	Name string // empty if it is the only one
	told
	Warnings []string
	Parts    []part
}

// part is a piece of a pair under one heading.
type part struct {
	Title, Lead string
	Figures     []figure
	Phases      *phases
	Details     []detail
	Tables      []table
	Commands    []labelled
	Diffs       []diffed
	Sources     []source
	Notes       []string
}

type labelled struct{ Name, Text string }

// contrast makes the parts of a comparison's page within limits.
type contrast struct {
	drawer
	*compare.Comparison
}

// Comparison draws what differs between runs.
func Comparison(c *compare.Comparison) ([]byte, error) {
	histograms := map[*report.Step]*stats.Histogram{}
	return fit(comparisonLayout, "The runs are large", func(l limits) (*frame, any) {
		d := &contrast{drawer{limits: l, histograms: histograms}, c}
		v := d.view()
		return &v.frame, v
	})
}

func (d *contrast) view() *comparisonView {
	v := &comparisonView{Known: units.HowKnown(d.Comparison), MorePairs: more(len(d.Comparison.Pairs), d.workflows, "file")}
	shown := first(d.Comparison.Pairs, d.workflows)
	for i := range shown {
		v.Pairs = append(v.Pairs, d.pair(&shown[i]))
	}
	if len(v.Pairs) == 1 {
		v.told = v.Pairs[0].told
	} else {
		v.told, v.Summary = d.all(), d.summary()
		for i := range v.Pairs {
			v.Pairs[i].Name = v.Pairs[i].Title
		}
	}
	v.Headline = v.Word + ": " + v.Title
	return v
}

// pair shows one comparison: the verdict first, then the changes, then their basis.
func (d *contrast) pair(p *compare.Pair) pair {
	out := pair{told: told{Class: verdictClass(p.Verdict), Word: units.PairWord(p.Verdict), Title: d.named(p.Run.File) + " against " + d.named(d.Baseline.File)}}
	out.Sentence = d.sentence(p)
	out.When = "Baseline: " + when(&d.Baseline) + ". Now: " + when(&p.Run) + "."
	for _, caution := range first(p.Cautions, d.rows) {
		out.Warnings = append(out.Warnings, d.told(caution))
	}
	for _, one := range []part{d.moved(p), d.curves(p), d.figures(p), d.load(p), d.kept(p), d.runs(p)} {
		if one.Title != "" {
			out.Parts = append(out.Parts, one)
		}
	}
	return out
}

// verdictClass is what sort of news a verdict is.
func verdictClass(v compare.Verdict) string {
	switch v {
	case compare.Regression, compare.Worse:
		return bad
	case compare.Improvement, compare.Better, compare.Same, compare.Noise:
		return good
	}
	return warn
}

// sentence counts figures by verdict.
func (d *contrast) sentence(p *compare.Pair) string {
	counts := map[compare.Verdict]int{}
	all := 0
	for i := range p.Steps {
		for _, c := range units.Figures(&p.Steps[i]) {
			counts[c.Verdict]++
			all++
		}
	}
	said := fmt.Sprintf("Of %s in %s", units.Counted(uint64(all), "figure"), units.Counted(uint64(len(p.Steps)), "step"))
	var parts []string
	for _, one := range []struct {
		verdict compare.Verdict
		words   string
	}{
		{compare.Worse, "got worse"}, {compare.Better, "got better"}, {compare.Noise, "moved by no more than chance"}, {compare.Same, "stayed the same"},
		{compare.Few, "had too few requests to tell"}, {compare.Untold, "are told only"},
	} {
		if n := counts[one.verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.words))
		}
	}
	return said + " " + strings.Join(parts, "; ") + "."
}

func when(r *compare.Run) string {
	said := units.Duration(time.Duration(r.DurationNS))
	if at, err := time.Parse(time.RFC3339Nano, r.StartedAt); err == nil {
		return at.Format("2 January 2006, 15:04:05 MST") + ", " + said
	}
	return said
}

// all returns the overall result of several pairs.
func (d *contrast) all() told {
	worse := 0
	for i := range d.Comparison.Pairs {
		if d.Comparison.Pairs[i].Verdict == compare.Regression {
			worse++
		}
	}
	n := units.Counted(uint64(len(d.Comparison.Pairs)), "file")
	out := told{Class: verdictClass(d.Comparison.Verdict), Word: units.PairWord(d.Comparison.Verdict), Title: n + " against " + d.named(d.Baseline.File)}
	out.Sentence = fmt.Sprintf("%d of %s with a regression.", worse, n)
	out.When = "Baseline: " + when(&d.Baseline) + "."
	return out
}

func (d *contrast) summary() table {
	t := table{Caption: "Each against the baseline", Head: heads("", "file", "what moved"), More: more(len(d.Comparison.Pairs), d.rows, "file")}
	for i := range first(d.Comparison.Pairs, d.rows) {
		p := &d.Comparison.Pairs[i]
		t.Rows = append(t.Rows, []cell{{Text: units.PairWord(p.Verdict), Class: verdictClass(p.Verdict)}, {Text: d.named(p.Run.File)}, {Text: d.sentence(p), Class: "wide"}})
	}
	return t
}
