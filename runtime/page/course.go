package page

import "hyperscale/runtime/report"

// point is what happened in one interval: sums, and of quantiles the largest estimate.
type point struct {
	started, ok, failed, timedOut, bytes uint64
	p50, p99                             uint64 // 0 if nothing ended in it
}

// course is what happened in intervals of one width, from the beginning of the load.
type course struct {
	width  int64 // ns
	points []point
	merged int64 // how many windows of the result one point holds at most
}

// span is the time that a course covers.
func (c *course) span() int64 { return c.width * int64(len(c.points)) }

// merge adds courses up in at most so many points. The widths of one result's windows are
// multiples of each other, so that no window is in two points.
func merge(courses []report.Course, most int) course {
	var width, narrowest, end int64
	for _, c := range courses {
		if c.WidthNS <= 0 || len(c.Windows) == 0 {
			continue
		}
		width = max(width, c.WidthNS)
		if narrowest == 0 || c.WidthNS < narrowest {
			narrowest = c.WidthNS
		}
		for i := range c.Windows {
			end = max(end, c.Windows[i].SinceNS)
		}
	}
	if width == 0 {
		return course{}
	}
	// end is where the last window begins: so many whole widths are before it.
	times := (end/width)/int64(most) + 1
	if times > 1<<62/width { // no run is so long
		return course{}
	}
	out := course{width: width * times, merged: width * times / narrowest}
	out.points = make([]point, end/out.width+1)
	for _, c := range courses {
		if c.WidthNS <= 0 {
			continue
		}
		for i := range c.Windows {
			out.points[max(c.Windows[i].SinceNS, 0)/out.width].add(&c.Windows[i])
		}
	}
	return out
}

func (p *point) add(w *report.Window) {
	p.started, p.ok, p.failed = p.started+w.Started, p.ok+w.OK, p.failed+w.Failed
	p.timedOut, p.bytes = p.timedOut+w.TimedOut, p.bytes+w.Bytes
	p.p50, p.p99 = max(p.p50, w.P50NS), max(p.p99, w.P99NS)
}

// rate is what n in one point is a second, in thousandths.
func (c *course) rate(n uint64) uint64 { return uint64(float64(n) * 1e12 / float64(c.width)) }
