package stats

import (
	"encoding/binary"
	"slices"

	"hyperscale/core/message"
)

// sparse sums histograms that stay messages: it touches only used buckets. A sum of a few
// narrow histograms costs less than one octave of a Histogram, and the sum of one costs only
// its check. A sum of many costs a step for each bucket of each of them, and no list to copy.
type sparse struct {
	only  message.Histogram // the sum, as long as one histogram is all of it
	pairs []byte            // the buckets of the sum, else, as a message has them
	many  *Histogram        // the buckets of the sum, from fewParts histograms on
	parts int
	count uint64
	sum   uint64
	min   uint64
	max   uint64
}

// merge adds a histogram, or refuses it as FromWire does: then the sum is of no use. Spare is memory that all
// sparse ones of a sum share.
func (s *sparse) merge(in message.Histogram, spare *[]byte) error {
	if s.many != nil && in.Count > 0 {
		return s.pour(in)
	}
	if s.count == 0 || in.Count == 0 {
		if _, err := check(in); err != nil {
			return unread(in, err)
		}
		if in.Count > 0 {
			s.only, s.count, s.sum, s.min, s.max = in, in.Count, in.Sum, in.Min, in.Max
		}
		return nil
	}
	mine := s.pairs
	if s.only.Count != 0 {
		mine, s.only = s.only.Buckets, message.Histogram{}
	}
	if s.parts++; s.parts >= fewParts {
		s.many = new(Histogram)
		s.many.addPairs(mine)
		s.pairs = nil
		return s.pour(in)
	}
	out, err := join(slices.Grow((*spare)[:0], len(mine)+len(in.Buckets)), mine, in)
	if err != nil {
		return unread(in, err)
	}
	s.pairs, *spare = out, s.pairs
	s.count, s.sum = add(s.count, in.Count), add(s.sum, in.Sum)
	s.min, s.max = min(s.min, in.Min), max(s.max, in.Max)
	return nil
}

// fewParts is how many histograms, or series in time, a sum adds pair by pair. From then on it has
// all its buckets before it: a table of 2 KiB an octave pays once it replaces some copies.
const fewParts = 8

// pour adds a message to the table, and checks it on the way: to walk it twice costs more than to add it up.
func (s *sparse) pour(in message.Histogram) error {
	w := walkOf(in)
	// No bucket can be above 64 bits, if all of them together are not.
	err := w.pour(s.many, in.Buckets, in.Count <= min(countMax, ^uint64(0)-s.count))
	if err == nil {
		err = w.judge(in)
	}
	if err != nil {
		return unread(in, err)
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
		n, rest, err := w.next(b)
		if err != nil {
			return err
		}
		to := to.bucket(w.last)
		*to, b = add(*to, n), rest
	}
	return nil
}

// join appends the pairs of a sum, merged with those of a message, which it checks on the way.
func join(out, mine []byte, in message.Histogram) ([]byte, error) {
	w, last := walkOf(in), -1 // the bucket that out ends with
	index, n, mine := following(-1, mine)
	for theirs := in.Buckets; len(theirs) > 0; {
		for len(theirs) >= 3 && len(mine) >= 3 { // as long as their buckets are the same, and no number is large: mostly
			gap := theirs[0]
			count, size, ok := shortCount(theirs)
			following, mineSize, also := shortCount(mine)
			if !ok || !also || gap-1 >= 0x7f || mine[0] >= 0x80 || w.first < 0 || w.last+int(gap) != index || count-1 >= w.left {
				break
			}
			w.last, w.left, theirs = index, w.left-count, theirs[size:]
			out, last = appendPair(out, index-last, add(count, n)), index
			index, n, mine = index+int(mine[0]), following, mine[mineSize:]
		}
		if len(theirs) == 0 {
			break
		}
		count, rest, err := w.next(theirs)
		if err != nil {
			return nil, err
		}
		theirs = rest
		for n > 0 && index < w.last {
			out, last = appendPair(out, index-last, n), index
			index, n, mine = following(index, mine)
		}
		if n > 0 && index == w.last {
			count = add(count, n)
			index, n, mine = following(index, mine)
		}
		out, last = appendPair(out, w.last-last, count), w.last
	}
	if n > 0 {
		out = append(appendPair(out, index-last, n), mine...)
	}
	return out, w.judge(in)
}

// following returns the bucket behind index, whose pair is the first of checked ones, and how many values it
// holds; none: there is no other bucket.
func following(index int, b []byte) (next int, n uint64, rest []byte) {
	if len(b) == 0 {
		return index, 0, nil
	}
	gap, n, rest, _ := pair(b) // check has read it
	return index + int(gap), n, rest
}

// wire returns the sum. It may share memory with its only message, which does not change.
func (s *sparse) wire() message.Histogram {
	if s.many != nil {
		s.many.count, s.many.sum, s.many.min, s.many.max = s.count, s.sum, s.min, s.max
		return s.many.Wire()
	}
	if s.pairs == nil {
		return s.only
	}
	return message.Histogram{Count: s.count, Sum: s.sum, Min: s.min, Max: s.max, Buckets: slices.Clip(s.pairs)}
}
