package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui/units"
)

// stretch is the time that charts show: how long it lasted, at most how many points they have, and what happened in it.
type stretch struct {
	lasted int64
	most   int
	marks  []mark
}

// merge adds courses up, with the marks of the time.
func (t *stretch) merge(courses ...report.Course) course {
	c := merge(courses, t.lasted, t.most)
	c.marks = t.marks
	return c
}

// overTime are the charts of what happened when: rates, latency, failures if there are any.
func overTime(courses []report.Course, t stretch, limits []limit) []figure {
	c := t.merge(courses...)
	if len(c.points) == 0 {
		return nil
	}
	figures := []figure{rates(&c, limits), latencies(&c, len(courses), only(limits, message.OfLatency))}
	if f, ok := failures(&c, limits); ok {
		figures = append(figures, f)
	}
	return figures
}

// activity are the charts of users and of iterations, which every executor counts for its own users.
func activity(a *report.Activity, t stretch) []figure {
	users, iterations := report.Course{WidthNS: a.WidthNS}, report.Course{WidthNS: a.WidthNS}
	for i := range a.Windows {
		w := &a.Windows[i]
		length := min(a.WidthNS, max(t.lasted-w.SinceNS, 1)) // OK of a column becomes the time of its users
		users.Windows = append(users.Windows, report.Window{SinceNS: w.SinceNS, OK: uint64(float64(w.Active) * float64(length) / 1e9)})
		iterations.Windows = append(iterations.Windows, report.Window{SinceNS: w.SinceNS, OK: w.Begun, Started: w.Asked})
	}
	u, c := t.merge(users), t.merge(iterations)
	if len(u.points) == 0 {
		return nil
	}
	active := u.perSecond(func(p *point) uint64 { return p.OK })
	for i := range active {
		active[i] /= 1000 // Active is in thousandths already
	}
	shown := u.timed("Active virtual users over time", []curve{{Name: "active virtual users, on average", class: "good", filled: true, Values: active}})
	shown.Unit = "virtual users"
	curves := []curve{{Name: "begun", class: "good", filled: true, Values: c.perSecond(func(p *point) uint64 { return p.OK })}}
	if asked := c.perSecond(func(p *point) uint64 { return p.Started }); !slices.Equal(asked, curves[0].Values) {
		curves = append(curves, curve{Name: "asked", class: "dim", Values: asked})
	}
	return []figure{shown, c.timed("Iterations over time", curves)}
}

// values takes one figure of each point.
func (c *course) values(of func(*point) uint64) []uint64 {
	out := make([]uint64, len(c.points))
	for i := range c.points {
		out[i] = of(&c.points[i])
	}
	return out
}

