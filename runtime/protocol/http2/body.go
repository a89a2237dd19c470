package http2

import (
	"slices"

	"hyperscale/runtime/protocol/codec"
)

// openBody is a request's body of which more follows.
type openBody struct {
	bytes []byte // that are not queued
	marks []mark // pieces that are not, in their order
	ended bool   // nothing follows
}

// mark is where a piece ends among all bytes of the body, and what counts it.
type mark struct {
	end   int
	count *uint64
}

var _ codec.Bodies = (*Conn)(nil)

// leave opens a stream's body, which is empty.
func (t *streams) leave(s *stream) {
	if t.growing == nil {
		t.growing = map[uint32]*openBody{}
	}
	t.growing[s.id], s.left = new(openBody), 0
}

// more returns the body of which more may follow; nil: the operation has all of it.
func (t *streams) more(s *stream) *openBody {
	if s.body == nil || !s.body.Open {
		return nil
	}
	return t.growing[s.id]
}

// Append implements codec.Bodies.
func (c *Conn) Append(stream uint32, b []byte, count *uint64) (waiting int, taken bool) {
	s := c.streams.find(stream)
	if s == nil || c.err != nil {
		return 0, false
	}
	m := c.streams.more(s)
	if !m.grows() {
		return 0, false
	}
	if len(b) > 0 {
		m.bytes = append(m.bytes, b...)
		s.left += len(b)
		m.marks = append(m.marks, mark{s.gone + s.left, count})
		c.flow.queueBody(s)
	}
	return s.left, true
}

// End implements codec.Bodies.
func (c *Conn) End(stream uint32) {
	s := c.streams.find(stream)
	if s == nil || c.err != nil {
		return
	}
	m := c.streams.more(s)
	if !m.grows() {
		return
	}
	if m.ended = true; s.left == 0 {
		c.out.bytes = appendFrame(c.out.bytes, 0, typeData, flagEndStream, s.id)
		s.end, s.out = c.out.queued(), s.out+frameHead
	}
}

// grows reports whether more may follow what is left; nil has none.
func (m *openBody) grows() bool { return m != nil && !m.ended }

// appendBody appends the next n bytes of a stream's body.
func appendBody(dst []byte, s *stream, m *openBody, n int) []byte {
	if m == nil {
		return s.body.AppendBody(dst, s.gone, n)
	}
	dst = append(dst, m.bytes[:n]...)
	if m.bytes = m.bytes[n:]; len(m.bytes) == 0 {
		m.bytes = nil
	}
	return dst
}

// pass notes which pieces are queued.
func (m *openBody) pass(s *stream, out *outbox) {
	if m == nil {
		return
	}
	n := 0
	for n < len(m.marks) && m.marks[n].end <= s.gone {
		if count := m.marks[n].count; count != nil {
			out.departs = append(out.departs, departure{s.end, count})
		}
		n++
	}
	m.marks = slices.Delete(m.marks, 0, n)
}
