package http3

import (
	"io"
	"maps"
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
)

// Transport is the connection of QUIC below. None of its methods waits.
type Transport interface {
	// Room reports whether the server takes another request stream now. If it does not, an event Room
	// follows once it does.
	Room() bool
	// Open opens a request stream, of which there was Room, and returns its number. Its end is this side's.
	Open(request []byte) (stream uint64, written bool)
	// Reset gives up a stream in both directions. No event of it follows.
	Reset(stream uint64, code Code)
	// Stop asks the server to send no more on a stream of its own.
	Stop(stream uint64, code Code)
}

// EventKind is what happened on the connection of QUIC.
type EventKind uint8

// The kinds of events.
const (
	Data    EventKind = iota // bytes of a stream
	Fin                      // bytes of a stream, and its end
	Reset                    // the server gave up its side of a stream
	Stopped                  // the server takes no more of a request
	Written                  // the library has taken the whole request
	Room                     // another stream may be opened
)

// Event is one. Its bytes are valid only during the call.
type Event struct {
	Kind   EventKind
	Stream uint64
	Code   uint64 // of Reset and Stopped
	Bytes  []byte
}

// Protocol is HTTP/3 with at most Streams concurrent requests on a connection, 100 by default; the server
// may allow fewer.
type Protocol struct{ Streams int }

var _ codec.Protocol = (*Protocol)(nil)

// Compile renders a request's frames.
func (p *Protocol) Compile(op *codec.Operation, from *http1.Call) { Render(op, from) }

// Begin returns a connection's state. Over gives it a transport.
func (p *Protocol) Begin(ended codec.Conn, common *http1.Common) codec.Conn {
	c, _ := ended.(*Conn)
	if c == nil {
		c = new(Conn)
	}
	most := p.Streams
	if most <= 0 {
		most = 100
	}
	*c = Conn{most: most, common: common, decoder: c.decoder, free: c.free, scratch: c.scratch[:0], open: map[uint32]*stream{}, goodbye: CodeNone, last: 1 << 62}
	return c
}

// Conn is the client's side of one connection. QUIC carries its bytes, so it has no Output and no Feed:
// requests go to its Transport, and Take has what came.
type Conn struct {
	most      int
	common    *http1.Common
	transport Transport
	err       *http1.Error
	goodbye   Code
	open      map[uint32]*stream
	free      []*stream
	decoder   decoder
	head      http2.Head
	scratch   []byte
	server    server // its streams of one direction
	last      uint64 // GOAWAY: streams from here on are not processed
	idle      int    // frames in a row that carry nothing
	// Of the stream that ended last.
	bytesIn, bytesOut uint64
}

var _ codec.Conn = (*Conn)(nil)

// Preface is what the client's control stream begins with: its type, and SETTINGS without a setting, as
// the default of a dynamic table is no room.
func Preface() []byte { return []byte{streamControl, typeSettings, 0} }

// Over gives the connection its transport.
func (c *Conn) Over(t Transport) { c.transport = t }

// Goodbye is the code with which the connection is to be closed.
func (c *Conn) Goodbye() Code { return c.goodbye }

func idOf(stream uint64) uint32    { return uint32(stream>>2) + 1 }
func streamOf(id uint32) uint64    { return uint64(id-1) << 2 }
func isRequest(stream uint64) bool { return stream&3 == 0 }

// CanOpen implements codec.Conn.
func (c *Conn) CanOpen() bool { return c.Usable() && len(c.open) < c.most && c.transport.Room() }

// Open implements codec.Conn.
func (c *Conn) Open(op *codec.Operation, tag uint64, sent *uint64) uint32 {
	if !c.CanOpen() {
		return 0
	}
	request := op.Head
	if n := op.BodyLen(); n > 0 {
		request = op.AppendBody(append(c.scratch[:0], op.Head...), 0, n)
		if c.scratch = request; cap(c.scratch) > scratchMost {
			c.scratch = nil
		}
	}
	number, written := c.transport.Open(request)
	s := c.take()
	*s = stream{id: idOf(number), tag: tag, length: -1, noBody: op.NoBody, asked: uint64(len(request)), block: s.block[:0]}
	if c.open[s.id] = s; !written {
		s.sending, s.count = true, sent
	} else {
		s.count = sent
		s.wrote()
	}
	return s.id
}

// scratchMost is the largest buffer of a request that a connection keeps, in bytes.
const scratchMost = 64 << 10

func (c *Conn) take() *stream {
	if n := len(c.free) - 1; n >= 0 {
		s := c.free[n]
		c.free = c.free[:n]
		return s
	}
	return new(stream)
}

// Output implements codec.Conn: QUIC carries the bytes.
func (c *Conn) Output() []byte { return nil }

// Sent implements codec.Conn.
func (c *Conn) Sent(int) {}

