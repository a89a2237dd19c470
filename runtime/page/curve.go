package page

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"hyperscale/core/stats"
	"hyperscale/runtime/ui/units"
)

// coloured is how many curves of one chart have distinct colours.
const coloured = 6

// quantiles is the curve of one histogram.
type quantiles struct {
	name      string
	histogram *stats.Histogram
	class     string // of its line; else the next colour
}

// nines is how far a curve goes: 2 for 99 %. Beyond its count there is nothing to see.
func nines(h *stats.Histogram) float64 {
	return math.Min(8, math.Max(1, math.Log10(float64(h.Count()))))
}

// sample reads a histogram at points that are evenly spaced in nines.
func sample(h *stats.Histogram, far float64, points int) []uint64 {
	out := make([]uint64, 0, points)
	total, seen := float64(h.Count()), float64(0)
	h.Each(func(largest, n uint64) {
		seen += float64(n)
		for len(out) < points {
			q := 1 - math.Pow(10, -far*float64(len(out))/float64(points-1))
			if q*total > seen+0.5 { // half a request, for rounding
				return
			}
			out = append(out, largest)
		}
	})
	return out
}

// percentiles draws curves in HDR style. If there are more than colours, it draws the slowest,
// because readers look for those, and reports the omission.
func percentiles(title string, all []quantiles, points int) (figure, bool) {
	if len(all) == 0 {
		return figure{}, false
	}
	drawn := first(all, coloured)
	far, low, high := 0.0, math.MaxFloat64, 1.0
	for _, q := range drawn {
		far = math.Max(far, nines(q.histogram))
		low, high = math.Min(low, float64(max(q.histogram.Min(), 1))), math.Max(high, float64(q.histogram.Max()))
	}
	x := ninesAxis(far)
	y, unit := linear(high, latencyLabel), ""
	if high > 20*low {
		y, unit = octaves(low, high, latencyLabel), "logarithmic"
	} else {
		y = latencyAxis(high)
	}
	f := figure{Title: title, Unit: unit}
	h := hover{X: "quantile", Unit: "ns", Width: far / float64(points-1)}
	var s svg
	s.begin(title, &x, &y)
	for i, q := range drawn {
		one := curve{Name: q.name, class: cmp.Or(q.class, fmt.Sprintf("c%d", i)), Values: sample(q.histogram, far, points)}
		p := new(path)
		for k, v := range one.Values {
			if at := gridAt(&y, float64(v)); k == 0 {
				p.move(0, at)
			} else {
				p.line(k*gridX/(points-1), at)
			}
		}
		s.path("line "+one.class, p)
		h.Curves = append(h.Curves, one)
		f.Legend = append(f.Legend, key{one.class, fmt.Sprintf("%s, %s at 99%%", q.name, units.Latency(q.histogram.Quantile(990_000)))})
	}
	f.SVG, f.Hover = s.end(&y), h.String()
	f.Note = "The share of requests that took at most so long; each nine has the same room, so that the slow ones can be seen."
	if len(all) > coloured {
		f.Note += fmt.Sprintf(" The %d slowest of %s at 99%%.", coloured, units.Counted(uint64(len(all)), "step"))
	}
	return f, true
}

// latencyAxis is linear, with round ticks in the unit that people read.
func latencyAxis(high float64) axis { return linear(high, latencyLabel) }

// On a phone a plot is that wide, and a character of its labels, in pixels.
const (
	narrow    = 280
	character = 7.5
)

// ninesAxis has a tick at 50 % and at each nine. Of labels that would touch on a phone it leaves out
// the later one.
func ninesAxis(far float64) axis {
	a := axis{high: far}
	free := math.Log10(2)/far*narrow + 1.5*character // the end of 50%
	a.mark(math.Log10(2), "50%")
	for n := 1; float64(n) <= far; n++ {
		label := "90%"
		if n > 1 {
			label = "99"
			if n > 2 {
				label += "." + strings.Repeat("9", n-2)
			}
			label += "%"
		}
		wide, at := float64(len(label))*character, float64(n)/far*narrow
		from := at - wide/2
		if at > 0.95*narrow { // begin draws it left of its tick
			from = at - wide
		}
		if from < free {
			label = ""
		} else {
			free = at + wide/2
		}
		a.mark(float64(n), label)
	}
	return a
}
