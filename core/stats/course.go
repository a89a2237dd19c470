package stats

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"hyperscale/core/message"
)

// ErrWindows is wrapped by the error of every series in time that cannot be read.
var ErrWindows = errors.New("not a series of windows")

// Interval is one window of a series in a message.
type Interval struct {
	Since time.Duration // the start of the run
	Window
}

// Intervals reads a series: its windows in which something happened, ascending.
func Intervals(in message.Windows) ([]Interval, error) {
	is, err := checkWindows(in)
	if err != nil {
		return nil, err
	}
	var all []Interval
	for r := newReader(in.Data, is, is); r.next(); {
		all = append(all, Interval{time.Duration(r.index) * in.Width, r.window})
	}
	return all, nil
}

// mergeWindows adds two series, at the width and the buckets of the coarser ones. If one of them
// lacks data, so does the sum.
func mergeWindows(a, b message.Windows) (message.Windows, error) {
	sa, err := checkWindows(a)
	if err != nil {
		return message.Windows{}, err
	}
	sb, err := checkWindows(b)
	switch {
	case err != nil:
		return message.Windows{}, err
	case a.Dropped || b.Dropped:
		return message.Windows{Dropped: true}, nil
	case a.Width == 0:
		return b, nil
	case b.Width == 0:
		return a, nil
	}
	out := writer{shape: shape{max(sa.doublings, sb.doublings), max(sa.coarser, sb.coarser)}, before: -1, data: make([]byte, 0, len(a.Data)+len(b.Data)/2)}
	ra, rb := newReader(a.Data, sa, out.shape), newReader(b.Data, sb, out.shape)
	moreA, moreB := ra.next(), rb.next()
	for moreA || moreB {
		switch {
		case !moreB || moreA && ra.index < rb.index:
			out.write(ra.index, &ra.window, &ra.used)
			moreA = ra.next()
		case !moreA || rb.index < ra.index:
			out.write(rb.index, &rb.window, &rb.used)
			moreB = rb.next()
		default:
			ra.window.add(&rb.window, &rb.used)
			ra.used.join(&rb.used)
			out.write(ra.index, &ra.window, &ra.used)
			moreA, moreB = ra.next(), rb.next()
		}
	}
	return out.message(), nil
}

// widen doubles the width of a series once, if it is readable and can be wider; otherwise its
// reader rejects it.
func widen(in message.Windows) message.Windows {
	return reshaped(in, func(s *shape) { s.doublings = min(s.doublings+1, doublingsMax) })
}

// blunt halves the buckets of a series once, to octaves at last.
func blunt(in message.Windows) message.Windows {
	return reshaped(in, func(s *shape) { s.coarser = min(s.coarser+1, fineBits) })
}

// reshaped writes a series in a coarser shape. It leaves an invalid series alone.
func reshaped(in message.Windows, to func(*shape)) message.Windows {
	was, err := checkWindows(in)
	is := was
	if to(&is); err != nil || in.Width == 0 || is == was {
		return in
	}
	out := writer{shape: is, before: -1}
	for r := newReader(in.Data, was, is); r.next(); {
		out.write(r.index, &r.window, &r.used)
	}
	return out.message()
}

// delayed moves a series later, at a width at which it still fits.
func delayed(in message.Windows, by time.Duration) message.Windows {
	for is, err := checkWindows(in); err == nil && in.Width > 0; is, err = checkWindows(in) {
		out, last := writer{shape: is, before: -1}, 0
		r := newReader(in.Data, is, is)
		for shift := int(min(by/in.Width, WindowsMax)); r.next(); {
			last = r.index + shift
			out.write(last, &r.window, &r.used)
		}
		if last < WindowsMax {
			return out.message()
		}
		if is.doublings == doublingsMax {
			return message.Windows{Dropped: true}
		}
		in = widen(in)
	}
	return in
}

// shape is how coarse a series is.
type shape struct {
	doublings int   // of a window's width
	coarser   uint8 // how often the buckets of an octave were halved
}

// fine is how often the octaves of a series are split in two.
func (s shape) fine() int { return fineBits - int(s.coarser) }

// Data of split octaves begins with 0 and with how often they are: no window begins so. What
// follows, and data of whole octaves, are windows. A window has its distance to the earlier one
// (to -1 for the first), its five counts, the number of its used buckets, and for each of them its
// distance to the earlier one and its count.
const fieldsOfWindow = 5

func (c *Counts) all() [fieldsOfWindow]uint64 {
	return [...]uint64{c.Started, c.OK, c.Failed, c.TimedOut, c.Bytes}
}

// writer builds a message from windows in ascending order.
type writer struct {
	shape

	before int
	data   []byte
}

func (w *writer) write(index int, window *Window, used *inUse) {
	w.begin(index, &window.Counts, used.count())
	before := -1
	for i := used.next(0); i < LatencyBuckets; i = used.next(i + 1) {
		at := i >> w.coarser
		w.data = short(short(w.data, uint64(at-before)), window.Latency[i])
		before = at
	}
}

