package verdict

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// ErrHistogram is wrapped by the error of a histogram that cannot be read.
var ErrHistogram = errors.New("not a histogram")

type bucket struct{ index, count uint64 }

// merge adds histograms in their wire form: buckets with one index are one bucket, for any
// meaning of the index.
func merge(all []message.Histogram) (message.Histogram, error) {
	all = slices.DeleteFunc(all, func(h message.Histogram) bool { return h.Count == 0 })
	if len(all) == 0 {
		return message.Histogram{}, nil
	}
	if len(all) == 1 {
		return all[0], nil
	}
	out := message.Histogram{Min: all[0].Min}
	var found []bucket
	for _, h := range all {
		out.Count += h.Count
		out.Sum += h.Sum
		out.Min, out.Max = min(out.Min, h.Min), max(out.Max, h.Max)
		var err error
		if found, err = unpack(found, h.Buckets); err != nil {
			return message.Histogram{}, err
		}
	}
	slices.SortFunc(found, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.count, b.count))
	})
	for i, before := 0, uint64(0); i < len(found); {
		at := found[i]
		for i++; i < len(found) && found[i].index == at.index; i++ {
			at.count += found[i].count
		}
		out.Buckets = binary.AppendUvarint(out.Buckets, at.index-before)
		out.Buckets = binary.AppendUvarint(out.Buckets, at.count)
		before = at.index
	}
	return out, nil
}

// unpack appends the buckets of one histogram; an index counts from one.
func unpack(to []bucket, packed []byte) ([]bucket, error) {
	index := uint64(0)
	for len(packed) > 0 {
		gap, n := binary.Uvarint(packed)
		if n <= 0 || gap == 0 || gap > 1<<32 {
			return nil, fmt.Errorf("a bucket's distance: %w", ErrHistogram)
		}
		packed = packed[n:]
		count, n := binary.Uvarint(packed)
		if n <= 0 {
			return nil, fmt.Errorf("a bucket's count: %w", ErrHistogram)
		}
		packed = packed[n:]
		index += gap
		to = append(to, bucket{index, count})
	}
	return to, nil
}
