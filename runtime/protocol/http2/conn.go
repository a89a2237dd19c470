package http2

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Config is what we offer the server. Zero values are the defaults.
type Config struct {
	Streams int // open at once at most, 100 by default; the server may allow fewer
	// What the server may send unasked, in bytes: to a stream (16 MiB by default) and in all
	// (1 GiB). Bodies are counted as they come and not kept, so large windows cost nothing.
	StreamWindow, Window int
	Output               int // bytes queued at most before requests wait, 64 KiB by default
	// Common takes Set-Cookie fields as they arrive, those of one response before its Head, and
	// bounds bodies. Nil: neither is needed.
	Common *http1.Common
}

const (
	windowFirst = 1<<16 - 1 // every window's initial size
	windowMost  = 1<<31 - 1
	idleMost    = 10_000
	// unreadMost is what answers to PING and SETTINGS may queue beyond Config.Output.
	unreadMost = 256 << 10
	streamLast = 1<<31 - 1
)

func (c *Config) fill() {
	set := func(v *int, least, most, unset int) {
		if *v <= 0 {
			*v = unset
		}
		*v = min(max(*v, least), most)
	}
	set(&c.Streams, 1, 1<<20, 100)
	set(&c.StreamWindow, windowFirst, windowMost, 16<<20)
	set(&c.Window, windowFirst, windowMost, 1<<30)
	set(&c.Output, 1<<10, 16<<20, 64<<10)
}

// Protocol is HTTP/2 with at most Streams concurrent streams (see Config).
type Protocol struct{ Streams int }

var _ codec.Protocol = (*Protocol)(nil)

// Compile renders a request's frames.
func (p *Protocol) Compile(op *codec.Operation, from *http1.Call) { Render(op, from) }

// Begin returns a connection whose preface is queued.
func (p *Protocol) Begin(ended codec.Conn, common *http1.Common) codec.Conn {
	c, _ := ended.(*Conn)
	if c == nil {
		c = new(Conn)
	}
	c.Reset(Config{Streams: p.Streams, Common: common})
	return c
}

// Conn is the client's side of one connection. Call Reset before anything else.
type Conn struct {
	config   Config
	err      *http1.Error
	out      outbox
	in       intake
	block    headerBlock
	streams  streams
	flow     flow
	peer     settings
	farewell farewell
	// Of the stream that ended last.
	bytesIn, bytesOut uint64
}

var _ codec.Conn = (*Conn)(nil)

// Reset prepares for a new connection: it queues the preface and keeps only memory. It drops
// streams of the last connection without an event.
func (c *Conn) Reset(config Config) {
	config.fill()
	*c = Conn{
		config: config,
		out:    c.out.emptied(), in: c.in.emptied(), block: c.block.emptied(), streams: c.streams.emptied(),
		flow: c.flow.emptied(config.Window), peer: firstSettings,
	}
	c.out.preface(&config)
}

// Ready reports whether the server's SETTINGS have come.
func (c *Conn) Ready() bool { return c.peer.known }

// Count returns how many streams are open.
func (c *Conn) Count() int { return c.streams.count }

// Usable reports whether the connection may ever open a stream again.
func (c *Conn) Usable() bool {
	return c.err == nil && c.farewell.by == neither && c.streams.next <= streamLast
}

// CanOpen reports whether a stream may be opened now. Before the server's SETTINGS one
// may: how many more it takes is not known, and to guess would make it refuse some.
func (c *Conn) CanOpen() bool {
	most := min(uint32(c.config.Streams), c.peer.streams)
	if !c.peer.known {
		most = 1
	}
	return c.Usable() && uint32(c.streams.count) < most && c.out.left() < c.config.Output
}

// Open queues a request and returns its stream's number. sent does not count a request whose
// body is cut; nil: no count is needed.
func (c *Conn) Open(op *codec.Operation, tag uint64, sent *uint64) uint32 {
	if !c.CanOpen() {
		return 0
	}
	id := c.streams.next
	c.streams.next += 2
	// The encoder uses no dynamic table, and says so once in the first block; again when the
	// server has lowered its offer, as some insist on it (RFC 9113, 4.3.1).
	before := len(c.out.bytes)
	c.out.bytes = appendHead(c.out.bytes, op.Head, id, c.peer.lowered || id == 1)
	c.peer.lowered = false
	s := c.streams.add(id)
	s.tag, s.length, s.noBody, s.out = tag, -1, op.NoBody, uint64(len(c.out.bytes)-before)
	s.sendWindow, s.recvWindow = c.peer.window, int64(c.config.StreamWindow)
	if s.body, s.left = op, op.BodyLen(); op.Open {
		c.streams.leave(s)
	}
	c.flow.queueBody(s)
	s.end = c.out.queued()
	switch {
	case sent == nil:
	case s.left > 0:
		s.count = sent
	default:
		c.out.departs = append(c.out.departs, departure{s.end, sent})
	}
	return id
}

