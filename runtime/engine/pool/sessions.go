package pool

import (
	"bytes"
	"errors"
	"io"

	"hyperscale/runtime/protocol/codec"
)

// Reader is what a session reads with, as a Talk or as a Tap: the connection waits while it is full.
type Reader interface {
	Full() bool // it takes no more now: until Wire.ReadOn
}

// Session is a Talk that goes on until its user ends it. It keeps its slot, and its connection
// carries nothing else.
type Session interface {
	Talk
	Reader
	Took()                 // the kernel has taken bytes
	Ponged(payload uint64) // the answer to a ping
	Ends()                 // the peer closes the connection, in order
	Greets(codec.Fields)   // the head of the answer that opens it, or does not
}

var (
	_ Reader = (Session)(nil)
	_ Talk   = (Session)(nil)
)

// session returns that of a slot; nil: it has none.
func (n *RequestSlot) session() Session {
	if n.Talk == nil {
		return nil
	}
	s, _ := n.Talk.(Session)
	return s
}

// full reports whether what the slot reads with takes no more now.
func (n *RequestSlot) full() bool {
	var r Reader
	switch {
	case n.Talk != nil:
		r, _ = n.Talk.(Reader)
	case n.Tap != nil:
		r, _ = n.Tap.(Reader)
	}
	return r != nil && r.Full()
}

// hold stops reading a connection whose slot takes no more, and reports whether it did. What the
// kernel has waits there, so that TCP slows the peer down. The end of the connection is read
// nevertheless: the kernel would report it over and over.
func (k *sockets) hold(at int32) bool {
	c := k.Conns.At(at)
	if c.slot < 0 || c.reading == readingHeld || k.Slots.At(c.slot).broke || !k.Slots.At(c.slot).full() && !c.crowded() {
		return false
	}
	c.reading = readingHeld
	k.rewatch(at)
	return true
}

// ReadOn reads a slot's connection again.
func (w *wire) ReadOn(index int32) {
	n := w.Slots.At(index)
	if n.Conn < 0 {
		return
	}
	c := w.Sockets.Conns.At(n.Conn)
	if c.reading != readingHeld || n.broke {
		return
	}
	c.reading = readingFirst
	if c.plain() {
		c.reading = readingUrgent // a session is read as long as there is data
	}
	w.Sockets.rewatch(n.Conn)
	w.Sockets.Unread = append(w.Sockets.Unread, ticket{n.Conn, c.Generation}) // crypto/tls may hold more
}

// Flush writes what the dialogue of a slot's session has queued.
func (w *wire) Flush(index int32) {
	if n := w.Slots.At(index); n.Conn >= 0 && !n.broke && w.Sockets.Conns.At(n.Conn).upgraded() {
		w.talks.flush(n.Conn)
	}
}

// bodies returns the connection of a slot whose body is open; nil: it has none.
func (w *wire) bodies(index int32) (codec.Bodies, *RequestSlot) {
	n := w.Slots.At(index)
	if n.Conn < 0 || n.broke || w.Sockets.Conns.At(n.Conn).multi == nil {
		return nil, n
	}
	of, _ := w.Sockets.Conns.At(n.Conn).multi.Conn.(codec.Bodies)
	return of, n
}

// Append sends more of an open body, and returns how many bytes of it wait: see codec.Bodies.
func (w *wire) Append(index int32, b []byte, count *uint64) (waiting int, taken bool) {
	of, n := w.bodies(index)
	if of == nil {
		return 0, false
	}
	if waiting, taken = of.Append(n.stream.id, b, count); taken && len(b) > 0 {
		w.streams.soil(n.Conn)
	}
	return waiting, taken
}

// End ends an open body.
func (w *wire) End(index int32) {
	if of, n := w.bodies(index); of != nil {
		of.End(n.stream.id)
		w.streams.soil(n.Conn)
	}
}

// Shared reports whether a slot's connection carries others, too.
func (w *wire) Shared(index int32) bool {
	n := w.Slots.At(index)
	return n.Conn >= 0 && w.Sockets.Conns.At(n.Conn).multi != nil
}

// ends tells a session that its connection ends in order: then its goodbye may need no answer.
func (y *talks) ends(c *conn, err error) {
	if s := y.Slots.At(c.slot).session(); s != nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		s.Ends()
	}
}

// Watcher sees each upgrade with its answer.
type Watcher interface {
	Upgraded(secure bool, asked []byte, status int, answer codec.Fields)
}

// Watch shows upgrades from now on.
func (w *wire) Watch(by Watcher) { w.talks.watcher = by }

// asks keeps what asks for the upgrade, if it is shown.
func (d *dialogue) asks(by Watcher) {
	if by != nil {
		d.asked = bytes.Clone(d.head)
	}
}

// show shows an upgrade that is answered, to its session and under --debug.
func (y *talks) show(c *conn, status int) {
	if s := y.Slots.At(c.slot).session(); s != nil {
		s.Greets(c.talk.answer)
	}
	if y.watcher != nil {
		y.watcher.Upgraded(c.host.Secure, c.talk.asked, status, c.talk.answer)
	}
}
