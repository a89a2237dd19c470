package trunks

import (
	"errors"
	"io"
	"slices"

	"hyperscale/core/load/queue"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Carrier is what a trunk asks about its exchanges, by their tags.
type Carrier interface {
	// Say queues what an exchange says. Deaf: nothing answers it. After an error nothing of it is queued.
	Say(tag uint64, d codec.Dialogue) (deaf bool, err error)
	// Hear takes a message for an exchange, and reports whether that is all of its answer.
	Hear(tag uint64, kind codec.MessageKind, payload []byte) (enough bool)
}

// Trunk is a connection on which several exchanges are under way.
type Trunk struct {
	Dialogue codec.Trunk
	by       Carrier
	head     []byte            // of its greeting, as far as it is not written
	on       codec.Handler     // while bytes are processed
	places   []place           // by id-1
	free     []uint32          // ids
	homes    map[uint32]uint32 // ids by slot, where those keep them
	turn     uint32            // from which on an id is taken from another slot
	open     int
	gone     uint64 // bytes of the connection that were written
	leaving  queue.Queue[departure]
	waiting  []uint32               // exchanges of which nothing is queued
	silent   queue.Queue[departure] // exchanges that are over without an answer
	shut     bool                   // it opens no more
	fault    error                  // of the exchange that was opened last
	bytes    struct{ in, out uint64 }
}

// place is that of an exchange.
type place struct {
	tag  uint64
	slot uint32  // the low half of its tag
	sent *uint64 // counts it; nil: nothing does
	end  uint64  // of its bytes, counted from the connection's first one
	size uint64  // of them
	open bool
	held bool // nothing of it is queued
	deaf bool // nothing answers it
}

// departure is an exchange that counts as sent when the kernel has the bytes up to its end.
type departure struct {
	tag, end uint64
	id       uint32
	count    *uint64
}

var (
	_ codec.Conn     = (*Trunk)(nil)
	_ codec.Listener = (*Trunk)(nil)
)

// New returns a trunk over a dialogue that has begun. Head is what of its greeting is not written.
func New(d codec.Trunk, head []byte, by Carrier) *Trunk {
	return &Trunk{Dialogue: d, head: head, by: by}
}

// Open implements codec.Conn: the carrier has the operation. 0: nothing is queued, and Fault says why.
func (t *Trunk) Open(_ *codec.Operation, tag uint64, sent *uint64) (id uint32) {
	if !t.CanOpen() {
		return 0
	}
	id = t.pick(uint32(tag))
	t.Dialogue.Carry(id)
	deaf, err := t.by.Say(tag, t.Dialogue)
	if t.fault = err; err != nil {
		t.frees(id)
		return 0
	}
	t.places[id-1] = place{tag: tag, slot: uint32(tag), sent: sent, open: true, deaf: deaf, held: true}
	t.open++
	if !t.leaves(id) {
		t.waiting = append(t.waiting, id)
	}
	return id
}

// leaves notes an exchange as queued, if it is.
func (t *Trunk) leaves(id uint32) bool {
	size := t.Dialogue.Queued(id)
	if size == 0 {
		return false
	}
	p := &t.places[id-1]
	p.held, p.size, p.end = false, uint64(size), t.gone+uint64(t.Dialogue.Unsent())
	t.leaving.Push(departure{p.tag, p.end, id, p.sent})
	return true
}

// goOn notes the exchanges that waited, and were queued meanwhile.
func (t *Trunk) goOn() {
	t.waiting = slices.DeleteFunc(t.waiting, func(id uint32) bool {
		p := &t.places[id-1]
		return !p.open || !p.held || t.leaves(id)
	})
}

// Fault is why Open queued nothing.
func (t *Trunk) Fault() error { return t.fault }

// CanOpen implements codec.Conn.
func (t *Trunk) CanOpen() bool {
	room := t.Dialogue.Room()
	return t.Usable() && (room == 0 || t.open < room)
}

// Output implements codec.Conn.
func (t *Trunk) Output() []byte {
	if len(t.head) > 0 {
		return t.head
	}
	return t.Dialogue.Output()
}

// Sent implements codec.Conn.
func (t *Trunk) Sent(n int) {
	if len(t.head) > 0 {
		t.head = t.head[n:]
		return
	}
	t.gone += uint64(n)
	t.Dialogue.Sent(n)
}

// Taken implements codec.Conn.
func (t *Trunk) Taken() {
	for t.leaving.Len() > 0 && t.leaving.First().end <= t.gone {
		d := t.leaving.Pop()
		if d.count != nil {
			*d.count++
		}
		if p := &t.places[d.id-1]; p.open && p.tag == d.tag && p.deaf {
			t.silent.Push(d)
		}
	}
}

// Silent counts the exchanges that are over without an answer, and that Settle ends.
func (t *Trunk) Silent() int { return t.silent.Len() }

// Settle ends them.
func (t *Trunk) Settle(on codec.Handler) {
	for n := t.silent.Len(); n > 0; n-- {
		d := t.silent.Pop()
		if p := &t.places[d.id-1]; !p.open || p.tag != d.tag {
			continue // it was given up meanwhile
		}
		t.ends(d.id)
		on.Done(d.tag)
	}
}

// ends frees the place of an exchange, and keeps how many bytes it has had.
func (t *Trunk) ends(id uint32) {
	p := &t.places[id-1]
	t.bytes.in, t.bytes.out = 0, p.size-min(p.size, p.end-min(p.end, t.gone))
	p.open = false
	t.open--
	t.frees(id)
}

// pick returns the id for an exchange of a slot.
func (t *Trunk) pick(slot uint32) (id uint32) {
	keeps := t.Dialogue.Keeps()
	if id = t.homes[slot]; keeps && id > 0 && !t.places[id-1].open && t.places[id-1].slot == slot {
		return id
	}
	room := t.Dialogue.Room()
	if last := len(t.free) - 1; last >= 0 {
		id, t.free = t.free[last], t.free[:last]
	} else if room == 0 || len(t.places) < room {
		t.places = append(t.places, place{})
		id = uint32(len(t.places))
	} else {
		for t.turn = t.turn%uint32(room) + 1; t.places[t.turn-1].open; t.turn = t.turn%uint32(room) + 1 {
		}
		id = t.turn
	}
	if keeps {
		if t.homes == nil {
			t.homes = map[uint32]uint32{}
		}
		t.homes[slot] = id
		t.places[id-1].slot = slot
	}
	return id
}

// frees gives an id back, unless its slot keeps it.
func (t *Trunk) frees(id uint32) {
	if !t.Dialogue.Keeps() {
		t.free = append(t.free, id)
	}
}

// Holds reports that nothing of an open exchange is queued: the server takes none now, and owes it nothing.
func (t *Trunk) Holds(id uint32) bool {
	return id > 0 && int(id) <= len(t.places) && t.places[id-1].open && t.places[id-1].held
}

// Pauses reports that the server has said that it reads nothing for now.
func (t *Trunk) Pauses() bool {
	of, is := t.Dialogue.(codec.Pausing)
	return is && of.Pauses()
}

// Sending implements codec.Conn.
func (t *Trunk) Sending(id uint32) bool {
	return id > 0 && int(id) <= len(t.places) && t.places[id-1].open && t.places[id-1].end > t.gone
}

// Feed implements codec.Conn.
func (t *Trunk) Feed(b []byte, on codec.Handler) error {
	t.on = on
	err := t.Dialogue.Feed(b, t)
	if t.goOn(); err != nil {
		t.Close(err, on)
	}
	return err
}

// Message implements codec.Listener.
func (t *Trunk) Message(kind codec.MessageKind, payload []byte) {
	id, in := t.Dialogue.Answers()
	if id == 0 || int(id) > len(t.places) || !t.places[id-1].open {
		return
	}
	tag := t.places[id-1].tag
	if !t.by.Hear(tag, kind, payload) {
		return
	}
	t.ends(id)
	t.bytes.in = uint64(in)
	t.on.Done(tag)
}

// Pong implements codec.Listener: that something came is all that is asked.
func (t *Trunk) Pong(uint64) {}

// Leaves implements codec.Listener.
func (t *Trunk) Leaves(uint16, string) { t.shut = true }

// Cancel implements codec.Conn. What is queued goes out, and counts when it is written.
func (t *Trunk) Cancel(id uint32) bool {
	if id == 0 || int(id) > len(t.places) || !t.places[id-1].open {
		return false
	}
	t.ends(id)
	if !t.Dialogue.GiveUp(id) {
		t.shut = true
	}
	return true
}

// Ping implements codec.Conn.
func (t *Trunk) Ping(payload uint64) { t.Dialogue.Ping(payload) }

// errEnded: the server has closed the connection, and owes an answer.
var errEnded = &http1.Error{Kind: http1.KindClosed, Detail: "the server closed the connection before it answered"}

// Close implements codec.Conn.
func (t *Trunk) Close(err error, on codec.Handler) {
	t.shut = true
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF // a dialogue has a goodbye of its own
	}
	if over := t.Dialogue.End(err); over != nil {
		err = over
	} else if errors.Is(err, io.EOF) {
		err = errEnded
	}
	t.Settle(on)
	for i := range t.places {
		if p := &t.places[i]; p.open {
			t.ends(uint32(i + 1))
			on.Failed(p.tag, err)
		}
	}
}

// Ready implements codec.Conn: a trunk begins behind its greeting.
func (t *Trunk) Ready() bool { return true }

// Usable implements codec.Conn.
func (t *Trunk) Usable() bool { return !t.shut && !t.Dialogue.Over() }

// AppendTags implements codec.Conn.
func (t *Trunk) AppendTags(dst []codec.Tagged) []codec.Tagged {
	for i := range t.places {
		if p := &t.places[i]; p.open {
			dst = append(dst, codec.Tagged{ID: uint32(i + 1), Tag: p.tag})
		}
	}
	return dst
}

// Count implements codec.Conn.
func (t *Trunk) Count() int { return t.open }

// Bytes implements codec.Conn.
func (t *Trunk) Bytes() (in, out uint64) { return t.bytes.in, t.bytes.out }