// begin writes what stands before a window's buckets.
func (w *writer) begin(index int, counts *Counts, used int) {
	if len(w.data) == 0 && w.fine() > 0 {
		w.data = append(w.data, 0, byte(w.fine()))
	}
	w.data = short(w.data, uint64(index-w.before))
	w.before = index
	for _, n := range counts.all() {
		w.data = short(w.data, n)
	}
	w.data = short(w.data, uint64(used))
}

// short appends a number; most are small.
func short(to []byte, n uint64) []byte {
	if n < 0x80 {
		return append(to, byte(n))
	}
	return binary.AppendUvarint(to, n)
}

func (w *writer) message() message.Windows {
	if len(w.data) == 0 {
		return message.Windows{}
	}
	return message.Windows{Width: WindowWidth << w.doublings, Data: w.data}
}

// reader yields the windows of checked data, 2^shift neighbours as one.
type reader struct {
	window Window // with the buckets of the target
	used   inUse
	index  int

	shift   int
	coarser uint8 // buckets of the data
	data    []byte
	at      int // of the next number: an index costs less than a shorter slice
	raw     int // unshifted index of the window that begins there; its gap is read
}

// newReader reads data of one shape in another one, which is no finer.
func newReader(data []byte, from, to shape) *reader {
	r := &reader{data: data, shift: to.doublings - from.doublings, coarser: from.coarser}
	r.window.Coarser = to.coarser
	if len(data) > 0 {
		if from.fine() > 0 {
			r.at = 2
		}
		r.raw = int(r.take()) - 1
	}
	return r
}

// more says whether a window follows.
func (r *reader) more() bool { return r.at < len(r.data) }

// take reads a number that checkWindows has already checked.
func (r *reader) take() uint64 {
	b := r.data[r.at]
	r.at++
	if b < 0x80 { // most are small
		return uint64(b)
	}
	return r.large()
}

// large reads a number whose first byte take has read.
func (r *reader) large() uint64 {
	n, size := binary.Uvarint(r.data[r.at-1:])
	r.at += size - 1
	return n
}

// next moves to the next window, if there is one.
func (r *reader) next() bool {
	if !r.more() {
		return false
	}
	r.window.empty(&r.used)
	r.used = inUse{}
	r.index = r.raw >> r.shift
	for r.more() && r.raw>>r.shift == r.index {
		r.read()
	}
	return true
}

// read adds one window of the data to the current sum.
func (r *reader) read() {
	w := &r.window
	w.Started, w.OK, w.Failed = add(w.Started, r.take()), add(w.OK, r.take()), add(w.Failed, r.take())
	w.TimedOut, w.Bytes = add(w.TimedOut, r.take()), add(w.Bytes, r.take())
	at := -1
	for range r.take() {
		at += int(r.take())
		i := (at+1)<<r.coarser - 1 | w.mask()
		w.Latency[i] = add(w.Latency[i], r.take())
		r.used.set(i)
	}
	if r.more() {
		r.raw += int(r.take())
	}
}

// checkWindows rejects what no Windows writes, without allocating, and returns its shape.
func checkWindows(in message.Windows) (is shape, err error) {
	is, at, err := shapeOf(in)
	most := lastWindow(in.Width)
	for index := -1; err == nil && at < len(in.Data); {
		if index, at, err = nextWindow(in.Data, at, index, most); err == nil {
			if at, err = checkWindow(in.Data, at, LatencyBuckets>>is.coarser); err != nil {
				err = fmt.Errorf("window %d: %w", index, err)
			}
		}
	}
	return is, err
}

// shapeOf reads what stands before the windows of a series, and returns where they begin.
func shapeOf(in message.Windows) (is shape, at int, err error) {
	if in.Width == 0 {
		if len(in.Data) > 0 {
			return is, 0, fmt.Errorf("%d bytes of windows without a width: %w", len(in.Data), ErrWindows)
		}
		return is, 0, nil
	}
	for is.doublings <= doublingsMax && in.Width != WindowWidth<<is.doublings {
		is.doublings++
	}
	if is.doublings > doublingsMax || in.Dropped || len(in.Data) == 0 {
		return is, 0, fmt.Errorf("width %v, dropped %v, %d bytes: %w", in.Width, in.Dropped, len(in.Data), ErrWindows)
	}
	b := in.Data
	is.coarser = fineBits
	if b[0] == 0 {
		if len(b) < 3 || b[1] == 0 || b[1] > fineBits {
			return is, 0, fmt.Errorf("its octaves are split %x times, want 1 to %d, and windows: %w", b[1:min(len(b), 2)], fineBits, ErrWindows)
		}
		is.coarser, at = fineBits-b[1], 2
	}
	return is, at, nil
}

// lastWindow is the index of the last window of such a width that can begin.
func lastWindow(width time.Duration) int {
	return int(min(WindowsMax-1, longest/max(1, width)))
}

