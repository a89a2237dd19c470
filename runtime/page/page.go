package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"

	"hyperscale/core/stats"
	"hyperscale/runtime/page/markup"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// Style is the style of all pages: runtime/live has the same.
func Style() string { return style }

// frame is the common part of every page.
type frame struct {
	Headline string
	Left     string // what the size limit omitted
}

func (f *frame) around() *frame { return f }

// sheet is all that one page shows.
type sheet interface {
	around() *frame
	write(*paper)
}

// view is all that the page of a result shows.
type view struct {
	frame
	Verdict  verdict
	Turns    []string // in which order workflows begin; nil if all begin at once
	Listed   table    // workflows by state
	Flows    []workflow
	MoreFlow string
	Places   *places
	Sinks    table
	Again    *again
}

// drawer makes the parts of a page within limits; it counts down those of the whole page.
type drawer struct {
	limits
	result     *report.Result
	histograms map[*report.Step]*stats.Histogram
}

// histogramOf is nil where a step has none.
func (d *drawer) histogramOf(s *report.Step) *stats.Histogram {
	h, ok := d.histograms[s]
	if !ok {
		if read, err := s.Buckets.Histogram(); err == nil && read.Count() > 0 {
			h = read
		}
		d.histograms[s] = h
	}
	return h
}

// Render draws a result.
func Render(r *report.Result) ([]byte, error) {
	histograms := map[*report.Step]*stats.Histogram{} // to read them takes longer than all else
	return fit("The result is large", func(l limits) sheet { return draw(&drawer{l, r, histograms}) })
}

// fit writes what draw makes, with less and less until it is small enough (PAGE-3).
func fit(large string, draw func(limits) sheet) ([]byte, error) {
	for l, left := generous(), ""; ; l = l.harder() {
		var p paper
		all := draw(l)
		all.around().Left = left
		all.write(&p)
		if p.Len() <= sizeMax {
			return p.Bytes(), nil
		}
		if l == l.harder() {
			return nil, fmt.Errorf("draw the page: it is longer than %s however much is left out: use --out json=FILE", units.Bytes(sizeMax))
		}
		left = large + ": lists and charts are shorter here than usual, so that the page stays small. --out json=FILE keeps all."
	}
}

func draw(d *drawer) *view {
	v := &view{Verdict: d.verdict(), Turns: d.lines(d.result.Turns), Listed: d.list(), Places: d.places(), Sinks: d.sinks()}
	v.Headline = v.Verdict.Word + ": " + v.Verdict.Title
	for i := range first(d.result.Workflows, d.workflows) {
		v.Flows = append(v.Flows, d.workflow(&d.result.Workflows[i]))
	}
	v.MoreFlow = more(len(d.result.Workflows), d.workflows, "workflow")
	v.Again = d.again()
	return v
}

func (v *view) write(p *paper) {
	p.begin(&v.frame)
	p.verdict(&v.Verdict, v.Turns)
	p.Put("\n<main>")
	if v.Verdict.Trust != "" {
		p.Put("\n<p class=\"trust good\">%s</p>", v.Verdict.Trust)
	}
	for _, text := range v.Verdict.Warnings {
		p.warning(text)
	}
	p.warning(v.Left)
	p.Put("\n")
	p.table(&v.Verdict.Thresholds)
	p.Put("\n<dl class=\"facts\">")
	for _, f := range v.Verdict.Figures {
		p.Put("\n<div><dt>%s</dt><dd>%s<small>%s</small></dd></div>", f.Name, f.Value, f.More)
	}
	p.Put("\n</dl>")
	p.table(&v.Listed)
	for i := range v.Flows {
		p.workflow(&v.Flows[i])
	}
	p.note(v.MoreFlow)
	p.places(v.Places)
	p.sinks(&v.Sinks)
	p.again(v.Again)
	p.end(markup.HTML{})
}

func (p *paper) verdict(v *verdict, turns []string) {
	p.Put(`<header class="%s">
<button id="theme" type="button" hidden>light or dark</button>
<h1><span class="word">%s</span> %s</h1>
<p class="lead">%s</p>`, v.Class, v.Word, v.Title, v.Sentence)
	if v.Reason != "" {
		p.Put("\n<p class=\"reason\">%s</p>", v.Reason)
	}
	p.Put("\n<p class=\"note\">%s</p>", v.When)
	p.order(turns)
	p.Put("\n</header>")
}

func (p *paper) workflow(w *workflow) {
	p.Put("\n<section>\n<h2>%s <small>workflow</small></h2>\n<p class=\"note\">%s</p>", w.Name, w.Line)
	p.order(w.Order)
	if w.Reason != "" {
		p.Put("\n<p class=\"reason %s\">%s</p>", w.Class, w.Reason)
	}
	p.warning(w.Arrivals)
	p.Put("\n")
	p.figures(w.Figures)
	p.phases(w.Phases)
	p.tables(w.Tables)
	if len(w.Details) > 0 {
		p.Put("\n<h3>Step by step</h3>")
		p.details(w.Details)
		p.note(w.MoreDetail)
	}
	p.table(&w.Generator)
	if len(w.Logs) > 0 {
		p.Put("\n<h3>Logged</h3>\n<pre class=\"logs\">")
		for _, line := range w.Logs {
			p.Put("%s\n", line)
		}
		p.Put("</pre>")
		p.note(w.MoreLogs)
	}
	p.Put("\n</section>")
}

func (p *paper) places(all *places) {
	if all == nil {
		return
	}
	p.Put("\n<section>\n<h2>Datacenters</h2>")
	p.tables(all.Tables)
	for i := range all.Shares {
		s := &all.Shares[i]
		p.fold(s.Open, s.Name, s.Line)
		p.table(&s.Table)
		p.Put("</details>")
	}
	p.Put("\n</section>")
}

func (p *paper) sinks(t *table) {
	if len(t.Rows) == 0 {
		return
	}
	p.Put("\n<section>\n<h2>Where the rows went</h2>")
	p.table(t)
	p.Put("\n</section>")
}

func (p *paper) again(a *again) {
	if a == nil {
		return
	}
	p.Put("\n<section>\n<h2>Run it again</h2>\n<pre class=\"command\">%s</pre>", a.Command)
	p.table(&a.Machine)
	p.sources(a.Files)
	p.note(a.More)
	p.Put("\n</section>")
}

// policy forbids every request, and whatever script or style is not this page's own (PAGE-2).
func policy() string {
	own := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + own(style) + "; script-src " + own(script)
}
