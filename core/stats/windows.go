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
	LatencyBuckets = windowOctaves << fineBits
)

// FineMost is how many buckets each octave of a window has at first. A value is known to an
// eighth then: twice as many would double the size of results, to draw what no eye sees.
const FineMost = 1 << fineBits

const (
	doublingsMax  = 28 // then the windows reach beyond the longest Duration
	longest       = time.Duration(1<<63 - 1)
	chunkLen      = 64 // windows, and pages of latencies, that are allocated together
	windowOctaves = 32
	bucketShift   = 10 // octave i > 0 begins at 2^(bucketShift+i) ns: 2 us to 1 h; octave 0 at 0
	fineBits      = 3
)

// Counts are what happened to a step within one interval: starts when they happened, ends when
// they arrived.
type Counts struct {
	Started, OK, Failed, TimedOut uint64
	Bytes                         uint64 // in both directions
}

func (c *Counts) add(other *Counts) {
	c.Started, c.OK, c.Failed = add(c.Started, other.Started), add(c.OK, other.OK), add(c.Failed, other.Failed)
	c.TimedOut, c.Bytes = add(c.TimedOut, other.TimedOut), add(c.Bytes, other.Bytes)
}

// Window is an interval's counts, with the latencies of what ended in it.
type Window struct {
	Counts
	Latency [LatencyBuckets]uint64

	// Coarser is how often the buckets of each octave were halved in number, at most 3 times. Such a
	// bucket counts where its last fine one does, so LatencyBound holds for all.
	Coarser uint8
}

// Record adds a latency.
func (w *Window) Record(latency uint64) { w.RecordN(latency, 1) }

// RecordN adds a latency n times.
func (w *Window) RecordN(latency, n uint64) {
	to := &w.Latency[BucketOf(latency)|w.mask()]
	*to = add(*to, n)
}

// mask has the bits of a bucket's index that a coarser window does not tell apart.
func (w *Window) mask() int { return 1<<w.Coarser - 1 }

// BucketOf returns the finest bucket that contains a latency.
func BucketOf(v uint64) int {
	v = min(v, 2<<(bucketShift+windowOctaves-1)-1)
	octave := bits.Len64(v|1<<bucketShift) - 1 - bucketShift
	return octave<<fineBits | int(v>>bucketWidth(octave))&(FineMost-1)
}

// bucketWidth is the logarithm of the width of an octave's buckets.
func bucketWidth(octave int) uint { return uint(max(octave, 1)+bucketShift-fineBits) & 63 }

// LatencyBound returns the largest value of a window's bucket. The last one also takes all
// larger values.
func LatencyBound(i int) uint64 {
	octave, sub := i>>fineBits, uint64(i)&(FineMost-1)+1
	if octave > 0 {
		sub += FineMost
	}
	return sub<<bucketWidth(octave) - 1
}

// used returns the buckets that hold something.
func (w *Window) used() (b inUse) {
	for i, n := range w.Latency {
		if n > 0 {
			b.set(i)
		}
	}
	return b
}

// Add adds another window, at the buckets of the coarser one.
func (w *Window) Add(other *Window) {
	mine, theirs := w.used(), other.used()
	w.coarsen(&mine, other.Coarser)
	w.add(other, &theirs)
}

// add adds another window, whose buckets are no coarser, and of its latencies those in some
// buckets.
func (w *Window) add(other *Window, in *inUse) {
	w.Counts.add(&other.Counts)
	for i := in.next(0); i < LatencyBuckets; i = in.next(i + 1) {
		to := i | w.mask()
		w.Latency[to] = add(w.Latency[to], other.Latency[i])
	}
}

