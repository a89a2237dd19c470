package ui

import (
	"strings"
	"time"

	"hyperscale/runtime/ui/cells"
	"hyperscale/runtime/ui/units"
)

// plot draws series over time in braille, four dots high and two wide a character, or
// in ASCII, two high and one wide. Time begins at the left and ends with the run, if
// that is known, else with the newest point.
type plot struct {
	style         Style
	width, height int // of the whole, with its axes
	from, to      time.Duration
	unit          func(uint64) string
	series        []series // a later one wins where they meet
}

// series is one line, or an area down to zero.
type series struct {
	value  func(Point) uint64
	colour string
	area   bool
}

// axisWidth fits every number next to a picture.
const axisWidth = 7

// dots are the bits of a braille character, by column and row.
var dots = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// canvas is the picture of a plot.
type canvas struct {
	wide, high    int // in characters
	across, down  int // dots of a character
	columns, rows int // in dots
	bits          []rune
	colour        []uint8 // of palette
	palette       []string
}

func newCanvas(wide, high int, style Style) *canvas {
	c := &canvas{wide: wide, high: high, across: 2, down: 4}
	if style.ASCII {
		c.across, c.down = 1, 2
	}
	c.columns, c.rows = wide*c.across, high*c.down
	c.bits, c.colour, c.palette = make([]rune, wide*high), make([]uint8, wide*high), []string{""}
	return c
}

// dot sets one, counted from the lower left.
func (c *canvas) dot(x, y int, colour uint8) {
	row := c.rows - 1 - y
	at := row/c.down*c.wide + x/c.across
	c.bits[at] |= dots[x%c.across][row%c.down]
	c.colour[at] = colour
}

// cut clears the dots of a character that another series uses. A character has one colour, and
// an area must not look larger because of a series behind it.
func (c *canvas) cut(x, y int, colour uint8) {
	if at := (c.rows-1-y)/c.down*c.wide + x/c.across; c.colour[at] != colour {
		c.bits[at] = 0
	}
}

// glyph is a character of the picture.
func (c *canvas) glyph(bits rune) rune {
	if c.across == 2 {
		return 0x2800 + bits
	}
	return []rune(" '.:")[bits&3]
}

// line writes a row of characters; neighbours of one colour share its sequence.
func (c *canvas) line(b *strings.Builder, s Style, row int) {
	end := (row + 1) * c.wide
	for end > row*c.wide && c.bits[end-1] == 0 {
		end--
	}
	var run strings.Builder
	colour := uint8(0)
	for at := row * c.wide; at < end; at++ {
		if c.bits[at] != 0 && c.colour[at] != colour {
			b.WriteString(s.paint(c.palette[colour], run.String()))
			run.Reset()
			colour = c.colour[at]
		}
		if c.bits[at] == 0 {
			run.WriteByte(' ')
			continue
		}
		run.WriteRune(c.glyph(c.bits[at]))
	}
	b.WriteString(s.paint(c.palette[colour], run.String()))
}

// draw returns height lines: the picture with numbers at its left, and the times below.
func (p *plot) draw(points []Point) []string {
	wide, high := p.width-axisWidth-2, p.height-1
	if wide < 4 || high < 1 || p.to <= p.from {
		return nil
	}
	c := newCanvas(wide, high, p.style)
	values := make([][]uint64, len(p.series))
	top, known := uint64(1), make([]bool, c.columns)
	for i := range p.series {
		values[i] = p.spread(points, p.series[i].value, known)
		for _, v := range values[i] {
			top = max(top, v)
		}
	}
	top = ceiling(top)
	for i, s := range p.series {
		c.trace(values[i], known, top, s)
	}
	var lines []string
	for row := range high {
		label := ""
		switch {
		case row == 0:
			label = p.unit(top)
		case row == high-1:
			label = "0"
		case high%2 == 0 && row == high/2:
			label = p.unit(top / 2)
		}
		var b strings.Builder
		b.WriteString(p.style.paint(faint, cells.Right(label, axisWidth)+" ┤"))
		c.line(&b, p.style, row)
		lines = append(lines, b.String())
	}
	from, to := moment(p.from), moment(p.to)
	return append(lines, p.style.paint(faint, cells.Blanks(axisWidth+2)+from+cells.Blanks(wide-len(from)-len(to))+to))
}

// moment writes whole seconds without their tenths.
func moment(d time.Duration) string { return strings.Replace(units.Duration(d), ".0s", "s", 1) }

// spread returns a series' value for each column of dots: the largest of the points there, so
// that no slow request disappears between two columns.
func (p *plot) spread(points []Point, value func(Point) uint64, known []bool) []uint64 {
	out := make([]uint64, len(known))
	scale := float64(len(known)) / float64(p.to-p.from)
	for _, pt := range points {
		if pt.At <= p.from {
			continue
		}
		first := max(0, int(float64(pt.At-pt.Took-p.from)*scale))
		last := min(len(known), max(first+1, int(float64(pt.At-p.from)*scale)))
		for x := first; x < last; x++ {
			out[x], known[x] = max(out[x], value(pt)), true
		}
	}
	return out
}

// trace draws one series; neighbours are joined.
func (c *canvas) trace(values []uint64, known []bool, top uint64, s series) {
	before, colour := -1, uint8(len(c.palette))
	c.palette = append(c.palette, s.colour)
	for x, v := range values {
		if !known[x] {
			continue
		}
		y := min(int(float64(v)/float64(top)*float64(c.rows)), c.rows-1)
		low, high := y, y
		switch {
		case s.area && v == 0:
			continue
		case s.area:
			low = 0
		case before >= 0:
			low, high = min(y, before), max(y, before)
		}
		for at := low; at <= high; at++ {
			if s.area {
				c.cut(x, at, colour)
			}
			c.dot(x, at, colour)
		}
		before = y
	}
}

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
