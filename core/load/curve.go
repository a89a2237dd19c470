package load

import (
	"time"

	"hyperscale/core/message"
)

// Curve is a value over time, in straight lines: virtual users, or a rate. After its end it
// keeps its last value.
type Curve struct {
	segments []segment // none has length zero
	last     uint64
}

// segment is one straight line. Values are at most valueMax, times at most
// timeMax: see bound.
type segment struct {
	start, length uint64 // ns
	from, to      uint64
	before        wide // twice the area below all earlier segments
}

// Bounds that keep all sums within their words, far above any real run.
const (
	valueMax = 1 << 50
	timeMax  = 1 << 60 // ns, 36 years
)

// stretch is a stage in the form for both kinds of curves.
type stretch struct {
	length time.Duration
	value  uint64
}

func newCurve(value uint64, all []stretch) Curve {
	c := Curve{last: min(value, valueMax)}
	var at uint64
	var before wide
	for _, s := range all {
		to := min(s.value, valueMax)
		if length := min(uint64(max(s.length, 0)), timeMax-at); length > 0 {
			c.segments = append(c.segments, segment{start: at, length: length, from: c.last, to: to, before: before})
			at += length
			before = before.plus(product(c.last+to, length))
		}
		c.last = to
	}
	return c
}

// Open reports whether iterations begin when they are due, not when a virtual user is free.
func Open(p *message.WorkflowPlan) bool {
	open := p.Rate > 0
	for i := range p.Stages {
		open = open || p.Stages[i].Rate > 0
	}
	return open
}

// NewActive returns the number of active virtual users of a closed workflow over time: all of
// them, or as its stages say.
func NewActive(p *message.WorkflowPlan) Curve {
	if len(p.Stages) == 0 {
		return newCurve(p.VUs, []stretch{{p.Duration, p.VUs}})
	}
	all := make([]stretch, len(p.Stages))
	for i, s := range p.Stages {
		all[i] = stretch{s.Duration, s.VUs}
	}
	return newCurve(0, all)
}

// NewRate returns the rate of an open workflow over time, in thousandths of an iteration
// in its RatePer.
func NewRate(p *message.WorkflowPlan) Curve {
	if len(p.Stages) == 0 {
		return newCurve(p.Rate, []stretch{{p.Duration, p.Rate}})
	}
	all := make([]stretch, len(p.Stages))
	for i, s := range p.Stages {
		all[i] = stretch{s.Duration, s.Rate}
	}
	return newCurve(p.Rate, all)
}

// End returns when the last stage ends.
func (c *Curve) End() time.Duration {
	if len(c.segments) == 0 {
		return 0
	}
	s := &c.segments[len(c.segments)-1]
	return time.Duration(s.start + s.length)
}

// find returns the segment of t, -1 after the end.
func (c *Curve) find(t uint64) int {
	for i := range c.segments {
		if t < c.segments[i].start+c.segments[i].length {
			return i
		}
	}
	return -1
}

// At returns the value at t, rounded to the nearest whole number. At a jump it is the value
// after the jump.
func (c *Curve) At(t time.Duration) uint64 {
	at := uint64(max(t, 0))
	i := c.find(at)
	if i < 0 {
		return c.last
	}
	return c.segments[i].round(at - c.segments[i].start)
}

// round returns floor((2 * (from*length ± |to-from| * x) + length) / (2*length)).
func (s *segment) round(x uint64) uint64 {
	height := product(2*s.from+1, s.length)
	if s.to >= s.from {
		return height.plus(product(2*(s.to-s.from), x)).over(2 * s.length)
	}
	return height.minus(product(2*(s.from-s.to), x)).over(2 * s.length)
}

// Next returns the first time after t at which At differs from its value at t, and the new
// value; false if there is none.
func (c *Curve) Next(t time.Duration) (time.Duration, uint64, bool) {
	at := uint64(max(t, 0))
	i := c.find(at)
	if i < 0 {
		return 0, 0, false
	}
	value := c.segments[i].round(at - c.segments[i].start)
	for ; i < len(c.segments); i++ {
		s := &c.segments[i]
		if first := s.round(0); s.start > at && first != value {
			return time.Duration(s.start), first, true
		}
		if x := s.leave(value); x < s.length {
			return time.Duration(s.start + x), s.round(x), true
		}
	}
	return c.End(), c.last, c.last != value
}

// leave returns the first x at which a segment that was rounded to value before it rounds to
// another value; length or more if that is after its end.
func (s *segment) leave(value uint64) uint64 {
	switch height := product(2*s.from+1, s.length); {
	case s.to > s.from: // 2*length*(value+1) <= height + 2*slope*x
		return up(product(2*(value+1), s.length).minus(height), 2*(s.to-s.from))
	case s.to < s.from: // height - 2*slope*x < 2*length*value
		return height.minus(product(2*value, s.length)).over(2*(s.from-s.to)) + 1
	}
	return s.length
}

// up divides, rounding up.
func up(a wide, by uint64) uint64 {
	return a.plus(wide{0, by - 1}).over(by)
}
