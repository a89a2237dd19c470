package stats

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
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
	if _, err := checkWindows(in); err != nil {
		return nil, err
	}
	var all []Interval
	r := newReader(in.Data, 0)
	for r.next() {
		all = append(all, Interval{time.Duration(r.index) * in.Width, r.window})
	}
	return all, nil
}

// mergeWindows adds two series, at the width of the coarser one. If one of them lacks data, so
// does the sum.
func mergeWindows(a, b message.Windows) (message.Windows, error) {
	da, err := checkWindows(a)
	if err != nil {
		return message.Windows{}, err
	}
	db, err := checkWindows(b)
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
	out := writer{doublings: max(da, db), before: -1, data: make([]byte, 0, len(a.Data)+len(b.Data)/2)}
	ra, rb := newReader(a.Data, out.doublings-da), newReader(b.Data, out.doublings-db)
	moreA, moreB := ra.next(), rb.next()
	for moreA || moreB {
		switch {
		case !moreB || moreA && ra.index < rb.index:
			out.write(ra.index, &ra.window, ra.used)
			moreA = ra.next()
		case !moreA || rb.index < ra.index:
			out.write(rb.index, &rb.window, rb.used)
			moreB = rb.next()
		default:
			ra.window.add(&rb.window, rb.used)
			ra.used |= rb.used
			out.write(ra.index, &ra.window, ra.used)
			moreA, moreB = ra.next(), rb.next()
		}
	}
	return out.message(), nil
}

// widen doubles the width of a series once, if it is readable and can be wider; otherwise its
// reader rejects it.
func widen(in message.Windows) message.Windows {
	doublings, err := checkWindows(in)
	if err != nil || in.Width == 0 || doublings == doublingsMax {
		return in
	}
	out := writer{doublings: doublings + 1, before: -1}
	r := newReader(in.Data, 1)
	for r.next() {
		out.write(r.index, &r.window, r.used)
	}
	return out.message()
}

// delayed moves a series later, at a width at which it still fits.
func delayed(in message.Windows, by time.Duration) message.Windows {
	for doublings, err := checkWindows(in); err == nil && in.Width > 0; doublings, err = checkWindows(in) {
		out, last := writer{doublings: doublings, before: -1}, 0
		r := newReader(in.Data, 0)
		for shift := int(min(by/in.Width, WindowsMax)); r.next(); {
			last = r.index + shift
			out.write(last, &r.window, r.used)
		}
		if last < WindowsMax {
			return out.message()
		}
		if doublings == doublingsMax {
			return message.Windows{Dropped: true}
		}
		in = widen(in)
	}
	return in
}

// A window on the wire has its distance to the earlier one (to -1 for the first), its five
// counts, the number of its used buckets, and for each of them its distance to the earlier one
// and its count.
const fieldsOfWindow = 5

func (w *Window) counts() [fieldsOfWindow]uint64 {
	return [...]uint64{w.Started, w.OK, w.Failed, w.TimedOut, w.Bytes}
}

// inUse has a bit for each used bucket of a window.
type inUse uint32

const allBuckets = ^inUse(0)

func (b inUse) first() int { return bits.TrailingZeros32(uint32(b)) }

// writer builds a message from windows in ascending order.
type writer struct {
	doublings int
	before    int
	data      []byte
}

func (w *writer) write(index int, window *Window, used inUse) {
	w.data = binary.AppendUvarint(w.data, uint64(index-w.before))
	w.before = index
	for _, n := range window.counts() {
		w.data = binary.AppendUvarint(w.data, n)
	}
	w.data = binary.AppendUvarint(w.data, uint64(bits.OnesCount32(uint32(used))))
	before := -1
	for rest := used; rest != 0; rest &= rest - 1 {
		i := rest.first()
		w.data = binary.AppendUvarint(w.data, uint64(i-before))
		w.data = binary.AppendUvarint(w.data, window.Latency[i])
		before = i
	}
}

func (w *writer) message() message.Windows {
	if len(w.data) == 0 {
		return message.Windows{}
	}
	return message.Windows{Width: WindowWidth << w.doublings, Data: w.data}
}

