package sim

import (
	"math/bits"
	"time"

	"hyperscale/core/node"
)

// The wheel: a tick is 2^18 ns (262 us), so that a millisecond of traffic spreads over a few
// ticks; five levels of 256 slots reach nine years.
const (
	tickBits   = 18
	levelBits  = 8
	levels     = 5
	slots      = 1 << levelBits
	indexBits  = 24 // of the slab, in a near entry
	inNear     = 0xffff
	horizonMax = time.Duration(1)<<(tickBits+levelBits*levels-1) - 1
)

// event is one future event. It is in the slab of a queue, and linked into a slot of the wheel
// or entered in the heap of the current tick. It fills one cache line: the slab is most of what
// a large world reads.
type event struct {
	at         time.Duration
	sequence   uint64 // zero: free, or cancelled; a timer's generation
	message    node.Message
	word       uint64 // the digest of the message or of the timer's key, else an index
	next, prev uint32
	node       uint32
	from       uint32
	life       uint32 // the incarnation of the node, or of the sender, that this belongs to
	slot       uint16
	kind       eventKind
	side       uint8
}

// near is an event of the current tick: ordered by (at, sequence).
type near struct {
	at  time.Duration
	key uint64 // sequence, then index
}

func (a near) before(b near) bool { return a.at < b.at || a.at == b.at && a.key < b.key }

// queue holds events and returns them in the order of (at, sequence). It allocates nothing once
// the slab has grown, and cancels in constant time.
type queue struct {
	slab     []event // the first is never used: index zero ends a list
	free     []uint32
	sequence uint64
	tick     uint64 // all events up to this tick are in the heap
	heap     []near
	heads    [levels][slots]uint32
	used     [levels][slots / 64]uint64
	size     int
}

func newQueue() *queue { return &queue{slab: make([]event, 1, 1<<10)} }

// add reserves an event at a time not before the last popped one. The caller fills in the rest
// before the next call.
func (q *queue) add(at time.Duration, kind eventKind) (uint32, *event) {
	var i uint32
	if n := len(q.free); n > 0 {
		i = q.free[n-1]
		q.free = q.free[:n-1]
	} else {
		i = uint32(len(q.slab))
		if i>>indexBits != 0 {
			node.Bug("sim: %d events wait, above the bound of %d", i, 1<<indexBits)
		}
		q.slab = append(q.slab, event{})
	}
	if uint64(at) > uint64(horizonMax) {
		node.Bug("sim: an event at %v is beyond the horizon %v, or before the beginning", at, horizonMax)
	}
	q.sequence++
	e := &q.slab[i]
	e.at, e.kind, e.sequence = at, kind, q.sequence
	q.size++
	q.place(i, e)
	return i, e
}

// place enters an event in the heap if its tick has come. Otherwise it uses the slot of the
// lowest level whose upper digits it shares with the current tick.
func (q *queue) place(i uint32, e *event) {
	t := uint64(e.at) >> tickBits
	if t <= q.tick {
		e.slot = inNear
		q.push(near{e.at, e.sequence<<indexBits | uint64(i)})
		return
	}
	level := uint(bits.Len64(t^q.tick)-1) / levelBits
	slot := t >> (level * levelBits) & (slots - 1)
	head := &q.heads[level][slot]
	e.prev, e.next = 0, *head
	if *head != 0 {
		q.slab[*head].prev = i
	} else {
		q.used[level][slot/64] |= 1 << (slot % 64)
	}
	*head = i
	e.slot = uint16(level<<levelBits) | uint16(slot)
}

// cancel removes an event that was not popped.
func (q *queue) cancel(i uint32) {
	e := &q.slab[i]
	if e.slot != inNear {
		q.unlink(e)
	}
	q.release(i)
}

func (q *queue) unlink(e *event) {
	if e.next != 0 {
		q.slab[e.next].prev = e.prev
	}
	if e.prev != 0 {
		q.slab[e.prev].next = e.next
		return
	}
	level, slot := e.slot>>levelBits, e.slot&(slots-1)
	q.heads[level][slot] = e.next
	if e.next == 0 {
		q.used[level][slot/64] &^= 1 << (slot % 64)
	}
}

// release frees the place in the slab; a heap entry of it becomes stale.
func (q *queue) release(i uint32) {
	e := &q.slab[i]
	e.sequence = 0
	if e.message != nil {
		e.message = nil
	}
	q.free = append(q.free, i)
	q.size--
}

// pop returns the next event not after limit. Its place in the slab stays valid until release.
func (q *queue) pop(limit time.Duration) (uint32, *event) {
	for {
		for len(q.heap) > 0 {
			top := q.heap[0]
			if top.at > limit {
				return 0, nil
			}
			q.drop()
			i := uint32(top.key & (1<<indexBits - 1))
			if e := &q.slab[i]; e.sequence == top.key>>indexBits {
				return i, e
			}
		}
		if !q.advance(uint64(limit) >> tickBits) {
			return 0, nil
		}
	}
}

// advance moves to the next tick that has events, not beyond the given one. It spreads the
// slots of higher levels that it enters.
func (q *queue) advance(last uint64) bool {
	for level := range levels {
		shift := level * levelBits
		slot, ok := q.after(level, uint(q.tick>>shift&(slots-1)))
		if !ok {
			continue
		}
		tick := q.tick>>(shift+levelBits)<<(shift+levelBits) | uint64(slot)<<shift
		if tick > last {
			return false
		}
		q.tick = tick
		i := q.heads[level][slot]
		q.heads[level][slot] = 0
		q.used[level][slot/64] &^= 1 << (slot % 64)
		for i != 0 {
			e := &q.slab[i]
			next := e.next
			q.place(i, e)
			i = next
		}
		return true
	}
	return false
}

// after returns the first used slot of a level that is above the present one.
func (q *queue) after(level int, slot uint) (uint, bool) {
	for slot++; slot < slots; slot = (slot | 63) + 1 {
		if word := q.used[level][slot/64] >> (slot % 64); word != 0 {
			return slot + uint(bits.TrailingZeros64(word)), true
		}
	}
	return 0, false
}

func (q *queue) push(n near) {
	q.heap = append(q.heap, n)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !n.before(h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = n
}

// drop removes the least entry of the heap.
func (q *queue) drop() {
	last := len(q.heap) - 1
	n := q.heap[last]
	q.heap = q.heap[:last]
	h := q.heap
	if last == 0 {
		return
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(n) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = n
}

// shelf keeps values outside the queue until their events are due: few events have one.
type shelf[T any] struct {
	all  []T
	idle []uint32 // free places
}

// keep stores a value and returns its place.
func (s *shelf[T]) keep(v T) uint64 {
	if n := len(s.idle); n > 0 {
		i := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.all[i] = v
		return uint64(i)
	}
	s.all = append(s.all, v)
	return uint64(len(s.all) - 1)
}

// take returns the value of a place and frees the place.
func (s *shelf[T]) take(i uint64) T {
	var none T
	v := s.all[i]
	s.all[i] = none
	s.idle = append(s.idle, uint32(i))
	return v
}
