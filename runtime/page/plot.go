package page

import (
	"encoding/json"
	"slices"
	"strconv"

	"hyperscale/runtime/page/markup"
)

// The grid of a plot's drawing. The page stretches it to its width, while labels, placed by
// percent, keep their size: so one drawing serves a phone and a screen.
const (
	gridX = 6000
	gridY = 1000
)

// figure is a chart with what explains it.
type figure struct {
	Title  string
	Unit   string // of the axis
	Legend []key
	SVG    markup.HTML
	Hover  string // JSON: what page.js shows under the pointer
	Note   string
}

// key names a colour of page.css.
type key struct{ Class, Text string }

// curve is one line of a plot: a value a column, drawn as steps or from point to point.
type curve struct {
	Name   string   `json:"name"`
	Values []uint64 `json:"values"`
	class  string
	filled bool // down to the axis
}

// hover holds the values that page.js shows under the pointer.
type hover struct {
	X      string  `json:"x"`     // time or quantile
	Unit   string  `json:"unit"`  // ns, milli or band
	Width  float64 `json:"width"` // of a column: ns, or nines
	Curves []curve `json:"curves"`
	Per    int     `json:"per,omitempty"` // bands of an octave
}

func (h *hover) String() string {
	b, err := json.Marshal(h)
	if err != nil { // of strings and integers there is none
		return ""
	}
	return string(b)
}

// svg gathers a drawing.
type svg struct {
	b     markup.Writer
	lines markup.Writer // thresholds
}

// plotHeight is in pixels. Labels of the y axis stand left of the drawing, in the margin that
// page.css gives it: no label stands on data.
const (
	plotHeight = 170
	plotTop    = 18
	plotBottom = 22
)

// begin draws the axes.
func (s *svg) begin(title string, x, y *axis) {
	s.b.Put(`<svg class="plot" role="img" width="100%%" height="%d"><title>%s</title>`, plotTop+plotHeight+plotBottom, title)
	for _, t := range y.ticks {
		at := plotTop + (1-t.at)*plotHeight
		s.b.Put(`<line class="grid" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/>`, at, at)
	}
	for i, t := range x.ticks {
		anchor := "middle"
		switch {
		case i == 0 && t.at < 0.02:
			anchor = "start"
		case t.at > 0.95:
			anchor = "end"
		}
		s.b.Put(`<line class="tick" x1="%.2f%%" x2="%.2f%%" y1="%d" y2="%d"/><text`, 100*t.at, 100*t.at, plotTop+plotHeight, plotTop+plotHeight+4)
		if i%2 == 1 && len(x.ticks) > 4 { // the smallest screens have no room for it
			s.b.Put(` class="odd"`)
		}
		s.b.Put(` x="%.2f%%" y="%d" text-anchor="%s">%s</text>`, 100*t.at, plotTop+plotHeight+17, anchor, t.label)
	}
	s.b.Put(`<svg y="%d" width="100%%" height="%d" viewBox="0 0 %d %d" preserveAspectRatio="none">`, plotTop, plotHeight, gridX, gridY)
}

// end closes the drawing, and puts the labels of the y axis beside their lines.
func (s *svg) end(y *axis) markup.HTML {
	s.b.Put("</svg>%s", s.lines.HTML())
	for _, t := range y.ticks {
		s.b.Put(`<text class="y" x="-8" y="%.1f" text-anchor="end">%s</text>`, plotTop+(1-t.at)*plotHeight+4, t.label)
	}
	s.b.Put("</svg>")
	return s.b.HTML()
}

// limit draws thresholds as lines, where the axis reaches, and returns their keys.
func (s *svg) limit(y *axis, all []limit, one float64) (keys []key) {
	for _, l := range first(all, limitsMost) {
		class, text := "limit", l.text
		if l.missed {
			class, text = "limit broken", "✗ "+text
		}
		if v := float64(l.bound) / one; v < y.low || v > y.high {
			text += " (off the plot)"
		} else {
			at := plotTop + (1-y.place(v))*plotHeight
			s.lines.Put(`<line class="%s" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/>`, class, at, at)
		}
		keys = append(keys, key{class, text})
	}
	return keys
}

// mark is what happened at one moment of the load, or in a time of it. Its kind is a class of page.css.
type mark struct {
	kind     string
	at, till int64 // ns since the workflow began
}

// markShapes are the signs of marks, as runtime/live draws them, and what they say.
var markShapes = map[string][2]string{"lost": {"▼", "a loss"}, "sink": {"■", "rows came late to a sink"}}

// mark draws marks as lines above the data, and returns a key for each kind.
func (s *svg) mark(x *axis, all []mark) (keys []key) {
	for _, m := range all {
		at, shape := 100*x.place(float64(m.at)), markShapes[m.kind]
		if m.till > m.at {
			s.lines.Put(`<line class="during %s" x1="%.2f%%" x2="%.2f%%" y1="%d" y2="%d"/>`, m.kind, at, 100*x.place(float64(m.till)), plotTop, plotTop)
		}
		s.lines.Put(`<line class="event %s" x1="%.2f%%" x2="%.2f%%" y1="%d" y2="%d"/><text class="event %s" x="%.2f%%" y="%d" text-anchor="middle">%s</text>`,
			m.kind, at, at, plotTop, plotTop+plotHeight, m.kind, at, plotTop-5, shape[0])
		if k := (key{"event " + m.kind, shape[0] + " " + shape[1]}); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// path writes a path of integers, each point relative to the one before: half as long.
type path struct {
	b    []byte
	x, y int
}

func (p *path) number(n int) {
	if last := len(p.b) - 1; n >= 0 && last >= 0 && (p.b[last] >= '0' && p.b[last] <= '9') {
		p.b = append(p.b, ' ')
	}
	p.b = strconv.AppendInt(p.b, int64(n), 10)
}

func (p *path) move(x, y int) {
	p.b = append(p.b, 'M')
	p.number(x)
	p.number(y)
	p.x, p.y = x, y
}

func (p *path) across(x int) {
	if x != p.x {
		p.b = append(p.b, 'h')
		p.number(x - p.x)
		p.x = x
	}
}

func (p *path) down(y int) {
	if y != p.y {
		p.b = append(p.b, 'v')
		p.number(y - p.y)
		p.y = y
	}
}

func (p *path) line(x, y int) {
	p.b = append(p.b, 'l')
	p.number(x - p.x)
	p.number(y - p.y)
	p.x, p.y = x, y
}

// path draws a path, with a class of page.css.
func (s *svg) path(class string, p *path) {
	if len(p.b) > 0 {
		s.b.Put(`<path class="%s" d="%s"/>`, class, p.b)
	}
}

// column is where the i-th of n columns begins.
func column(i, n int) int { return i * gridX / max(n, 1) }

func gridAt(y *axis, v float64) int { return gridY - int(y.place(v)*gridY+0.5) }

// steps is a line that keeps each value for its column.
func steps(y *axis, values []float64) *path {
	p := new(path)
	for i, v := range values {
		if at := gridAt(y, v); i == 0 {
			p.move(0, at)
		} else {
			p.down(at)
		}
		p.across(column(i+1, len(values)))
	}
	return p
}

// area is the same down to another line below it.
func area(y *axis, upper, lower []float64) *path {
	p := steps(y, upper)
	for i := len(lower) - 1; i >= 0; i-- {
		p.down(gridAt(y, lower[i]))
		p.across(column(i, len(lower)))
	}
	if len(p.b) > 0 {
		p.b = append(p.b, 'z')
	}
	return p
}
