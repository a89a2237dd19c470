package stats

import (
	"math/bits"
	"time"

	"hyperscale/core/message"
)

// The shape of a series in time.
const (
	WindowsMax     = 512                    // windows of a series, for a run of any length
	WindowWidth    = 100 * time.Millisecond // of each at first
	LatencyBuckets = 32                     // of a window: octaves, enough to plot a quantile
)

const (
	doublingsMax = 28 // then the windows reach beyond the longest Duration
	longest      = time.Duration(1<<63 - 1)
	chunkLen     = 64 // windows that are allocated together
	bucketShift  = 10 // bucket i > 0 begins at 2^(bucketShift+i) ns: 2 us to 1 h
)

// Window counts what happened to a step within one interval: starts when they happened, ends
// and their latencies when they arrived.
type Window struct {
	Started, OK, Failed, TimedOut uint64
	Bytes                         uint64 // in both directions
	Latency                       [LatencyBuckets]uint64
}

// Record adds a latency.
func (w *Window) Record(latency uint64) { w.Latency[bucketOf(latency)]++ }

func bucketOf(v uint64) int {
	return min(max(0, bits.Len64(v)-1-bucketShift), LatencyBuckets-1)
}

// LatencyBound returns the largest value of a window's bucket. The last one also takes all
// larger values.
func LatencyBound(i int) uint64 { return 2<<(bucketShift+i) - 1 }

// used returns the buckets that hold something.
func (w *Window) used() (b inUse) {
	for i, n := range w.Latency {
		if n > 0 {
			b |= 1 << i
		}
	}
	return b
}

// add adds the counts of other, and its latencies in some buckets.
func (w *Window) add(other *Window, in inUse) {
	w.Started, w.OK, w.Failed = add(w.Started, other.Started), add(w.OK, other.OK), add(w.Failed, other.Failed)
	w.TimedOut, w.Bytes = add(w.TimedOut, other.TimedOut), add(w.Bytes, other.Bytes)
	for ; in != 0; in &= in - 1 {
		i := in.first()
		w.Latency[i] = add(w.Latency[i], other.Latency[i])
	}
}

// Quantile estimates a quantile of the latencies as if those of a bucket were spread evenly. It
// is for plots, wrong by less than an octave. 0 if there is none.
func (w *Window) Quantile(ppm uint32) uint64 {
	var count uint64
	for _, n := range w.Latency {
		count = add(count, n)
	}
	if count == 0 {
		return 0
	}
	left := rank(count, ppm)
	for i, n := range w.Latency {
		if n == 0 || left > n {
			left -= n
			continue
		}
		from, width := uint64(0), uint64(2)<<bucketShift
		if i > 0 {
			from = 1 << (bucketShift + i)
			width = from
		}
		hi, lo := bits.Mul64(width, left)
		share, _ := bits.Div64(hi%n, lo, n) // hi < n, for left <= n and width < 2^64
		return from + share
	}
	return 0 // the counts do not fit 64 bits
}

// Windows is a series of windows since a start. The zero value is empty and ready. When the run
// outgrows it, its windows double their width: two neighbours become one.
type Windows struct {
	chunks    [WindowsMax / chunkLen]*[chunkLen]Window
	doublings int

	// The window of the last call: most calls use it again.
	current     *Window
	from, until time.Duration
}

// At returns the window of an instant since the start, to count in before the next call.
func (w *Windows) At(since time.Duration) *Window {
	if since >= w.from && since < w.until {
		return w.current
	}
	return w.seek(max(0, since))
}

func (w *Windows) width() time.Duration { return WindowWidth << w.doublings }

func (w *Windows) seek(since time.Duration) *Window {
	for since/w.width() >= WindowsMax {
		w.double()
	}
	index := int(since / w.width())
	w.from = time.Duration(index) * w.width()
	w.until = w.from + w.width()
	if w.until < w.from {
		w.until = longest
	}
	w.current = w.window(index)
	return w.current
}

func (w *Windows) window(index int) *Window {
	chunk := w.chunks[index/chunkLen]
	if chunk == nil {
		chunk = new([chunkLen]Window)
		w.chunks[index/chunkLen] = chunk
	}
	return &chunk[index%chunkLen]
}

// double joins neighbours. It releases no memory, because the run continues.
func (w *Windows) double() {
	w.doublings++
	for index := range WindowsMax {
		if w.chunks[index/chunkLen] == nil {
			continue
		}
		from := w.window(index)
		if index == 0 || *from == (Window{}) {
			continue
		}
		w.window(index/2).add(from, allBuckets)
		*from = Window{}
	}
}

// Wire writes the series as a message.
func (w *Windows) Wire() message.Windows {
	out := writer{doublings: w.doublings, before: -1}
	for index := range WindowsMax {
		if w.chunks[index/chunkLen] == nil {
			continue
		}
		if one := w.window(index); *one != (Window{}) {
			out.write(index, one, one.used())
		}
	}
	return out.message()
}
