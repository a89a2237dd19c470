package compare

import (
	"math/bits"
	"slices"
	"sort"

	"hyperscale/core/stats"
)

// curve is a histogram as a continuous distribution, evenly spread within each bucket.
// Otherwise two runs would differ by a bucket's width, or not at all.
type curve struct {
	from, to []float64 // of each bucket; values are in (from, to]
	upto     []float64 // how many values are not above to
}

func newCurve(h *stats.Histogram) *curve {
	c, n := new(curve), 0.0
	h.Each(func(largest, count uint64) {
		n += float64(count)
		from := float64(bucketStart(largest)) - 1
		if last := len(c.to) - 1; last >= 0 {
			from = max(from, c.to[last])
		}
		c.from, c.to, c.upto = append(c.from, max(from, 0)), append(c.to, float64(largest)), append(c.upto, n)
	})
	return c
}

// bucketStart is the smallest value of the bucket that contains v: 256 buckets per octave, as
// in core/stats.
func bucketStart(v uint64) uint64 {
	const sub = 8
	width := max(bits.Len64(v)-sub-1, 0)
	return v >> width << width
}

func (c *curve) count() float64 {
	if len(c.upto) == 0 {
		return 0
	}
	return c.upto[len(c.upto)-1]
}

// at is the value that a share of all values are not above; at least 1 ns, so that it has
// a logarithm.
func (c *curve) at(share float64) float64 {
	rank := share * c.count()
	i := min(sort.SearchFloat64s(c.upto, rank), len(c.upto)-1)
	before := 0.0
	if i > 0 {
		before = c.upto[i-1]
	}
	part := min(max((rank-before)/(c.upto[i]-before), 0), 1)
	return max(c.from[i]+(c.to[i]-c.from[i])*part, 1)
}

// share is how many of all values are not above v, of 1.
func (c *curve) share(v float64) float64 {
	i, _ := slices.BinarySearch(c.to, v)
	if i == len(c.to) {
		return 1
	}
	before := 0.0
	if i > 0 {
		before = c.upto[i-1]
	}
	if v > c.from[i] {
		before += (c.upto[i] - before) * (v - c.from[i]) / (c.to[i] - c.from[i])
	}
	return before / c.count()
}
