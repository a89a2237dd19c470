package stats

import "math/bits"

const (
	subBits = 8 // 256 sub-buckets: half of them would err by 0.8 %, twice as many cost 4 KiB an octave
	subs    = 1 << subBits
	octaves = 64 - subBits + 1 // 0: values below 256, each its own bucket; then one per power of two
	buckets = octaves * subs
)

// million is the denominator of quantiles.
const million = 1_000_000

// octave counts the values of one power of two.
type octave [subs]uint64

// Histogram is a distribution of integers from 0 to 2^64-1. The zero value is empty
// and ready. Octaves are allocated when a value first falls into them.
type Histogram struct {
	octaves  [octaves]*octave
	count    uint64
	sum      uint64
	min, max uint64 // meaningless while count is 0
}

// place returns a value's octave and its sub-bucket there.
func place(v uint64) (o, sub int) {
	o = bits.Len64(v|(subs-1)) - subBits
	return o, int(v>>widthBits(o)) & (subs - 1)
}

// widthBits is the logarithm of the width of an octave's buckets.
func widthBits(o int) int { return max(o-1, 0) }

// low and high are the smallest and the largest value of a bucket.
func low(o, sub int) uint64 {
	if o == 0 {
		return uint64(sub)
	}
	return uint64(subs+sub) << widthBits(o)
}

func high(o, sub int) uint64 { return low(o, sub) + (1<<widthBits(o) - 1) }

// add returns a + b, or the largest number if that does not fit.
func add(a, b uint64) uint64 {
	if s, carry := bits.Add64(a, b, 0); carry == 0 {
		return s
	}
	return ^uint64(0)
}

// times returns a * b, or the largest number if that does not fit.
func times(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 {
		return lo
	}
	return ^uint64(0)
}

// BucketBound returns the largest value that shares its bucket with v: equal buckets of two histograms have equal
// bounds, whatever their Max.
func BucketBound(v uint64) uint64 { return high(place(v)) }

// Record adds one value.
func (h *Histogram) Record(v uint64) {
	o, sub := place(v)
	counts := h.octaves[o]
	if counts == nil {
		counts = new(octave)
		h.octaves[o] = counts
	}
	counts[sub]++
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.count++
	h.sum = add(h.sum, v)
}

// RecordN adds one value n times.
func (h *Histogram) RecordN(v, n uint64) {
	if n == 0 {
		return
	}
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	o, sub := place(v)
	h.addTo(o, sub, n)
	h.sum = add(h.sum, times(v, n))
}

func (h *Histogram) addTo(o, sub int, n uint64) {
	if h.octaves[o] == nil {
		h.octaves[o] = new(octave)
	}
	h.octaves[o][sub] = add(h.octaves[o][sub], n)
	h.count = add(h.count, n)
}

// bucket is where the values of a bucket count.
func (h *Histogram) bucket(index int) *uint64 {
	counts := h.octaves[index>>subBits]
	if counts == nil {
		counts = h.octave(index >> subBits)
	}
	return &counts[index&(subs-1)]
}

func (h *Histogram) octave(o int) *octave {
	h.octaves[o] = new(octave)
	return h.octaves[o]
}

// Merge adds all values of other, which stays as it is.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	if h.count == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	h.count = add(h.count, other.count)
	h.sum = add(h.sum, other.sum)
	for o, from := range other.octaves {
		if from == nil {
			continue
		}
		if h.octaves[o] == nil {
			h.octaves[o] = new(octave)
		}
		to := h.octaves[o]
		for sub, n := range from {
			to[sub] = add(to[sub], n)
		}
	}
}

// Reset drops all values and keeps the memory.
func (h *Histogram) Reset() {
	for _, counts := range h.octaves {
		if counts != nil {
			clear(counts[:])
		}
	}
	h.count, h.sum, h.min, h.max = 0, 0, 0, 0
}

// Sub returns what was recorded since older, an earlier state of the same histogram. Its Min
// and Max are exact only if they are those of the whole, else known to a bucket. If older is no
// earlier state, buckets in which it has more count as zero.
func (h *Histogram) Sub(older *Histogram) *Histogram {
	since := new(Histogram)
	first, last := -1, -1
	for o, counts := range h.octaves {
		if counts == nil {
			continue
		}
		for sub, n := range counts {
			if before := older.octaves[o]; before != nil {
				n -= min(n, before[sub])
			}
			if n == 0 {
				continue
			}
			since.addTo(o, sub, n)
			if last = o<<subBits | sub; first < 0 {
				first = last
			}
		}
	}
	if since.count == 0 {
		return since
	}
	since.bound(first, last, h.sum, older.sum, h.min, h.max)
	return since
}

// bound sets sum, min and max of a difference by its first and last bucket, and by what the whole and an older state tell.
func (h *Histogram) bound(first, last int, sum, older, least, most uint64) {
	h.min = max(least, low(first>>subBits, first&(subs-1)))
	h.max = min(most, high(last>>subBits, last&(subs-1)))
	// An older histogram that is no earlier state must not produce a sum that no values have.
	h.sum = min(max(sum-min(sum, older), times(h.count, h.min)), times(h.count, h.max))
}

// Count returns the number of values.
func (h *Histogram) Count() uint64 { return h.count }

// Sum returns the sum of all values.
func (h *Histogram) Sum() uint64 { return h.sum }

// Min returns the smallest value, 0 if there is none.
func (h *Histogram) Min() uint64 { return h.min }

// Max returns the largest value, 0 if there is none.
func (h *Histogram) Max() uint64 { return h.max }

// Mean returns the sum divided by the count, rounded down; 0 if there is no value.
func (h *Histogram) Mean() uint64 {
	if h.count == 0 {
		return 0
	}
	return h.sum / h.count
}

// Quantile returns the smallest value that at least ppm millionths of all values do not exceed,
// rounded up to its bucket's end. It is never below the true one, at most 1/256 above it, and
// never above Max. 0 if there is no value.
func (h *Histogram) Quantile(ppm uint32) uint64 {
	if h.count == 0 {
		return 0
	}
	rank := rank(h.count, ppm)
	var seen uint64
	for o, counts := range h.octaves {
		if counts == nil {
			continue
		}
		for sub, n := range counts {
			if seen = add(seen, n); n > 0 && seen >= rank {
				return max(h.min, min(h.max, high(o, sub)))
			}
		}
	}
	return h.max
}

// rank returns the 1-based place of a quantile among count sorted values: ceil(count * ppm /
// 10^6).
func rank(count uint64, ppm uint32) uint64 {
	hi, lo := bits.Mul64(count, uint64(min(ppm, million)))
	lo, carry := bits.Add64(lo, million-1, 0)
	rank, _ := bits.Div64(hi+carry, lo, million)
	return max(rank, 1)
}

// Each calls f for every used bucket, in ascending order, with the largest value that it can
// hold: recording that value n times gives the same quantiles.
func (h *Histogram) Each(f func(largest, n uint64)) {
	for o, counts := range h.octaves {
		if counts == nil {
			continue
		}
		for sub, n := range counts {
			if n > 0 {
				f(min(high(o, sub), h.max), n)
			}
		}
	}
}
