package datagram

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// SizeMax bounds a datagram: what IPv4 carries behind its own head and UDP's.
const SizeMax = 65507

// Match says which bytes of an answer repeat the question. Without a Count every datagram answers.
type Match struct {
	Count  int
	At     int // in the answer
	SentAt int // in the question
}

// Want is what an exchange asks for.
type Want struct {
	Answers int // datagrams; 0: sending is all
	Match   Match
}

// Counts are the datagrams that answer no exchange, and those that are missing.
type Counts struct {
	Lost    uint64 // asked for, and not there when the exchange gave up
	Late    uint64 // that came behind that
	Stray   uint64 // that no exchange asked for: doubled, of another question, or without one
	Refused uint64 // reports that the port is unreachable, which ended no exchange
	Dropped uint64 // by the kernel: the socket's buffer was full, or a checksum was wrong
}

// Conn is the client's side of one socket.
type Conn struct {
	match  Match
	wants  int    // answers that have not come
	key    []byte // what an answer repeats
	late   bool   // the exchange has given up
	limit  int    // of an answer
	counts *Counts

	out     []byte // a datagram that the kernel has not taken
	sent    *uint64
	dropped uint32 // that Dropped has counted
}

var _ codec.Dialogue = (*Conn)(nil)

// New returns the state of a new socket. Limit bounds an answer in bytes; 0: http1.BodyLimitDefault.
func New(limit int64) *Conn {
	if limit <= 0 {
		limit = http1.BodyLimitDefault
	}
	return &Conn{limit: int(min(limit, 1<<30)), counts: new(Counts)}
}

// Expect says what the next exchange asks for, and where to count from now on.
func (c *Conn) Expect(w Want, counts *Counts) {
	c.wants, c.match, c.counts, c.late = w.Answers, w.Match, counts, false
	c.key = c.key[:0]
}

// Send implements codec.Dialogue: the payload is the datagram.
func (c *Conn) Send(_ codec.MessageKind, payload []byte, sent *uint64) error {
	m := c.match
	switch n := len(payload); {
	case n == 0:
		return wrong("the datagram is empty: send 1 to %d bytes", SizeMax)
	case n > SizeMax:
		return TooLong(n)
	case m.SentAt+m.Count > n:
		return wrong("the datagram has %d bytes, and the answer repeats those up to %d: send more, or match fewer", n, m.SentAt+m.Count)
	}
	c.key = append(c.key[:0], payload[m.SentAt:m.SentAt+m.Count]...)
	c.out, c.sent = append(c.out[:0], payload...), sent
	return nil
}

func wrong(format string, args ...any) error {
	return &http1.Error{Kind: http1.KindValue, Detail: fmt.Sprintf(format, args...)}
}

// TooLong is the error of a datagram that UDP, or the way to the server, does not carry.
func TooLong(n int) error {
	return wrong("the datagram has %d bytes, more than can be sent (UDP carries at most %d): send less, or use tcp.exchange", n, SizeMax)
}

// Ping implements codec.Dialogue: nothing answers.
func (c *Conn) Ping(uint64) {}

// Leave implements codec.Dialogue: UDP has no goodbye.
func (c *Conn) Leave(uint16, string) {}

// Output implements codec.Dialogue: all of it is one datagram.
func (c *Conn) Output() []byte { return c.out }

// Sent implements codec.Dialogue: the kernel takes a datagram whole, or not at all.
func (c *Conn) Sent(n int) {
	if n == 0 || n < len(c.out) {
		return
	}
	if c.out = c.out[:0]; cap(c.out) > keptMost {
		c.out = nil
	}
	if c.sent != nil {
		*c.sent++
		c.sent = nil
	}
}

// keptMost is what an idle socket keeps of its buffer.
const keptMost = 4 << 10

// Unsent implements codec.Dialogue.
func (c *Conn) Unsent() int { return len(c.out) }

// Feed takes one datagram.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	switch {
	case !c.answers(b):
		c.counts.Stray++
		return nil
	case c.late:
		c.counts.Late++
		return nil
	case c.wants == 0:
		c.counts.Stray++
		return nil
	case len(b) > c.limit:
		return &http1.Error{Kind: http1.KindTooLarge, Detail: fmt.Sprintf("the answer has %d bytes, the limit is %d: raise max_body of http.client", len(b), c.limit)}
	}
	c.wants--
	on.Message(codec.MessageBinary, b)
	return nil
}

// answers reports whether a datagram repeats what it must of the question.
func (c *Conn) answers(b []byte) bool {
	m := c.match
	return m.Count == 0 || len(b) >= m.At+m.Count && bytes.Equal(b[m.At:m.At+m.Count], c.key)
}

// GiveUp ends an exchange whose time is over: what still comes for it is late.
func (c *Conn) GiveUp() {
	c.counts.Lost += uint64(c.wants)
	c.wants, c.late = 0, true
}

// Abandon ends an exchange that is not over: what still comes for it is late, and nothing was lost.
func (c *Conn) Abandon() {
	c.late = c.late || c.wants > 0
	c.wants = 0
}

// Refused counts a report that the port is unreachable, which ends no exchange.
func (c *Conn) Refused() { c.counts.Refused++ }

// Dropped counts what the kernel has dropped on this socket so far, all together.
func (c *Conn) Dropped(all uint32) {
	c.counts.Dropped += uint64(all - c.dropped) // the kernel's count wraps around
	c.dropped = all
}

// End implements codec.Dialogue.
func (c *Conn) End(err error) error {
	if errors.Is(err, io.EOF) {
		return nil // no datagram says that the peer has gone
	}
	return err
}

// Rest implements codec.Dialogue: each datagram is content.
func (c *Conn) Rest() {}

// Release implements codec.Dialogue.
func (c *Conn) Release() { c.out, c.key, c.sent = nil, nil, nil }

// Over implements codec.Dialogue: only an error ends a socket.
func (c *Conn) Over() bool { return false }
