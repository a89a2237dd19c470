package metastable

import (
	"fmt"
	"strings"
	"time"
)

// Sizes of the picture, in pixels.
const (
	pictureWidth = 390
	cellWidth    = 34
	cellHeight   = 16
	textUntil    = 160
	groupGap     = 14
	headHeight   = 46
	groupHeight  = 20
)

const style = `<style>
rect.b { fill: #ffffff } text { fill: #1c1e21 } rect.g { fill: #2e7d32 } rect.s { fill: #e0a050 } rect.r { fill: #c62828 }
@media (prefers-color-scheme: dark) { rect.b { fill: #16181d } text { fill: #e4e6eb } rect.g { fill: #4c9a50 } rect.r { fill: #ff7a70 } }
</style>
`

// unit writes a depth in the unit of its trigger.
func unit(trigger string, depth int) string {
	switch trigger {
	case Capacity:
		return fmt.Sprintf("%d times slower", depth)
	case Spike:
		return fmt.Sprintf("%d times as much", depth)
	case Restart:
		return fmt.Sprintf("down %d times", depth)
	}
	return fmt.Sprintf("%d %% cut off", depth)
}

// Picture draws each cell: green recovers within its bound, orange later, red not at all.
func Picture(rows []Row) string {
	height := headHeight + 24
	for _, r := range rows {
		height += groupHeight + groupGap + cellHeight*len(r.Depths)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Which cells recover, without guards and with them" font-family="sans-serif" font-size="11">`+"\n", pictureWidth, height, pictureWidth, height)
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="b" width="%d" height="%d"/>`+"\n", pictureWidth, height)
	left, right := textUntil, textUntil+3*cellWidth+12
	text := func(x, y int, s string) { fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x, y, s) }
	text(left, 16, "without guards")
	text(right, 16, "with guards")
	for i, l := range lengths() {
		text(left+i*cellWidth+4, 34, l.String())
		text(right+i*cellWidth+4, 34, l.String())
	}
	y := headHeight
	for _, r := range rows {
		text(8, y+12, r.Loop+": "+r.Trigger)
		y += groupHeight
		for i, d := range r.Depths {
			text(16, y+12, unit(r.Trigger, d))
			for k := range r.Lengths {
				square(&b, left+k*cellWidth, y, &r.Without[i][k])
				square(&b, right+k*cellWidth, y, &r.With[i][k])
			}
			y += cellHeight
		}
		y += groupGap
	}
	for i, s := range []string{"within its bound", "later", "not at all"} {
		x := 8 + i*120
		fmt.Fprintf(&b, `<rect class="%c" x="%d" y="%d" width="12" height="12"/>`+"\n", "gsr"[i], x, y)
		text(x+18, y+10, s)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func square(b *strings.Builder, x, y int, o *Outcome) {
	class := "r"
	switch {
	case o.Good():
		class = "g"
	case o.Recovered:
		class = "s"
	}
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`+"\n", class, x, y, cellWidth-2, cellHeight-2)
}

// Table lists all cells as Markdown: the time to recover, and how much was sent for what was
// asked in the worst 10 s.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| loop, trigger | depth |")
	for _, guards := range []string{"without", "with"} {
		for _, l := range lengths() {
			fmt.Fprintf(&b, " %s, %v |", guards, l)
		}
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|", 2*len(lengths())) + "\n")
	for _, r := range rows {
		for i, d := range r.Depths {
			fmt.Fprintf(&b, "| %s, %s | %s |", r.Loop, r.Trigger, unit(r.Trigger, d))
			for _, line := range [][]Outcome{r.Without[i], r.With[i]} {
				for k := range line {
					fmt.Fprintf(&b, " %s |", line[k].text())
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// text is a cell of the table.
func (o *Outcome) text() string {
	sent := fmt.Sprintf("x%d.%02d", o.Peak/1000, o.Peak%1000/10)
	if !o.Recovered {
		return "never, " + sent
	}
	return o.Took.Round(time.Second).String() + ", " + sent
}
