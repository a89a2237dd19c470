package page

import (
	"fmt"
	"strings"
	"time"

	"hyperscale/core/stats"
	"hyperscale/runtime/compare"
	"hyperscale/runtime/page/markup"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// comparisonView is all that the page of a comparison shows.
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
	return fit("The runs are large", func(l limits) sheet {
		return (&contrast{drawer{limits: l, histograms: histograms}, c}).view()
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

func (v *comparisonView) write(p *paper) {
	p.begin(&v.frame)
	p.Put(`<header class="%s">
<button id="theme" type="button" hidden>light or dark</button>
<h1><span class="word">%s</span> %s</h1>
<p class="lead">%s</p>
<p class="note">%s</p>
</header>
<main>`, v.Class, v.Word, v.Title, v.Sentence, v.When)
	p.warning(v.Left)
	p.table(&v.Summary)
	for i := range v.Pairs {
		p.pair(&v.Pairs[i])
	}
	p.note(v.MorePairs)
	var known markup.Writer
	known.Put("<p class=\"note\">%s</p>\n", v.Known)
	p.end(known.HTML())
}

func (p *paper) pair(one *pair) {
	p.Put("\n<section>")
	if one.Name != "" {
		p.Put("\n<h2>%s <small>%s</small></h2>\n<p class=\"note\">%s</p>\n<p>%s</p>", one.Name, one.Word, one.When, one.Sentence)
	}
	for _, text := range one.Warnings {
		p.warning(text)
	}
	for i := range one.Parts {
		p.part(&one.Parts[i], one.Name != "")
	}
	p.Put("\n</section>")
}

// part has a heading below that of its pair, if that has one.
func (p *paper) part(one *part, below bool) {
	if below {
		p.Put("\n<h3>%s</h3>", one.Title)
	} else {
		p.Put("\n<h2 class=\"part\">%s</h2>", one.Title)
	}
	p.note(one.Lead)
	if len(one.Figures) > 0 {
		p.figures(one.Figures)
	}
	p.phases(one.Phases)
	p.details(one.Details)
	p.tables(one.Tables)
	for _, c := range one.Commands {
		p.Put("\n<p>%s</p>\n<pre class=\"command\">%s</pre>", c.Name, c.Text)
	}
	for i := range one.Diffs {
		p.diff(&one.Diffs[i])
	}
	p.sources(one.Sources)
	for _, text := range one.Notes {
		p.note(text)
	}
}

func (p *paper) diff(d *diffed) {
	p.fold(d.Open, d.Name, d.Line)
	p.Put("<pre class=\"diff\">")
	for _, line := range d.Lines {
		if line.Class == "" {
			p.Put("%s\n", line.Text)
			continue
		}
		p.Put("<span class=\"%s\">%s</span>\n", line.Class, line.Text)
	}
	p.Put("</pre></details>")
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
