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
	"hyperscale/runtime/ui"
)

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// view is all that page.html shows.
type view struct {
	Style    template.CSS
	Script   template.JS
	Policy   string
	Verdict  verdict
	Flows    []workflow
	MoreFlow string
	Places   *places
	Again    *again
	Left     string // what the size did not allow
}

// drawer makes the parts of a page within limits; what is for the whole page it spends.
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
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return nil, fmt.Errorf("read the page's layout: %w", err)
	}
	var b bytes.Buffer
	histograms := map[*report.Step]*stats.Histogram{} // to read them takes longer than all else
	for l, left := generous(), ""; ; l = l.harder() {
		b.Reset()
		if err := t.Execute(&b, draw(&drawer{l, r, histograms}, left)); err != nil {
			return nil, fmt.Errorf("draw the page: %w", err)
		}
		if b.Len() <= sizeMax {
			return b.Bytes(), nil
		}
		if l == l.harder() {
			return nil, fmt.Errorf("draw the page: it is longer than %s however much is left out: use --out json=FILE", ui.Bytes(sizeMax))
		}
		left = "The result is large: lists and charts are shorter here than usual, so that the page stays small. --out json=FILE keeps all."
	}
}

func draw(d *drawer, left string) *view {
	v := &view{
		Style: template.CSS(style), Script: template.JS(script), Policy: policy(), //nolint:gosec // our own files
		Verdict: d.verdict(), Places: d.places(), Left: left,
	}
	for i := range first(d.result.Workflows, d.workflows) {
		v.Flows = append(v.Flows, d.workflow(&d.result.Workflows[i]))
	}
	v.MoreFlow = more(len(d.result.Workflows), d.workflows, "workflow")
	v.Again = d.again()
	return v
}

// policy forbids every request, and whatever script or style is not this page's own (P2).
func policy() string {
	own := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + own(style) + "; script-src " + own(script)
}