// Sending reports whether some of an open stream's request is not written yet.
func (c *Conn) Sending(stream uint32) bool {
	s := c.streams.find(stream)
	return s != nil && (s.left > 0 || s.end > c.out.gone)
}

// AppendTags appends the open streams with their tags, in no order.
func (c *Conn) AppendTags(dst []codec.Tagged) []codec.Tagged {
	for i := range c.streams.slots {
		if s := &c.streams.slots[i]; s.id != 0 {
			dst = append(dst, codec.Tagged{ID: s.id, Tag: s.tag})
		}
	}
	return dst
}

// Bytes are those of all frames of the stream that ended last, in and out: for Done, Failed
// and after Cancel.
func (c *Conn) Bytes() (in, out uint64) { return c.bytesIn, c.bytesOut }

// Cancel gives up a stream with RST_STREAM. False if it is over already.
func (c *Conn) Cancel(stream uint32) bool {
	s := c.streams.find(stream)
	if s == nil {
		return false
	}
	c.reset(s.id, CodeCancel)
	c.remove(s)
	return true
}

// Ping queues a PING.
func (c *Conn) Ping(payload uint64) {
	if c.err == nil {
		c.out.ping(payload)
	}
}

// Shutdown queues a GOAWAY and opens nothing more; open streams continue.
func (c *Conn) Shutdown() {
	if c.err == nil && c.farewell.by == neither {
		c.farewell = farewell{by: us, last: streamLast}
		c.out.goaway(CodeNone)
	}
}

// Output is what to write next, valid until the next call of another method. One buffer
// holds all streams' frames, so that a turn of the loop costs one write.
func (c *Conn) Output() []byte {
	if len(c.flow.due) > 0 && c.err == nil {
		c.flow.giveBack(&c.streams, &c.out)
	}
	if len(c.flow.bodies) > 0 {
		c.flow.pump(&c.streams, &c.out, c.config.Output, c.peer.frame)
	}
	return c.out.bytes[c.out.sent:]
}

// Sent says that the first n bytes of Output were written.
func (c *Conn) Sent(n int) { c.out.wrote(n) }

// Taken reports that the kernel has all bytes that Sent returned.
func (c *Conn) Taken() { c.out.taken() }

// Close reports the connection's end: err is the error of a read or write, nil or io.EOF an
// orderly end. Every open stream fails.
func (c *Conn) Close(err error, on codec.Handler) {
	if c.err == nil {
		c.err = errClosed
	}
	orderly := err == nil || http1.KindOf(err) == http1.KindClosed
	for s := c.streams.any(); s != nil; s = c.streams.any() {
		why := err
		if orderly {
			why = c.farewell.cuts(s)
		}
		tag := s.tag
		c.remove(s)
		on.Failed(tag, why)
	}
}

// fail ends the connection after the server's fault.
func (c *Conn) fail(wrong *fault, on codec.Handler) {
	c.err = wrong.err
	c.out.goaway(wrong.code)
	for s := c.streams.any(); s != nil; s = c.streams.any() {
		c.drop(s, wrong.err, on)
	}
}

// failStream ends one stream because of the server's fault, and informs the server if it could
// still be sending.
func (c *Conn) failStream(s *stream, wrong *fault, on codec.Handler) {
	c.reset(s.id, wrong.code)
	c.drop(s, wrong.err, on)
}

func (c *Conn) drop(s *stream, err *http1.Error, on codec.Handler) {
	tag := s.tag
	c.remove(s)
	on.Failed(tag, err)
}

// reset queues RST_STREAM; frames that were under way are then no fault.
func (c *Conn) reset(stream uint32, code Code) {
	c.streams.cancelled.add(stream)
	c.out.reset(stream, code)
}

// remove forgets a stream, whatever became of it.
func (c *Conn) remove(s *stream) {
	c.bytesIn, c.bytesOut = s.in, s.out
	c.flow.forget(s)
	c.streams.remove(s.id)
}

// finish ends a stream with a complete response. A server may answer before it has the whole
// request; then finish tells it that the rest will not come.
func (c *Conn) finish(s *stream, on codec.Handler) {
	if s.length >= 0 && s.received != s.length {
		c.failStream(s, faultLengthUnder, on)
		return
	}
	if s.left > 0 || c.streams.more(s).grows() {
		c.reset(s.id, CodeNone)
	}
	tag := s.tag
	c.remove(s)
	on.Done(tag)
}

// answered checks, after an answer to the server was queued, that it reads them at all.
func (c *Conn) answered() *fault {
	if c.out.left() > c.config.Output+unreadMost {
		return faultUnread
	}
	return c.in.nothing()
}