// coarsen joins the buckets in use until they are as coarse as that.
func (w *Window) coarsen(used *inUse, coarser uint8) {
	if coarser <= w.Coarser {
		return
	}
	w.Coarser = coarser
	for i := used.next(0); i < LatencyBuckets; i = used.next(i + 1) {
		if to := i | w.mask(); to != i {
			w.Latency[to] = add(w.Latency[to], w.Latency[i])
			w.Latency[i] = 0
			used.clear(i)
			used.set(to)
		}
	}
}

// Quantile estimates a quantile of the latencies as if those of a bucket were spread evenly. It
// is for plots, wrong by less than a bucket. 0 if there is none.
func (w *Window) Quantile(ppm uint32) uint64 {
	i, left := w.holds(ppm)
	if left == 0 {
		return 0
	}
	from, bound := w.Bounds(i)
	hi, lo := bits.Mul64(bound+1-from, left)
	share, _ := bits.Div64(hi%w.Latency[i], lo, w.Latency[i]) // hi is below it, for left is no more and the width below 2^64
	return from + share
}

// Bucket returns the bucket that contains a quantile, or -1 if there are no latencies.
func (w *Window) Bucket(ppm uint32) int {
	i, left := w.holds(ppm)
	if left == 0 {
		return -1
	}
	return i
}

// holds returns the bucket that contains a quantile, and which of its latencies that is, from 1; or
// 0 if there is none.
func (w *Window) holds(ppm uint32) (i int, left uint64) {
	var count uint64
	for _, n := range w.Latency {
		count = add(count, n)
	}
	if count == 0 {
		return 0, 0
	}
	left = rank(count, ppm)
	for i, n := range w.Latency {
		if left <= n {
			return i, left
		}
		left -= n
	}
	return 0, 0 // the counts do not fit 64 bits
}

// Bounds returns the smallest and the largest latency that count in the same bucket of this window
// as those of a finest bucket.
func (w *Window) Bounds(i int) (low, high uint64) {
	if first := i &^ w.mask(); first > 0 {
		low = LatencyBound(first-1) + 1
	}
	return low, LatencyBound(i | w.mask())
}

// Windows is a series of windows since a start. The zero value is empty and ready. When the run
// outgrows it, its windows double their width: two neighbours become one.
type Windows struct {
	chunks    [WindowsMax / chunkLen]*[chunkLen]slot
	pages     []*[chunkLen]page
	taken     pageID // pages in use, or on the list of free ones
	free      pageID // first of the list; each names the next one
	doublings int
	written   int // bytes of the last message: the next one is about as long

	// The window of the last call: most calls use it again.
	current     *slot
	from, until time.Duration
}

// slot is a window whose latencies lie in pages.
type slot struct {
	Counts
	octaves [windowOctaves]pageID
}

// page counts the latencies of one octave of one window: one cache line, as most octaves of most
// windows are empty.
type page [FineMost]uint64

// pageID counts pages from 1: a slot has no page 0.
type pageID uint16

// At returns the counts of an instant since the start, to count in before the next call.
func (w *Windows) At(since time.Duration) *Counts { return &w.at(since).Counts }

func (w *Windows) at(since time.Duration) *slot {
	if since >= w.from && since < w.until {
		return w.current
	}
	return w.seek(max(0, since))
}

// Record adds a latency at an instant since the start.
func (w *Windows) Record(since time.Duration, latency uint64) {
	one, i := w.at(since), BucketOf(latency)
	id := one.octaves[i>>fineBits]
	if id == 0 {
		id = w.take()
		one.octaves[i>>fineBits] = id
	}
	w.page(id)[i&(FineMost-1)]++
}

func (w *Windows) page(id pageID) *page { return &w.pages[(id-1)/chunkLen][(id-1)%chunkLen] }

// take returns an empty page.
func (w *Windows) take() pageID {
	if id := w.free; id != 0 {
		first := w.page(id)
		w.free, first[0] = pageID(first[0]), 0
		return id
	}
	if w.taken%chunkLen == 0 {
		w.pages = append(w.pages, new([chunkLen]page))
	}
	w.taken++
	return w.taken
}

