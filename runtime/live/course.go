package live

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Bounds of a course.
const (
	columnsMost = 600                    // as many windows as a step has, and a few
	columnLeast = 250 * time.Millisecond // a shorter one jumps with each burst
	tellSpan    = 1500 * time.Millisecond
)

// part is a workflow in a datacenter, at its place in the job's time.
type part struct {
	place   string
	result  *message.WorkflowResult
	every   time.Duration
	running bool
}

func partsOf(s *message.JobStatus) (all []part) {
	for i := range s.Datacenters {
		d := &s.Datacenters[i]
		for k := range d.Workflows {
			if w := &d.Workflows[k]; w.Stats.Elapsed > 0 {
				all = append(all, part{d.Name, w, d.Every, !w.State.Terminal()})
			}
		}
	}
	return all
}

// until is how far the figures of a part are complete: executors tell theirs at different times.
func (p *part) until() time.Duration {
	at := p.result.Began + p.result.Stats.Elapsed
	if p.running && p.result.Cores > 1 {
		at -= max(tellSpan, p.every)
	}
	return at
}

// column gathers what happened in an interval.
type column struct {
	stats.Window
	users uint64 // microseconds of users
}

// courseOf merges the courses of all steps of some parts, on the job's time from origin on.
func courseOf(parts []part, origin time.Duration) Course {
	width, until, left := gridOf(parts, origin)
	if width == 0 || until <= 0 {
		return Course{LeftOut: left}
	}
	running := slices.ContainsFunc(parts, func(p part) bool { return p.running })
	n, last := int(until/width), width
	if rest := until % width; !running && rest > 0 { // at the end the rest is a column, too
		if n, last = n+1, rest; rest < width/2 && n > 1 {
			n, last = n-1, width+rest
		}
	}
	if n == 0 {
		return Course{LeftOut: left}
	}
	columns := make([]column, n)
	at := func(since time.Duration) *column {
		i := int((since - origin) / width)
		switch {
		case i < 0:
			i = 0
		case i >= n && running:
			return nil // not all have told of it
		case i >= n:
			i = n - 1
		}
		return &columns[i]
	}
	for _, p := range parts {
		for i := range p.result.Stats.Steps {
			step := &p.result.Stats.Steps[i]
			if !p.result.Stats.CountsRequests(step) {
				continue
			}
			all, _ := stats.Intervals(step.Windows) // gridOf has read them
			for k := range all {
				if c := at(p.result.Began + all[k].Since); c != nil {
					c.Add(&all[k].Window)
				}
			}
		}
		all, _ := stats.Intervals(p.result.Stats.Activity)
		for k := range all {
			if c := at(p.result.Began + all[k].Since); c != nil {
				c.users += all[k].OK
			}
		}
	}
	out := Course{WidthNS: int64(width), LastNS: int64(last), LeftOut: left, Beginning: int64(origin), Per: stats.FineMost}
	out.fill(columns)
	return out
}

// gridOf returns the width of columns, how far they reach from origin on, and whether a step has no
// course.
func gridOf(parts []part, origin time.Duration) (width, until time.Duration, left bool) {
	widest := time.Duration(0)
	complete := time.Duration(1<<63 - 1)
	for i := range parts {
		p := &parts[i]
		series := []message.Windows{p.result.Stats.Activity}
		for k := range p.result.Stats.Steps {
			if step := &p.result.Stats.Steps[k]; p.result.Stats.CountsRequests(step) {
				series = append(series, step.Windows)
			}
		}
		for _, w := range series {
			left = left || w.Dropped
			if _, err := stats.Intervals(w); err == nil {
				widest = max(widest, w.Width)
			} else {
				left = true
			}
		}
		until = max(until, p.until()-origin)
		if p.running {
			complete = min(complete, p.until()-origin)
		}
	}
	until = min(until, complete)
	if widest == 0 {
		return 0, 0, left
	}
	times := max((columnLeast+widest-1)/widest, until/(widest*columnsMost)+1)
	return widest * times, until, left
}

// fill turns columns into arrays.
func (c *Course) fill(columns []column) {
	coarser := uint8(0)
	for i := range columns {
		coarser = max(coarser, columns[i].Coarser)
	}
	c.Per = stats.FineMost >> coarser
	low := func(w *stats.Window, ppm uint32) uint64 {
		bucket := w.Bucket(ppm)
		if bucket < 0 {
			return 0
		}
		from, _ := (&stats.Window{Coarser: coarser}).Bounds(bucket)
		return max(from, 1)
	}
	for i := range columns {
		w := &columns[i]
		took := c.WidthNS
		if i == len(columns)-1 {
			took = c.LastNS
		}
		bad := w.Failed + w.TimedOut
		c.Ended, c.Failed = append(c.Ended, w.OK+bad), append(c.Failed, bad)
		c.P50, c.P99 = append(c.P50, low(&w.Window, 500_000)), append(c.P99, low(&w.Window, 990_000))
		c.Users = append(c.Users, w.users*1000/max(uint64(time.Duration(took).Microseconds()), 1))
	}
}

// since is the course from the first column on that another one does not have, or has otherwise.
func (c *Course) since(before *Course) Course {
	out := *c
	if before.WidthNS != c.WidthNS || before.Per != c.Per || before.Beginning != c.Beginning {
		return out
	}
	n := min(len(before.Ended), len(c.Ended))
	for _, pair := range [][2][]uint64{{before.Ended, c.Ended}, {before.Failed, c.Failed}, {before.P50, c.P50}, {before.P99, c.P99}, {before.Users, c.Users}} {
		for i := range n {
			if pair[0][i] != pair[1][i] {
				n = i
				break
			}
		}
	}
	if n < len(before.Ended) && len(c.Ended) < len(before.Ended) {
		return out // it became shorter: all of it
	}
	out.From = n
	out.Ended, out.Failed, out.P50, out.P99, out.Users = c.Ended[n:], c.Failed[n:], c.P50[n:], c.P99[n:], c.Users[n:]
	return out
}

// newest are rate and 99th percentile of the last columns that cover a span.
func (c *Course) newest(span time.Duration) (rateMilli, p99 uint64) {
	n := len(c.Ended)
	many := min(n, max(1, int(int64(span)/max(c.WidthNS, 1))))
	if n == 0 {
		return 0, 0
	}
	var ended, took uint64
	for i := n - many; i < n; i++ {
		ended, p99 = ended+c.Ended[i], max(p99, c.P99[i])
		took += uint64(c.WidthNS)
	}
	return uint64(float64(ended) * 1e12 / float64(took)), p99
}
