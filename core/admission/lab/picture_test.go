package lab

import (
	"fmt"
	"strings"
)

// Sizes of the picture. It is as wide as a phone, so that nothing is scaled down there.
const (
	pictureWidth = 390
	panelLeft    = 54
	panelRight   = 380
	panelHeight  = 190
	panelsTop    = 34
	panelsGap    = 74
)

// style draws on light and on dark pages. Colours follow the columns.
const style = `<style>
rect.b { fill: #ffffff } text { fill: #1c1e21 } path.g { stroke: #dadde1 } path.a { stroke: #888d93 }
.c0 { --c: #777777 } .c1 { --c: #a05a00 } .c2 { --c: #1565c0 } .c3 { --c: #7a5bb5 } .c4 { --c: #00838f } .c5 { --c: #c2185b } .c6 { --c: #c62828 } .c7 { --c: #2e7d32 }
polyline { fill: none; stroke: var(--c); stroke-width: 1.6 } polyline.c7 { stroke-width: 3.2 } rect.k { fill: var(--c) }
@media (prefers-color-scheme: dark) {
rect.b { fill: #16181d } text { fill: #e4e6eb } path.g { stroke: #33373d } path.a { stroke: #888d93 }
.c0 { --c: #a8adb3 } .c1 { --c: #e0a050 } .c2 { --c: #64a8f0 } .c3 { --c: #b79cf0 } .c4 { --c: #4dc4d0 } .c5 { --c: #f06aa0 } .c6 { --c: #ff7a70 } .c7 { --c: #6fd075 }
}
</style>
`

// picture draws goodput by load above goodput after a step.
func (f *Figures) picture() string {
	var b strings.Builder
	legend := panelsTop + 2*panelHeight + panelsGap + 44
	height := legend + 22*((len(f.Columns)+2)/3)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Goodput of %d algorithms by load, and after a step" font-family="sans-serif" font-size="12">`+"\n", pictureWidth, height, pictureWidth, height, len(f.Columns))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="b" width="%d" height="%d"/>`+"\n", pictureWidth, height)
	var names []string
	for _, l := range loads()[1:] {
		names = append(names, times(l))
	}
	byLoad := func(r *Row) (all []int64) {
		for _, c := range r.Steady[1:] {
			all = append(all, c.Good)
		}
		return all
	}
	f.panel(&b, panelsTop, 600, "Goodput by offered load, from 60 % up", names, byLoad)
	f.panel(&b, panelsTop+panelHeight+panelsGap, 0, "Goodput after a step from 0.5x to 1.4x", []string{"0 s", "1 s", "2 s", "3 s", "4 s", "5 s"}, func(r *Row) []int64 { return r.Step.Series })
	for i := range f.Columns {
		x, y := panelLeft+i%3*118, legend+i/3*22
		fmt.Fprintf(&b, `<rect class="k c%d" x="%d" y="%d" width="12" height="12"/><text x="%d" y="%d">%s</text>`+"\n", i, x, y-10, x+18, y, f.Columns[i].Name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// panel draws one line for each column, from a least goodput to a little above 100 %. What is
// less lies on the axis.
func (f *Figures) panel(b *strings.Builder, top int, least int64, title string, names []string, values func(*Row) []int64) {
	bottom := top + panelHeight
	span := (1000 - least) * 11 / 10
	y := func(tenths int64) float64 {
		return float64(bottom) - float64(min(span, max(0, tenths-least))*panelHeight)/float64(span)
	}
	x := func(i, n int) float64 { return panelLeft + float64(i*(panelRight-panelLeft-14))/float64(n-1) }
	fmt.Fprintf(b, `<text x="8" y="%d" font-size="14">%s</text>`+"\n", top-12, title)
	for tenths := least; tenths <= 1000; tenths += (1000 - least) / 4 {
		class := "g"
		if tenths == least {
			class = "a"
		}
		fmt.Fprintf(b, `<path class="%s" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", class, panelLeft, y(tenths), panelRight, panelLeft-4, y(tenths)+4, strings.Replace(percent(tenths), ".0", "", 1))
	}
	for i, name := range names {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(i, len(names)), bottom+18, name)
	}
	for i := range f.Columns {
		all := values(&f.Columns[i])
		var points []string
		for k, v := range all {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(k, len(all)), y(v)))
		}
		fmt.Fprintf(b, `<polyline class="c%d" points="%s"/>`+"\n", i, strings.Join(points, " "))
	}
}
