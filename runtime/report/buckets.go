package report

import (
	"fmt"
	"strconv"
	"strings"

	"hyperscale/core/stats"
)

// Buckets is a histogram as text: for each bucket in use, ascending, the largest
// value that it holds and how many there are: "1000:5 1004:7". One line of it keeps a
// file readable that would have thousands.
type Buckets string

// bucketsMax bounds the buckets read from a file: no histogram has more.
const bucketsMax = 20_000

// bucketsOf writes a histogram.
func bucketsOf(h *stats.Histogram) Buckets {
	var b []byte
	h.Each(func(largest, n uint64) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, largest, 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, n, 10)
	})
	return Buckets(b)
}

// Histogram reads it back: its quantiles are those of the one that was written, its
// sum is at most 0.4 % too high.
func (b Buckets) Histogram() (*stats.Histogram, error) {
	h := new(stats.Histogram)
	return h, b.Each(h.RecordN)
}

// Each calls f for every bucket, ascending, with the largest value that it holds.
func (b Buckets) Each(f func(largest, n uint64)) error {
	before, buckets := uint64(0), 0
	for pair := range strings.FieldsSeq(string(b)) {
		value, count, ok := strings.Cut(pair, ":")
		v, err := strconv.ParseUint(value, 10, 64)
		n, err2 := strconv.ParseUint(count, 10, 48)
		if buckets++; !ok || err != nil || err2 != nil || n == 0 || buckets > bucketsMax || buckets > 1 && v <= before {
			return fmt.Errorf("bucket %d, %.40q: want VALUE:COUNT, ascending, at most %d of them", buckets, pair, bucketsMax)
		}
		f(v, n)
		before = v
	}
	return nil
}

// bucketsOfWindow writes the latencies of a window in its buckets. Values beyond the last one count
// in it.
func bucketsOfWindow(w *stats.Window) Buckets {
	var b []byte
	for i, n := range w.Latency {
		if n == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, stats.LatencyBound(i), 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, n, 10)
	}
	return Buckets(b)
}