// reader yields the windows of checked data, 2^shift neighbours as one.
type reader struct {
	window Window
	used   inUse
	index  int

	shift int
	rest  []byte
	raw   int // unshifted index of the window that rest begins with; its gap is read
}

func newReader(data []byte, shift int) *reader {
	r := &reader{rest: data, shift: shift}
	if len(data) > 0 {
		r.raw = int(r.take()) - 1
	}
	return r
}

// take reads a number that checkWindows has already checked.
func (r *reader) take() uint64 {
	if b := r.rest[0]; b < 0x80 { // most are small
		r.rest = r.rest[1:]
		return uint64(b)
	}
	n, size := binary.Uvarint(r.rest)
	r.rest = r.rest[size:]
	return n
}

// next moves to the next window, if there is one.
func (r *reader) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	for ; r.used != 0; r.used &= r.used - 1 {
		r.window.Latency[r.used.first()] = 0
	}
	r.window.Started, r.window.OK, r.window.Failed, r.window.TimedOut, r.window.Bytes = 0, 0, 0, 0, 0
	r.index = r.raw >> r.shift
	for len(r.rest) > 0 && r.raw>>r.shift == r.index {
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
		w.Latency[at] = add(w.Latency[at], r.take())
		r.used |= 1 << at
	}
	if len(r.rest) > 0 {
		r.raw += int(r.take())
	}
}

// checkWindows rejects what no Windows writes, without allocating, and returns how often its
// width was doubled.
func checkWindows(in message.Windows) (doublings int, err error) {
	if in.Width == 0 {
		if len(in.Data) > 0 {
			return 0, fmt.Errorf("%d bytes of windows without a width: %w", len(in.Data), ErrWindows)
		}
		return 0, nil
	}
	for doublings <= doublingsMax && in.Width != WindowWidth<<doublings {
		doublings++
	}
	if doublings > doublingsMax || in.Dropped || len(in.Data) == 0 {
		return 0, fmt.Errorf("width %v, dropped %v, %d bytes: %w", in.Width, in.Dropped, len(in.Data), ErrWindows)
	}
	index := -1
	for rest := in.Data; len(rest) > 0; {
		var gap uint64
		if gap, rest, err = uvarint(rest); err != nil {
			return 0, err
		}
		if gap == 0 || gap > uint64(WindowsMax-1-index) || time.Duration(index+int(gap)) > longest/in.Width {
			return 0, fmt.Errorf("window %d + %d is out of bounds: %w", index, gap, ErrWindows)
		}
		index += int(gap)
		if rest, err = checkWindow(rest); err != nil {
			return 0, fmt.Errorf("window %d: %w", index, err)
		}
	}
	return doublings, nil
}

func checkWindow(rest []byte) (_ []byte, err error) {
	var n, any, used uint64
	for range fieldsOfWindow {
		if n, rest, err = uvarint(rest); err != nil {
			return nil, err
		}
		any |= n
	}
	if used, rest, err = uvarint(rest); err != nil {
		return nil, err
	}
	if any|used == 0 || used > LatencyBuckets {
		return nil, fmt.Errorf("it has %d buckets and counts whose bits are %x: %w", used, any, ErrWindows)
	}
	at := -1
	for range used {
		var gap uint64
		if gap, rest, err = uvarint(rest); err != nil {
			return nil, err
		}
		if n, rest, err = uvarint(rest); err != nil {
			return nil, err
		}
		if gap == 0 || gap > uint64(LatencyBuckets-1-at) || n == 0 {
			return nil, fmt.Errorf("bucket %d + %d with count %d is out of bounds: %w", at, gap, n, ErrWindows)
		}
		at += int(gap)
	}
	return rest, nil
}

func uvarint(b []byte) (n uint64, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil, fmt.Errorf("a number is cut off or too long: %w", ErrWindows)
	}
	return n, b[size:], nil
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
			points[n-1].add(&all[i].Window, allBuckets)
			continue
		}
		all[i].Since = since
		points = append(points, all[i])
	}
	return width, points, nil
}
