package stats

import (
	"encoding/binary"
	"fmt"

	"hyperscale/core/message"
)

// Since returns what a histogram recorded after an earlier state of it. It returns false if
// before is no earlier state, because it holds more.
func Since(now, before message.Histogram) (message.Histogram, bool, error) {
	if before.Count == 0 {
		return now, true, nil
	}
	since, err := Subtract(now, before)
	if err != nil {
		return message.Histogram{}, false, err
	}
	if now.Count < before.Count || since.Count != now.Count-before.Count {
		return message.Histogram{}, false, nil
	}
	return since, true, nil
}

// Subtract is Histogram.Sub of histograms that stay messages: it touches only used buckets.
func Subtract(now, older message.Histogram) (message.Histogram, error) {
	for _, in := range []message.Histogram{now, older} {
		if _, err := check(in); err != nil {
			return message.Histogram{}, fmt.Errorf("read a histogram of %d values: %w", in.Count, err)
		}
	}
	out := message.Histogram{}
	was := bucket{index: -1} // of older, the first that is not below index
	index, first, last, rest := -1, -1, -1, older.Buckets
	for b := now.Buckets; len(b) > 0; {
		gap, n, left, _ := pair(b) // check has read it
		index, b = index+int(gap), left
		for was.index < index && len(rest) > 0 {
			gap, was.n, rest, _ = pair(rest)
			was.index += int(gap)
		}
		if was.index == index {
			n -= min(n, was.n)
		}
		if n == 0 {
			continue
		}
		if out.Buckets == nil {
			out.Buckets, first = make([]byte, 0, len(now.Buckets)), index
		}
		out.Buckets = binary.AppendUvarint(binary.AppendUvarint(out.Buckets, uint64(index-last)), n)
		out.Count, last = out.Count+n, index
	}
	if out.Count == 0 {
		return out, nil
	}
	since := Histogram{count: out.Count}
	since.bound(first, last, now.Sum, older.Sum, now.Min, now.Max)
	out.Sum, out.Min, out.Max = since.sum, since.min, since.max
	return out, nil
}
