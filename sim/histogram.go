package sim

import (
	"encoding/binary"
	"math/bits"

	"hyperscale/core/message"
)

// spread is a histogram of n values around a typical one: a long tail to the
// right, the same for equal arguments.
func spread(n, typical uint64) message.Histogram {
	if n == 0 {
		return message.Histogram{}
	}
	values := [...]uint64{typical * 3 / 4, typical, typical * 3 / 2, typical * 3, typical * 8}
	shares := [...]uint64{300_000, 500_000, 150_000, 45_000, 5_000} // parts per million
	var counts [len(values)]uint64
	left := n
	for i := len(values) - 1; i > 0; i-- {
		counts[i] = n * shares[i] / million
		left -= counts[i]
	}
	counts[0] = left
	h := message.Histogram{Count: n, Buckets: make([]byte, 0, 40)} // five buckets fit
	before, waiting := -1, uint64(0)
	for i, v := range values {
		if counts[i] == 0 {
			continue
		}
		if h.Sum == 0 && waiting == 0 && before == -1 {
			h.Min = v
		}
		h.Max = v
		h.Sum += v * counts[i]
		at := bucket(v)
		if waiting > 0 && at != before {
			h.Buckets = binary.AppendUvarint(h.Buckets, waiting)
			waiting = 0
		}
		if waiting == 0 {
			h.Buckets = binary.AppendUvarint(h.Buckets, uint64(at-before))
			before = at
		}
		waiting += counts[i]
	}
	h.Buckets = binary.AppendUvarint(h.Buckets, waiting)
	return h
}

// bucket is the place of a value in a histogram of the catalogue: 256 buckets
// for each power of two.
func bucket(v uint64) int {
	octave := bits.Len64(v|255) - 8
	return octave<<8 | int(v>>max(octave-1, 0))&255
}
