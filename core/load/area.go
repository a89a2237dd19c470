package load

import "math/bits"

// wide is a number of 128 bits, for areas below a curve.
type wide struct{ hi, lo uint64 }

func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// over divides, rounding down; a result beyond 64 bits becomes the highest number.
func (a wide) over(by uint64) uint64 {
	if a.hi >= by {
		return 1<<64 - 1
	}
	q, _ := bits.Div64(a.hi, a.lo, by)
	return q
}

// wider is a number of 192 bits, for areas times durations.
type wider struct{ hi, mid, lo uint64 }

func (a wide) times(b uint64) wider {
	top, low := product(a.hi, b), product(a.lo, b)
	mid, carry := bits.Add64(top.lo, low.hi, 0)
	return wider{top.hi + carry, mid, low.lo}
}

func (a wider) less(b wider) bool {
	if a.hi != b.hi {
		return a.hi < b.hi
	}
	return wide{a.mid, a.lo}.less(wide{b.mid, b.lo})
}

// area returns twice the area below a segment's first x nanoseconds, times its length: x *
// (2*from*length ± |to-from| * x). It never falls as x grows.
func (s *segment) area(x uint64) wider {
	height := product(2*s.from, s.length)
	if s.to >= s.from {
		return height.plus(product(s.to-s.from, x)).times(x)
	}
	return height.minus(product(s.from-s.to, x)).times(x)
}

// reach returns the last x at which twice the area below the segment does not exceed area,
// which must be less than the whole. The search begins at near, any x.
func (s *segment) reach(area wide, near uint64) uint64 {
	if s.from == s.to {
		return area.over(2 * s.from)
	}
	target := area.times(s.length)
	low, high := uint64(0), s.length // area(low) <= target < area(high)
	x := min(near, s.length-1)
	if target.less(s.area(x)) {
		high = x
		for step := uint64(1); step < high; step *= 2 {
			if x = high - step; !target.less(s.area(x)) {
				low = x
				break
			}
			high = x
		}
	} else {
		low = x
		for step := uint64(1); step < high-low; step *= 2 {
			if x = low + step; target.less(s.area(x)) {
				high = x
				break
			}
			low = x
		}
	}
	for high-low > 1 {
		x = low + (high-low)/2
		if target.less(s.area(x)) {
			high = x
		} else {
			low = x
		}
	}
	return low
}

// rate returns the value after x nanoseconds, rounded down.
func (s *segment) rate(x uint64) uint64 {
	if s.to >= s.from {
		return s.from + product(s.to-s.from, x).over(s.length)
	}
	return s.from - product(s.from-s.to, x).over(s.length)
}
