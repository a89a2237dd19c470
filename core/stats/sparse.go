package stats

import (
	"encoding/binary"
	"fmt"
	"slices"

	"hyperscale/core/message"
)

// sparse sums histograms that stay messages: it touches only used buckets. A sum of a few
// narrow histograms costs less than one octave of a Histogram, and the sum of one costs only
// its check. A sum of many costs a step for each bucket of each of them, and no list to copy.
type sparse struct {
	only    message.Histogram // the sum, as long as one histogram is all of it
	buckets []bucket          // the sum, else, ascending by index
	many    *Histogram        // the buckets of the sum, from fewParts histograms on
	parts   int
	count   uint64
	sum     uint64
	min     uint64
	max     uint64
}

type bucket struct {
	index int
	n     uint64
}

// merge adds a histogram, or refuses it as FromWire does: then the sum is of no use. Spare is memory that all
// sparse ones of a sum share.
func (s *sparse) merge(in message.Histogram, spare *[]bucket) error {
	if s.many != nil && in.Count > 0 {
		return s.pour(in)
	}
	last, err := check(in)
	if err != nil {
		return fmt.Errorf("read a histogram of %d values: %w", in.Count, err)
	}
	if in.Count == 0 {
		return nil
	}
	if s.count == 0 {
		s.only, s.count, s.sum, s.min, s.max = in, in.Count, in.Sum, in.Min, in.Max
		return nil
	}
	if s.only.Count != 0 {
		s.buckets = join(make([]bucket, 0, (len(s.only.Buckets)+len(in.Buckets))/2), nil, s.only.Buckets)
		s.only = message.Histogram{}
	}
	if s.parts++; s.parts >= fewParts {
		s.many = new(Histogram)
		for _, b := range s.buckets {
			s.many.addTo(b.index>>subBits, b.index&(subs-1), b.n)
		}
		s.buckets = nil
		return s.pour(in)
	}
	*spare = slices.Grow((*spare)[:0], len(s.buckets)+min(last+1, len(in.Buckets)/2))
	s.buckets, *spare = join(*spare, s.buckets, in.Buckets), s.buckets
	s.count, s.sum = add(s.count, in.Count), add(s.sum, in.Sum)
	s.min, s.max = min(s.min, in.Min), max(s.max, in.Max)
	return nil
}

// fewParts is how many histograms, or series in time, a sum adds pair by pair. From then on it has
// all its buckets before it: a table of 2 KiB an octave pays once it replaces some copies.
const fewParts = 8

// pour adds a message to the table, and checks it on the way: to walk it twice costs more than to add it up.
func (s *sparse) pour(in message.Histogram) error {
	w := walk{left: in.Count, first: -1, last: -1}
	// No bucket can be above 64 bits, if all of them together are not.
	err := w.pour(s.many, in.Buckets, in.Count <= min(countMax, ^uint64(0)-s.count))
	if err == nil {
		err = w.judge(in)
	}
	if err != nil {
		return fmt.Errorf("read a histogram of %d values: %w", in.Count, err)
	}
	s.count, s.sum = add(s.count, in.Count), add(s.sum, in.Sum)
	s.min, s.max = min(s.min, in.Min), max(s.max, in.Max)
	return nil
}

// pour adds buckets to a table.
func (w *walk) pour(to *Histogram, b []byte, fits bool) error {
	for len(b) > 0 {
		if gaps, n, ok := fours(b); ok && fits && w.first >= 0 && gaps <= uint64(buckets-1-w.last) && n <= w.left {
			x := binary.LittleEndian.Uint64(b)
			first := w.last + int(x&0xff)
			second := first + int(x>>16&0xff)
			third := second + int(x>>32&0xff)
			w.last, w.left, b = w.last+int(gaps), w.left-n, b[fourPairs:]
			if counts := to.octaves[first>>subBits]; counts != nil && first>>subBits == w.last>>subBits {
				counts[first&(subs-1)] += x >> 8 & 0xff
				counts[second&(subs-1)] += x >> 24 & 0xff
				counts[third&(subs-1)] += x >> 40 & 0xff
				counts[w.last&(subs-1)] += x >> 56
				continue
			}
			*to.bucket(first) += x >> 8 & 0xff
			*to.bucket(second) += x >> 24 & 0xff
			*to.bucket(third) += x >> 40 & 0xff
			*to.bucket(w.last) += x >> 56
			continue
		}
		gap, n, rest, err := pair(b)
		if err == nil {
			err = w.step(gap, n)
		}
		if err != nil {
			return err
		}
		to := to.bucket(w.last)
		*to, b = add(*to, n), rest
	}
	return nil
}

// join appends buckets, merged with those of a checked message.
func join(out, mine []bucket, theirs []byte) []bucket {
	index, next := -1, 0
	for len(theirs) > 0 {
		gap, size := binary.Uvarint(theirs)
		n, more := binary.Uvarint(theirs[size:])
		theirs = theirs[size+more:]
		index += int(gap)
		for next < len(mine) && mine[next].index < index {
			out = append(out, mine[next])
			next++
		}
		if next < len(mine) && mine[next].index == index {
			n = add(n, mine[next].n)
			next++
		}
		out = append(out, bucket{index, n})
	}
	return append(out, mine[next:]...)
}

// wire returns the sum. It may share memory with its only message, which does not change.
func (s *sparse) wire() message.Histogram {
	if s.many != nil {
		s.many.count, s.many.sum, s.many.min, s.many.max = s.count, s.sum, s.min, s.max
		return s.many.Wire()
	}
	if s.buckets == nil {
		return s.only
	}
	out := message.Histogram{Count: s.count, Sum: s.sum, Min: s.min, Max: s.max, Buckets: make([]byte, 0, 3*len(s.buckets))}
	before := -1
	for _, b := range s.buckets {
		out.Buckets = binary.AppendUvarint(out.Buckets, uint64(b.index-before))
		out.Buckets = binary.AppendUvarint(out.Buckets, b.n)
		before = b.index
	}
	return out
}
