package stats

import (
	"encoding/binary"
	"errors"
	"fmt"

	"hyperscale/core/message"
)

// ErrHistogram is wrapped by the error of every histogram that cannot be read.
var ErrHistogram = errors.New("not a histogram")

// countMax bounds the counts of one message, so that thousands of them can be added.
const countMax = 1 << 48

// Wire returns the histogram as a message: for each used bucket, in ascending order, its
// distance to the bucket before (to -1 for the first), then its count.
func (h *Histogram) Wire() message.Histogram {
	if h.count == 0 {
		return message.Histogram{}
	}
	out := message.Histogram{Count: h.count, Sum: h.sum, Min: h.min, Max: h.max}
	before := -1
	for o, counts := range h.octaves {
		if counts == nil {
			continue
		}
		for sub, n := range counts {
			if n == 0 {
				continue
			}
			index := o<<subBits | sub
			out.Buckets, before = appendPair(out.Buckets, index-before, n), index
		}
	}
	return out
}

// FromWire reads what Wire wrote and rejects what no histogram writes.
func FromWire(in message.Histogram) (*Histogram, error) {
	h := new(Histogram)
	if err := h.read(in); err != nil {
		return nil, unread(in, err)
	}
	return h, nil
}

// unread says which histogram a fault is in.
func unread(in message.Histogram, err error) error {
	return fmt.Errorf("read a histogram of %d values: %w", in.Count, err)
}

func (h *Histogram) read(in message.Histogram) error {
	if _, err := check(in); err != nil {
		return err
	}
	h.addPairs(in.Buckets)
	h.sum, h.min, h.max = in.Sum, in.Min, in.Max
	return nil
}

// addPairs adds the buckets of a checked message.
func (h *Histogram) addPairs(b []byte) {
	index, n, b := following(-1, b)
	for ; n > 0; index, n, b = following(index, b) {
		h.addTo(index>>subBits, index&(subs-1), n)
	}
}

// Quantile returns the quantile of a histogram that stays a message: the result of FromWire and
// Histogram.Quantile, without allocating.
func Quantile(in message.Histogram, ppm uint32) (uint64, error) {
	if _, err := check(in); err != nil {
		return 0, unread(in, err)
	}
	rank := rank(in.Count, ppm)
	index, seen := -1, uint64(0)
	for rest := in.Buckets; len(rest) > 0; {
		gap, n, left, _ := pair(rest) // check has read it
		rest, index = left, index+int(gap)
		if seen += n; seen >= rank {
			return max(in.Min, min(in.Max, high(index>>subBits, index&(subs-1)))), nil
		}
	}
	return in.Max, nil
}

// check rejects what no histogram writes, without allocating, and returns the index of the last
// bucket.
func check(in message.Histogram) (last int, err error) {
	w := walkOf(in)
	for rest := in.Buckets; len(rest) > 0; {
		if gaps, n, ok := fours(rest); ok && w.first >= 0 && gaps <= uint64(buckets-1-w.last) && n <= w.left {
			w.last, w.left, rest = w.last+int(gaps), w.left-n, rest[fourPairs:]
			continue
		}
		_, left, err := w.next(rest)
		if err != nil {
			return 0, err
		}
		rest = left
	}
	return max(0, w.last), w.judge(in)
}

// walk is how far a message's buckets are read.
type walk struct {
	left        uint64 // of its values
	first, last int    // buckets; -1: there is none yet
}

func walkOf(in message.Histogram) walk { return walk{left: in.Count, first: -1, last: -1} }

// next reads the next bucket.
func (w *walk) next(b []byte) (n uint64, rest []byte, err error) {
	gap, n, rest, err := pair(b)
	if err != nil {
		return 0, nil, err
	}
	if gap-1 >= uint64(buckets-1-w.last) || n-1 >= w.left { // below zero is above all bounds
		return 0, nil, fmt.Errorf("bucket %d + %d with count %d is out of bounds: %w", w.last, gap, n, ErrHistogram)
	}
	w.last += int(gap)
	w.left -= n
	if w.first < 0 {
		w.first = w.last
	}
	return n, rest, nil
}

// judge compares what a message says of its buckets with all of them.
func (w *walk) judge(in message.Histogram) error {
	switch {
	case in.Count > countMax:
		return fmt.Errorf("count is above %d: %w", uint64(countMax), ErrHistogram)
	case w.left != 0:
		return fmt.Errorf("the buckets hold %d: %w", in.Count-w.left, ErrHistogram)
	case in.Count == 0 && (in.Sum != 0 || in.Min != 0 || in.Max != 0):
		return fmt.Errorf("empty, yet sum %d, min %d, max %d: %w", in.Sum, in.Min, in.Max, ErrHistogram)
	case in.Count == 0:
		return nil
	case !holds(w.first, in.Min) || !holds(w.last, in.Max) || in.Min > in.Max:
		return fmt.Errorf("min %d, max %d do not fit the buckets: %w", in.Min, in.Max, ErrHistogram)
	case in.Sum < times(in.Min, in.Count) || in.Sum > times(in.Max, in.Count):
		return fmt.Errorf("sum %d does not fit min %d and max %d: %w", in.Sum, in.Min, in.Max, ErrHistogram)
	}
	return nil
}

// pair reads a bucket's distance and its count.
func pair(b []byte) (gap, n uint64, rest []byte, err error) {
	if len(b) >= 2 && b[0]|b[1] < 0x80 { // most are small
		return uint64(b[0]), uint64(b[1]), b[2:], nil
	}
	return largePair(b)
}

func largePair(b []byte) (gap, n uint64, rest []byte, err error) {
	if len(b) >= 3 && b[0]|b[2] < 0x80 { // 128 to 16,383 values
		return uint64(b[0]), uint64(b[1]&0x7f) | uint64(b[2])<<7, b[3:], nil
	}
	gap, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, 0, nil, fmt.Errorf("a bucket's distance is cut off or too long: %w", ErrHistogram)
	}
	b = b[size:]
	if n, size = binary.Uvarint(b); size <= 0 {
		return 0, 0, nil, fmt.Errorf("a bucket's count is cut off or too long: %w", ErrHistogram)
	}
	return gap, n, b[size:], nil
}

// appendPair writes what pair reads.
func appendPair(b []byte, gap int, n uint64) []byte {
	switch {
	case uint64(gap)|n < 0x80:
		return append(b, byte(gap), byte(n))
	case gap < 0x80 && n < 1<<14:
		return append(b, byte(gap), byte(n)|0x80, byte(n>>7))
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(gap)), n)
}

// fourPairs is how many bytes four pairs of small numbers have.
const fourPairs = 8

// eight repeats a byte, and four a pair of them: to compute with all at once.
const (
	eight = 0x0101010101010101
	four  = 0x0001000100010001
)

// small loads the next four pairs, if all of their numbers are below 128: distances in the even bytes.
func small(b []byte) (x uint64, ok bool) {
	if len(b) < fourPairs {
		return 0, false
	}
	x = binary.LittleEndian.Uint64(b)
	return x, x&(0x80*eight) == 0
}

// fours sums the next four pairs, if all of their numbers are 1 to 127: most are.
func fours(b []byte) (gaps, counts uint64, ok bool) {
	x, ok := small(b)
	if !ok || (x-eight)&(0x80*eight) != 0 { // only a zero borrows
		return 0, 0, false
	}
	return x & (0xff * four) * four >> 48, x >> 8 & (0xff * four) * four >> 48, true
}

func holds(index int, v uint64) bool {
	o, sub := place(v)
	return index == o<<subBits|sub
}