// nextWindow reads the distance of a window to the earlier one, and returns where its counts begin.
func nextWindow(b []byte, at, earlier, most int) (index, counts int, err error) {
	gap, at := uvarint(b, at)
	switch {
	case at < 0:
		return 0, 0, errCut
	case gap == 0 || gap > uint64(most-earlier):
		return 0, 0, fmt.Errorf("window %d + %d is out of bounds: %w", earlier, gap, ErrWindows)
	}
	return earlier + int(gap), at, nil
}

// readCounts reads what stands before a window's buckets, and how many these are of so many.
func readCounts(b []byte, at, buckets int, c *Counts) (used uint64, end int, err error) {
	if at+8 <= len(b) {
		// Most are small: all six of them are in a word.
		if x := binary.LittleEndian.Uint64(b[at:]); x&0x808080808080 == 0 {
			c.Started, c.OK, c.Failed, c.TimedOut, c.Bytes = x&0x7f, x>>8&0x7f, x>>16&0x7f, x>>24&0x7f, x>>32&0x7f
			used, at = x>>40&0x7f, at+fieldsOfWindow+1
			return used, at, judgeCounts(c, used, buckets)
		}
	}
	for _, n := range [...]*uint64{&c.Started, &c.OK, &c.Failed, &c.TimedOut, &c.Bytes, &used} {
		if *n, at = uvarint(b, at); at < 0 {
			return 0, 0, errCut
		}
	}
	return used, at, judgeCounts(c, used, buckets)
}

func judgeCounts(c *Counts, used uint64, buckets int) error {
	if c.Started|c.OK|c.Failed|c.TimedOut|c.Bytes|used == 0 || used > uint64(buckets) {
		return fmt.Errorf("it has %d buckets and counts %v: %w", used, c.all(), ErrWindows)
	}
	return nil
}

// checkWindow checks the window whose counts begin at an index, and returns where it ends.
func checkWindow(b []byte, at, buckets int) (end int, err error) {
	var counts Counts
	used, at, err := readCounts(b, at, buckets, &counts)
	if err != nil {
		return 0, err
	}
	for last := -1; used > 0; {
		if gaps, _, ok := fours(b[at:]); ok && used >= fourPairs/2 && gaps <= uint64(buckets-1-last) {
			last, at, used = last+int(gaps), at+fourPairs, used-fourPairs/2
			continue
		}
		if last, _, at, err = nextBucket(b, at, last, buckets); err != nil {
			return 0, err
		}
		used--
	}
	return at, nil
}

// nextBucket reads a bucket of a window, and returns where it ends.
func nextBucket(b []byte, at, earlier, buckets int) (index int, n uint64, end int, err error) {
	gap, at := uvarint(b, at)
	if at >= 0 {
		n, at = uvarint(b, at)
	}
	switch {
	case at < 0:
		return 0, 0, 0, errCut
	case gap == 0 || gap > uint64(buckets-1-earlier) || n == 0:
		return 0, 0, 0, fmt.Errorf("bucket %d + %d with count %d is out of bounds: %w", earlier, gap, n, ErrWindows)
	}
	return earlier + int(gap), n, at, nil
}

// errCut is the error of a number that does not end, or has too many bytes.
var errCut = fmt.Errorf("a number is cut off or too long: %w", ErrWindows)

// uvarint reads a number, and returns where it ends: -1 if it is none.
func uvarint(b []byte, at int) (n uint64, end int) {
	if at < len(b) && b[at] < 0x80 { // most are small
		return uint64(b[at]), at + 1
	}
	return large(b, at)
}

func large(b []byte, at int) (n uint64, end int) {
	n, size := binary.Uvarint(b[at:])
	if size <= 0 {
		return 0, -1
	}
	return n, at + size
}

// Points reads a series at a coarser width: it joins as many windows as an interval covers,
// rounded up. Zero: each window stays.
func Points(in message.Windows, interval time.Duration) (width time.Duration, points []Interval, err error) {
	all, err := Intervals(in)
	if err != nil || in.Width == 0 {
		return 0, nil, err
	}
	many := max(1, (interval-1)/in.Width+1)
	if many > longest/in.Width {
		many = longest / in.Width
	}
	width = many * in.Width
	for i := range all {
		since := all[i].Since / width * width
		if n := len(points); n > 0 && points[n-1].Since == since {
			points[n-1].Add(&all[i].Window)
			continue
		}
		all[i].Since = since
		points = append(points, all[i])
	}
	return width, points, nil
}

// Fineness is how many buckets an octave of a series has: a latency of the series is known to
// this part of itself, or to 256 ns. 0: nothing happened, or there is no course.
func Fineness(in message.Windows) (int, error) {
	is, err := checkWindows(in)
	if err != nil || in.Width == 0 {
		return 0, err
	}
	return 1 << is.fine(), nil
}
