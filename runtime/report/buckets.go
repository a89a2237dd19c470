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

// bucketsMax bounds what is read back: no histogram has more.
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
	h, before, buckets := new(stats.Histogram), uint64(0), 0
	for pair := range strings.FieldsSeq(string(b)) {
		value, count, ok := strings.Cut(pair, ":")
		v, err := strconv.ParseUint(value, 10, 64)
		n, err2 := strconv.ParseUint(count, 10, 48)
		if buckets++; !ok || err != nil || err2 != nil || n == 0 || buckets > bucketsMax || buckets > 1 && v <= before {
			return nil, fmt.Errorf("bucket %d, %.40q: want VALUE:COUNT, ascending, at most %d of them", buckets, pair, bucketsMax)
		}
		h.RecordN(v, n)
		before = v
	}
	return h, nil
}