func floats(values []uint64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

func largest(values ...[]uint64) uint64 {
	var out uint64
	for _, all := range values {
		for _, v := range all {
			out = max(out, v)
		}
	}
	return out
}

// timed is a chart of rates that keep a value for a column.
func (c *course) timed(title string, curves []curve) figure {
	return c.chart(grading{unit: "a second", hover: "milli", one: 1000, label: rateLabel}, title, curves, nil)
}

// grading says what the values of a chart are: one of its axis is so many of them.
type grading struct {
	unit, hover string
	one         float64
	label       func(v float64) string
}

// chart draws curves that keep a value for a column, and thresholds as lines.
func (c *course) chart(of grading, title string, curves []curve, limits []limit) figure {
	high := float64(most(curves)) / of.one
	for _, l := range limits {
		if v := float64(l.bound) / of.one; v <= 4*high {
			high = max(high, v)
		}
	}
	y := linear(high, of.label)
	x := times(c.span())
	var s svg
	s.begin(title, &x, &y)
	f := figure{Title: title, Unit: of.unit}
	for _, one := range curves {
		values := floats(one.Values)
		for k := range values {
			values[k] /= of.one
		}
		if one.filled {
			s.path("area "+one.class, area(&y, values, make([]float64, len(values))))
		}
		s.path("line "+one.class, steps(&y, values))
		f.Legend = append(f.Legend, key{one.class, one.Name})
	}
	f.Legend = append(f.Legend, s.limit(&y, limits, of.one)...)
	f.Legend = append(f.Legend, s.mark(&x, c.marks)...)
	f.SVG = s.end(&y)
	h := hover{X: "time", Unit: of.hover, Width: float64(c.width), Curves: curves}
	f.Hover = h.String()
	f.Note = c.note("added up")
	return f
}

func most(curves []curve) uint64 {
	var out uint64
	for _, c := range curves {
		out = max(out, largest(c.Values))
	}
	return out
}

// note says how wide a column is, and of how many windows it is made.
func (c *course) note(how string) string {
	s := "Each column is " + units.Duration(time.Duration(c.width))
	if c.width < int64(time.Second) {
		s = "Each column is " + latencyLabel(float64(c.width))
	}
	if c.merged > 1 {
		s += fmt.Sprintf(", %d windows of the result %s", c.merged, how)
	}
	return s + "."
}

func rates(c *course, limits []limit) figure {
	return c.chart(grading{unit: "a second", hover: "milli", one: 1000, label: rateLabel}, "Requests over time", []curve{
		{Name: "answered as expected", class: "good", filled: true, Values: c.perSecond(func(p *point) uint64 { return p.OK })},
		{Name: "started", class: "dim", Values: c.perSecond(func(p *point) uint64 { return p.Started })},
	}, only(limits, message.OfRate))
}

// failures are shares of the requests that ended, in parts per million: thresholds judge them so.
func failures(c *course, limits []limit) (figure, bool) {
	var curves []curve
	add := func(name, class string, of func(*point) uint64) {
		values := c.values(func(p *point) uint64 {
			if ended := p.OK + p.Failed + p.TimedOut; ended > 0 {
				return uint64(min(1, float64(of(p))/float64(ended)) * 1e6)
			}
			return 0
		})
		if largest(values) > 0 {
			curves = append(curves, curve{Name: name, class: class, Values: values})
		}
	}
	add("failed", "bad", func(p *point) uint64 { return p.Failed })
	add("timed out", "late", func(p *point) uint64 { return p.TimedOut })
	if len(curves) == 0 {
		return figure{}, false
	}
	curves[0].filled = true
	return c.chart(grading{unit: "of requests that ended", hover: "share", one: 1, label: percentLabel}, "Errors over time", curves, only(limits, message.OfErrors)), true
}

// band is where a quantile lies that a bucket of a course contains.
func (c *course) band(bucket int) (low, high uint64) {
	w := stats.Window{Coarser: c.coarser}
	low, high = w.Bounds(bucket)
	return max(low, 1), high + 1
}

// within says how well a course knows its quantiles.
func (c *course) within() string {
	if c.fine() == 1 {
		return "a factor of two"
	}
	return strconv.FormatFloat(100/float64(c.fine()), 'f', -1, 64) + " %"
}

// latencies draws quantiles as the buckets that they lie in (PAGE-5).
func latencies(c *course, sources int, limits []limit) figure {
	f := figure{Title: "Latency over time", Unit: "logarithmic", Legend: []key{{"p99", "99 of 100 requests took at most"}, {"p50", "half of them"}}}
	drawn := []curve{
		{Name: "p99", class: "p99", Values: c.lows(func(p *point) int { return p.p99 })},
		{Name: "p50", class: "p50", Values: c.lows(func(p *point) int { return p.p50 })},
	}
	low, high := uint64(0), uint64(0)
	for _, one := range drawn {
		for _, v := range one.Values {
			if v > 0 {
				_, to := c.bandOf(v)
				high = max(high, to)
				if low == 0 || v < low {
					low = v
				}
			}
		}
	}
	for _, l := range limits { // those that are near have a line
		if v := uint64(max(l.bound, 1)); high > 0 && v <= 30*high && v >= low/30 {
			low, high = min(low, v), max(high, v)
		}
	}
	y := octaves(float64(max(low, 1)), float64(high), latencyLabel)
	x := times(c.span())
	var s svg
	s.begin(f.Title, &x, &y)
	for _, one := range drawn {
		s.path("thread "+one.class, c.threads(&y, one.Values))
		s.path("band "+one.class, c.bands(&y, one.Values))
	}
	f.Legend = append(f.Legend, s.limit(&y, limits, 1)...)
	f.Legend = append(f.Legend, s.mark(&x, c.marks)...)
	f.SVG = s.end(&y)
	h := hover{X: "time", Unit: "band", Per: c.fine(), Width: float64(c.width), Curves: drawn}
	f.Hover = h.String()
	f.Note = "A band is where the value lies: over time it is known within " + c.within() + ", the tables are exact within 0.4 %. "
	how := "together"
	if c.worst {
		how = "as one, the slowest of them"
	}
	if c.worst && sources > 1 {
		f.Note += "Of all steps, the slowest one at the time. "
	}
	f.Note += c.note(how)
	return f
}

// lows are where the bands of a quantile begin: 0 if nothing ended in a point.
func (c *course) lows(of func(*point) int) []uint64 {
	return c.values(func(p *point) uint64 {
		if of(p) < 0 {
			return 0
		}
		low, _ := c.band(of(p))
		return low
	})
}

// bandOf is the band that begins there.
func (c *course) bandOf(low uint64) (from, to uint64) { return c.band(stats.BucketOf(low)) }

// bands draws the band of each value; runs of the same one are one piece.
func (c *course) bands(y *axis, values []uint64) *path {
	p := new(path)
	for i := 0; i < len(values); {
		from := i
		for i++; i < len(values) && values[i] == values[from]; i++ {
		}
		if values[from] == 0 {
			continue
		}
		low, high := c.bandOf(values[from])
		top, bottom := gridAt(y, float64(high)), gridAt(y, float64(low))
		p.move(column(from, len(values)), top)
		p.across(column(i, len(values)))
		p.down(bottom)
		p.across(column(from, len(values)))
		p.b = append(p.b, 'z')
	}
	return p
}

// threads connect the bands of neighbours in their middle, so that the eye can follow them.
func (c *course) threads(y *axis, values []uint64) *path {
	p, on := new(path), false
	for i, v := range values {
		if v == 0 {
			on = false
			continue
		}
		low, high := c.bandOf(v)
		x, at := (column(i, len(values))+column(i+1, len(values)))/2, gridAt(y, math.Sqrt(float64(low)*float64(high)))
		if on {
			p.line(x, at)
		} else {
			p.move(x, at)
		}
		on = true
	}
	return p
}
