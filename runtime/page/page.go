package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"

	"hyperscale/core/stats"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

var (
	//go:embed parts.html
	parts string
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// Style is the style of all pages: runtime/live has the same.
func Style() string { return style }

// frame is the common part of every page.
type frame struct {
	Style    template.CSS
	Script   template.JS
	Policy   string
	Headline string
	Left     string // what the size limit omitted
}

// view is all that page.html shows.
type view struct {
	frame
	Verdict  verdict
	Turns    []string // in which order workflows begin; nil if all begin at once
	Listed   table    // workflows by state
	Flows    []workflow
	MoreFlow string
	Places   *places
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
	return fit(layout, "The result is large", func(l limits) (*frame, any) {
		v := draw(&drawer{l, r, histograms})
		return &v.frame, v
	})
}

// fit fills a layout with what draw makes, with less and less until it is small enough (PAGE-3).
func fit(layout, large string, draw func(limits) (*frame, any)) ([]byte, error) {
	t, err := template.New("page").Parse(parts + layout)
	if err != nil {
		return nil, fmt.Errorf("read the page's layout: %w", err)
	}
	var b bytes.Buffer
	for l, left := generous(), ""; ; l = l.harder() {
		b.Reset()
		around, all := draw(l)
		around.Style, around.Script, around.Policy, around.Left = template.CSS(style), template.JS(script), policy(), left //nolint:gosec // our own files
		if err := t.Execute(&b, all); err != nil {
			return nil, fmt.Errorf("draw the page: %w", err)
		}
		if b.Len() <= sizeMax {
			return b.Bytes(), nil
		}
		if l == l.harder() {
			return nil, fmt.Errorf("draw the page: it is longer than %s however much is left out: use --out json=FILE", units.Bytes(sizeMax))
		}
		left = large + ": lists and charts are shorter here than usual, so that the page stays small. --out json=FILE keeps all."
	}
}

func draw(d *drawer) *view {
	v := &view{Verdict: d.verdict(), Turns: d.lines(d.result.Turns), Listed: d.list(), Places: d.places()}
	v.Headline = v.Verdict.Word + ": " + v.Verdict.Title
	for i := range first(d.result.Workflows, d.workflows) {
		v.Flows = append(v.Flows, d.workflow(&d.result.Workflows[i]))
	}
	v.MoreFlow = more(len(d.result.Workflows), d.workflows, "workflow")
	v.Again = d.again()
	return v
}

// policy forbids every request, and whatever script or style is not this page's own (PAGE-2).
func policy() string {
	own := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + own(style) + "; script-src " + own(script)
}
