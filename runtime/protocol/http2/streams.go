package http2

import (
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// stream is one request and its response.
type stream struct {
	tag        uint64
	body       *codec.Operation // whose body it sends
	gone, left int              // of the body: queued bytes, and the rest
	collector  *http1.Collector
	sendWindow int64 // may be negative (RFC 9113, 6.9.2)
	recvWindow int64
	length     int64 // the response's content-length, -1 if there is none
	received   int64
	in, out    uint64  // bytes of its frames
	end        uint64  // of the request, among all bytes queued
	count      *uint64 // of requests written, until the body is queued
	credit     int64   // bytes taken since the last WINDOW_UPDATE
	id         uint32  // 0: the slot is free
	status     uint16  // 0 until the final head came
	interim    uint8   // 1xx heads
	begun      bool    // its handler knows that the response comes
	noBody     bool    // the request was HEAD, or the status has no body
	queued     bool    // in flow.bodies
}

// streams finds open streams by number: slots that are reused, and an index that is a
// hash table with linear probing. Numbers grow by two, so halves of them hardly collide.
type streams struct {
	slots     []stream
	free      []int32
	index     []int32 // slot+1, 0 is empty; its length is a power of two
	count     int
	next      uint32 // the next stream's number
	cancelled resets
	growing   map[uint32]*openBody // the bodies of which more follows, by stream
}

func (t *streams) emptied() streams {
	clear(t.slots)
	clear(t.index)
	return streams{slots: t.slots[:0], free: t.free[:0], index: t.index, next: 1}
}

// opened refuses frames on streams that the client never opened.
func (t *streams) opened(id uint32) *fault {
	switch {
	case id == 0:
		return faultStreamZero
	case id&1 == 0 || id >= t.next:
		return faultIdle
	}
	return nil
}

// add takes a slot. The pointer is good until the next add.
func (t *streams) add(id uint32) *stream {
	if 2*(t.count+1) > len(t.index) {
		t.grow()
	}
	var slot int32
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
	} else {
		slot = int32(len(t.slots))
		t.slots = append(t.slots, stream{})
	}
	s := &t.slots[slot]
	s.id = id
	t.place(id, slot)
	t.count++
	return s
}

func (t *streams) mask() uint32 { return uint32(len(t.index) - 1) }

func (t *streams) place(id uint32, slot int32) {
	i := id >> 1 & t.mask()
	for t.index[i] != 0 {
		i = (i + 1) & t.mask()
	}
	t.index[i] = slot + 1
}

func (t *streams) grow() {
	t.index = make([]int32, max(8, 2*len(t.index)))
	for slot := range t.slots {
		if id := t.slots[slot].id; id != 0 {
			t.place(id, int32(slot))
		}
	}
}

// where returns the place of a stream in the index.
func (t *streams) where(id uint32) (uint32, bool) {
	if t.count == 0 {
		return 0, false
	}
	for i := id >> 1 & t.mask(); t.index[i] != 0; i = (i + 1) & t.mask() {
		if t.slots[t.index[i]-1].id == id {
			return i, true
		}
	}
	return 0, false
}

// find returns an open stream, nil if it is not open. The pointer is good until the next add.
func (t *streams) find(id uint32) *stream {
	if i, ok := t.where(id); ok {
		return &t.slots[t.index[i]-1]
	}
	return nil
}

// remove frees a stream's slot and closes the gap in the index.
func (t *streams) remove(id uint32) {
	hole, ok := t.where(id)
	if !ok {
		return
	}
	slot := t.index[hole] - 1
	for i := (hole + 1) & t.mask(); t.index[i] != 0; i = (i + 1) & t.mask() {
		home := t.slots[t.index[i]-1].id >> 1 & t.mask()
		if (i-home)&t.mask() >= (i-hole)&t.mask() {
			t.index[hole] = t.index[i]
			hole = i
		}
	}
	t.index[hole] = 0
	delete(t.growing, id)
	t.slots[slot] = stream{}
	t.free = append(t.free, slot)
	t.count--
}

// any returns an open stream, nil if there is none.
func (t *streams) any() *stream {
	if t.count == 0 {
		return nil
	}
	for i := range t.slots {
		if t.slots[i].id != 0 {
			return &t.slots[i]
		}
	}
	return nil
}

// resets remembers which streams we reset, since the server may have sent frames on them
// before it knew. Of the oldest it only knows the largest number, and forgives all below.
type resets struct {
	last     [32]uint32
	at       uint32
	forgiven uint32
}

func (r *resets) add(stream uint32) {
	place := &r.last[r.at%uint32(len(r.last))]
	r.forgiven = max(r.forgiven, *place)
	*place = stream
	r.at++
}

func (r *resets) has(stream uint32) bool {
	return stream <= r.forgiven || slices.Contains(r.last[:], stream)
}