// release empties a page for the next one that takes it.
func (w *Windows) release(id pageID) {
	*w.page(id) = page{uint64(w.free)}
	w.free = id
}

func (w *Windows) width() time.Duration { return WindowWidth << w.doublings }

func (w *Windows) seek(since time.Duration) *slot {
	for since/w.width() >= WindowsMax {
		w.double()
	}
	index := int(since / w.width())
	w.from = time.Duration(index) * w.width()
	w.until = w.from + w.width()
	if w.until < w.from {
		w.until = longest
	}
	w.current = w.slot(index)
	return w.current
}

func (w *Windows) slot(index int) *slot {
	chunk := w.chunks[index/chunkLen]
	if chunk == nil {
		chunk = new([chunkLen]slot)
		w.chunks[index/chunkLen] = chunk
	}
	return &chunk[index%chunkLen]
}

// double joins neighbours. It releases no memory, because the run continues.
func (w *Windows) double() {
	w.doublings++
	for index := 1; index < WindowsMax; index++ {
		if w.chunks[index/chunkLen] == nil {
			continue
		}
		if from := w.slot(index); *from != (slot{}) {
			w.join(w.slot(index/2), from)
			*from = slot{}
		}
	}
}

// join moves one window's figures to another.
func (w *Windows) join(to, from *slot) {
	to.Counts.add(&from.Counts)
	for i, id := range from.octaves {
		switch {
		case id == 0:
		case to.octaves[i] == 0:
			to.octaves[i] = id
		default:
			sum := w.page(to.octaves[i])
			for k, n := range w.page(id) {
				sum[k] = add(sum[k], n)
			}
			w.release(id)
		}
	}
}

// Wire writes the series as a message.
func (w *Windows) Wire() message.Windows {
	out := writer{shape: shape{doublings: w.doublings}, before: -1, data: make([]byte, 0, w.written+w.written/8)}
	for index := range WindowsMax {
		if w.chunks[index/chunkLen] == nil {
			continue
		}
		if from := w.slot(index); *from != (slot{}) {
			w.write(&out, index, from)
		}
	}
	w.written = len(out.data)
	return out.message()
}

// write writes a slot at its finest buckets.
func (w *Windows) write(out *writer, index int, from *slot) {
	var pages [windowOctaves]*page
	used := 0
	for octave, id := range from.octaves {
		if id == 0 {
			continue
		}
		pages[octave] = w.page(id)
		for _, n := range pages[octave] {
			if n > 0 {
				used++
			}
		}
	}
	out.begin(index, &from.Counts, used)
	before := -1
	for octave, p := range pages {
		if p == nil {
			continue
		}
		for k, n := range p {
			if n > 0 {
				at := octave<<fineBits | k
				out.data = short(short(out.data, uint64(at-before)), n)
				before = at
			}
		}
	}
}

// empty drops a window's figures. Its buckets stay as coarse as they are.
func (w *Window) empty(used *inUse) {
	w.Counts = Counts{}
	for i := used.next(0); i < LatencyBuckets; i = used.next(i + 1) {
		w.Latency[i] = 0
	}
}

// inUse has a bit for each used bucket of a window.
type inUse [LatencyBuckets / 64]uint64

func (b *inUse) set(i int)   { b[i/64] |= 1 << (i % 64) }
func (b *inUse) clear(i int) { b[i/64] &^= 1 << (i % 64) }

func (b *inUse) join(other *inUse) {
	for i, word := range other {
		b[i] |= word
	}
}

// next returns the first used bucket from i on, or LatencyBuckets.
func (b *inUse) next(i int) int {
	for word := i / 64; word < len(b); word++ {
		if rest := b[word] >> (i % 64) << (i % 64); rest != 0 {
			return word*64 + bits.TrailingZeros64(rest)
		}
		i = 0
	}
	return LatencyBuckets
}

func (b *inUse) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