// Taken implements codec.Conn.
func (c *Conn) Taken() {}

// Feed implements codec.Conn: see Take.
func (c *Conn) Feed([]byte, codec.Handler) error { return nil }

// Ping implements codec.Conn: QUIC finds out by itself.
func (c *Conn) Ping(uint64) {}

// Sending implements codec.Conn.
func (c *Conn) Sending(id uint32) bool {
	s := c.open[id]
	return s != nil && s.sending
}

// Ready implements codec.Conn: the handshake has chosen HTTP/3.
func (c *Conn) Ready() bool { return true }

// Usable implements codec.Conn.
func (c *Conn) Usable() bool { return c.err == nil && c.last == 1<<62 && c.transport != nil }

// Count implements codec.Conn.
func (c *Conn) Count() int { return len(c.open) }

// AppendTags implements codec.Conn.
func (c *Conn) AppendTags(dst []codec.Tagged) []codec.Tagged {
	for id, s := range c.open {
		dst = append(dst, codec.Tagged{ID: id, Tag: s.tag})
	}
	return dst
}

// Bytes implements codec.Conn.
func (c *Conn) Bytes() (in, out uint64) { return c.bytesIn, c.bytesOut }

// Cancel implements codec.Conn.
func (c *Conn) Cancel(id uint32) bool {
	s := c.open[id]
	if s == nil {
		return false
	}
	c.transport.Reset(streamOf(id), CodeRequestCancelled)
	c.remove(s)
	return true
}

// Close implements codec.Conn.
func (c *Conn) Close(err error, on codec.Handler) {
	if c.err == nil {
		c.err = errClosed
	}
	orderly := err == nil || err == io.EOF
	for _, id := range c.ids() {
		s, why := c.open[id], err
		switch {
		case s == nil:
			continue // the handler has given it up
		case orderly && s.part != silent:
			why = errTruncated
		case orderly:
			why = errClosed
		}
		c.drop(s, why, on)
	}
}

// ids are those of the open streams, in their order.
func (c *Conn) ids() []uint32 { return slices.Sorted(maps.Keys(c.open)) }

// Take takes what happened. Its error is a breach of the protocol, which ends the connection with Goodbye.
func (c *Conn) Take(e Event, on codec.Handler) error {
	if c.err != nil {
		return c.err
	}
	if wrong := c.event(e, on); wrong != nil {
		c.err, c.goodbye = wrong.err, wrong.code
		return c.err
	}
	return nil
}

func (c *Conn) event(e Event, on codec.Handler) *fault {
	if e.Kind == Room {
		return nil
	}
	if !isRequest(e.Stream) {
		return c.ofServer(e, on)
	}
	s := c.open[idOf(e.Stream)]
	if s == nil {
		return nil // given up before
	}
	switch e.Kind {
	case Written:
		s.wrote()
	case Stopped:
		// The answer may have come before it. Without one the server has to reset its own side.
		s.sending, s.count = false, nil
		if Code(e.Code) != CodeNone {
			c.lose(s, resetBy(Code(e.Code)), on)
		}
	case Reset:
		if s.sending {
			c.lose(s, resetBy(Code(e.Code)), on)
		} else {
			c.drop(s, resetBy(Code(e.Code)), on)
		}
	case Data:
		return c.request(s, e.Bytes, on)
	case Fin:
		id := s.id
		if wrong := c.request(s, e.Bytes, on); wrong != nil {
			return wrong
		}
		if s = c.open[id]; s != nil {
			return c.ends(s, on)
		}
	}
	return nil
}

// wrote notes that the library has the whole request.
func (s *stream) wrote() {
	if s.count != nil {
		*s.count++
	}
	s.sending, s.count, s.out = false, nil, s.asked
}

// lose ends a stream whose other direction is open.
func (c *Conn) lose(s *stream, err *http1.Error, on codec.Handler) {
	c.transport.Reset(streamOf(s.id), CodeRequestCancelled)
	c.drop(s, err, on)
}

// failStream ends one stream because of the server's fault.
func (c *Conn) failStream(s *stream, wrong *fault, on codec.Handler) {
	c.transport.Reset(streamOf(s.id), wrong.code)
	c.drop(s, wrong.err, on)
}

func (c *Conn) drop(s *stream, err error, on codec.Handler) {
	tag := s.tag
	c.remove(s)
	on.Failed(tag, err)
}

func (c *Conn) remove(s *stream) {
	c.bytesIn, c.bytesOut = s.in, s.out
	delete(c.open, s.id)
	s.collector, s.count = nil, nil
	if cap(s.block) > memoMost {
		s.block = nil
	}
	c.free = append(c.free, s)
}

// nothing counts a frame that carries nothing.
func (c *Conn) nothing() *fault {
	if c.idle++; c.idle >= idleMost {
		return faultFlood
	}
	return nil
}

const idleMost = 10_000
