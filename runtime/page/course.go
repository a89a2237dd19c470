package page

import (
	"hyperscale/core/stats"
	"hyperscale/runtime/report"
)

// point is what happened in one interval: sums, and the buckets that contain its quantiles.
type point struct {
	stats.Window

	p50, p99 int // finest buckets of which all in one of the course are equal; -1 if nothing ended in it
}

// course is what happened in intervals of one width, from the beginning of the load.
type course struct {
	width  int64 // ns
	points []point
	last   int64 // length of the last point's interval, ns: the load may have ended within it
	merged int64 // how many windows of the result one point holds at most
	marks  []mark
	worst  bool // its quantiles are the largest of its windows', as some of those do not tell more

	coarser uint8 // how often the finest buckets of a window were halved in number, in the coarsest of them
}

// fine is how many bands an octave has.
func (c *course) fine() int { return stats.FineMost >> c.coarser }

// span is the time that a course covers.
func (c *course) span() int64 { return c.width * int64(len(c.points)) }

// grid is how a page divides the time since the load began.
type grid struct {
	width  int64 // of a column, ns
	n      int   // of columns
	last   int64 // length of the last interval, ns
	merged int64 // how many windows of the narrowest course a column holds
}

// gridOf returns at most so many columns for courses. Within one result the widths are
// multiples of each other. The column is a multiple of all of them, so that no window is in two
// columns. The load lasted for so long, 0 if unknown. The rest after the last whole column is a
// column itself, or is joined to the one before if it is too short.
func gridOf(courses []report.Course, lasted int64, most int) grid {
	var width, narrowest, end int64
	for _, c := range courses {
		if c.WidthNS <= 0 || len(c.Windows) == 0 {
			continue
		}
		width = common(width, c.WidthNS)
		if narrowest == 0 || c.WidthNS < narrowest {
			narrowest = c.WidthNS
		}
		for i := range c.Windows {
			end = max(end, c.Windows[i].SinceNS)
		}
	}
	if width == 0 {
		return grid{}
	}
	// end is where the last window begins: so many whole widths are before it.
	times := (end/width)/int64(most) + 1
	if times > 1<<62/width { // no run is so long
		return grid{}
	}
	g := grid{width: width * times, merged: width * times / narrowest}
	g.n, g.last = int(end/g.width)+1, g.width
	if left := lasted - int64(g.n-1)*g.width; left > 0 && left < g.width {
		g.last = left
		if left < g.width/2 && g.n > 1 {
			g.n, g.last = g.n-1, g.width+left
		}
	}
	return g
}

// common is the least common multiple of both widths, or the larger width if that multiple is
// too large.
func common(a, b int64) int64 {
	if a == 0 {
		return b
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if a/x > 100 || b/x > 100 || a > 1<<62/(b/x) {
		return max(a, b)
	}
	return a / x * b
}

// merge adds courses up in at most so many points.
func merge(courses []report.Course, lasted int64, most int) course {
	return gridOf(courses, lasted, most).merge(courses)
}

func (g grid) merge(courses []report.Course) course {
	if g.n == 0 {
		return course{}
	}
	out := course{width: g.width, last: g.last, merged: g.merged, points: make([]point, g.n)}
	for i := range courses {
		if c := &courses[i]; c.WidthNS > 0 && len(c.Windows) > 0 {
			out.coarser = max(out.coarser, c.Coarser())
		}
	}
	for i := range out.points {
		out.points[i] = point{Window: stats.Window{Coarser: out.coarser}, p50: -1, p99: -1}
	}
	for _, c := range courses {
		if c.WidthNS <= 0 {
			continue
		}
		for i := range c.Windows {
			w := &c.Windows[i]
			out.points[min(max(w.SinceNS, 0)/out.width, int64(g.n)-1)].add(w)
			out.worst = out.worst || w.P99NS > 0 && w.Buckets == ""
		}
	}
	for i := range out.points {
		if p := &out.points[i]; !out.worst {
			p.p50, p.p99 = p.Bucket(500_000), p.Bucket(990_000)
		}
	}
	return out
}

func (p *point) add(w *report.Window) {
	p.Started, p.OK, p.Failed, p.TimedOut = p.Started+w.Started, p.OK+w.OK, p.Failed+w.Failed, p.TimedOut+w.TimedOut
	p.p50, p.p99 = max(p.p50, bucketOf(w.P50NS)), max(p.p99, bucketOf(w.P99NS))
	_ = w.Buckets.Each(p.RecordN) // a reader of files has checked them
}

// bucketOf is the finest bucket that contains an estimate, or -1 if it is none. An estimate may be
// one more than the largest value of its bucket.
func bucketOf(estimate uint64) int {
	if estimate == 0 {
		return -1
	}
	return stats.BucketOf(estimate - 1)
}

// perSecond takes the rate of something in each point, in thousandths.
func (c *course) perSecond(of func(*point) uint64) []uint64 {
	out := c.values(of)
	for i, n := range out {
		took := c.width
		if i == len(out)-1 {
			took = c.last
		}
		out[i] = uint64(float64(n) * 1e12 / float64(took))
	}
	return out
}
