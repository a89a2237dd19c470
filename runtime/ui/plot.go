package ui

import "strings"

// plot draws two series in braille, four dots high and two wide a character. A run
// of known length fills the width at its end; a longer one shows its newest part.
type plot struct {
	style         Style
	width, height int // of the picture in characters, without its axis
	expect        int // points that the whole run will have; 0: not known
}

// dots are the bits of a braille character, by column and row.
var dots = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// draw returns height lines with an axis of latencies at their left.
func (p plot) draw(points []Point) []string {
	points = points[max(0, len(points)-2*p.width):]
	top := uint64(1)
	for _, pt := range points {
		top = max(top, pt.P99)
	}
	top = ceiling(top)
	type mark struct {
		bits  rune
		lower bool // of P50: its colour wins
	}
	cells := make([]mark, p.width*p.height)
	rows := p.height * 4
	put := func(x, y int, lower bool) {
		c := &cells[(rows-1-y)/4*p.width+x/2]
		c.bits |= dots[x%2][(rows-1-y)%4]
		c.lower = c.lower || lower
	}
	span := max(len(points), min(p.expect, 2*p.width))
	line := func(value func(Point) uint64, lower bool) {
		before := -1
		for i, pt := range points {
			y := min(int(float64(value(pt))/float64(top)*float64(rows)), rows-1)
			x, end := i*2*p.width/span, (i+1)*2*p.width/span
			if before >= 0 { // join it to its neighbour
				for from := min(y, before); from <= max(y, before); from++ {
					put(x, from, lower)
				}
			}
			for ; x < end; x++ {
				put(x, y, lower)
			}
			before = y
		}
	}
	line(func(pt Point) uint64 { return pt.P99 }, false)
	line(func(pt Point) uint64 { return pt.P50 }, true)
	var lines []string
	for row := range p.height {
		axis := ""
		switch row {
		case 0:
			axis = Latency(top)
		case p.height - 1:
			axis = "0"
		}
		var b strings.Builder
		b.WriteString(p.style.paint(faint, right(axis, axisWidth)+" ┤"))
		for _, c := range cells[row*p.width : (row+1)*p.width] {
			colour := warn
			if c.lower {
				colour = accent
			}
			if c.bits == 0 {
				b.WriteByte(' ')
				continue
			}
			b.WriteString(p.style.paint(colour, string(0x2800+c.bits)))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// axisWidth fits every Latency.
const axisWidth = 7

// ceiling is the next of 1, 2, 5 times a power of ten, so that the axis rests.
func ceiling(v uint64) uint64 {
	for power := uint64(1); power < 1<<60; power *= 10 {
		for _, step := range [...]uint64{1, 2, 5} {
			if step*power >= v {
				return step * power
			}
		}
	}
	return v
}
