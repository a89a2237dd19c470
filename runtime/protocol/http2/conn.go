package http2

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/http1"
)

// Handler is told what a connection's bytes mean, in their order. Tags are those of Open.
// Bytes are valid only during the call. After Done or Failed a tag is not named again.
type Handler interface {
	// Begins tells that a response begins to come, and asks what keeps its head and body;
	// nil: nothing does.
	Begins(tag uint64) *http1.Collector
	Head(tag uint64, status int)    // the final status is known
	Body(tag uint64, b []byte)      // a piece of the body
	Done(tag uint64)                // the response is whole
	Failed(tag uint64, err error)   // it never will be; http1.KindOf tells why
	Pong(payload uint64)            // the answer to Ping
	GoingAway(code Code, in uint32) // GOAWAY: streams above in were never processed
}

// Config is what we offer the server. Zero values are the defaults.
type Config struct {
	Streams int // open at once at most, 100 by default; the server may allow fewer
	// What the server may send unasked, in bytes: to a stream (16 MiB by default) and in all
	// (1 GiB). Bodies are counted as they come and not kept, so large windows cost nothing.
	StreamWindow, Window int
	Output               int // bytes queued at most before requests wait, 64 KiB by default
	// Common takes Set-Cookie fields as they come, those of one response before its Head, and
	// bounds bodies. Nil: nobody wants either.
	Common *http1.Common
}

const (
	windowFirst = 1<<16 - 1 // every window's size before anybody changes it
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

// Conn is the client's side of one connection. Call Reset before anything else.
type Conn struct {
	config Config
	err    *http1.Error
	ready  bool // the server's SETTINGS came

	out     []byte
	sent    int         // of out
	gone    uint64      // bytes written in all
	departs []departure // by end
	// Of the stream that ended last.
	bytesIn, bytesOut uint64
	bodies            []uint32 // streams that have body left and window for it, in turn
	due               []uint32 // whose windows are to be given back, 0 is the connection

	carry       []byte // the beginning of a unit
	block       []byte // a header block in pieces
	blockStream uint32 // whose; 0 outside a block
	blockFlags  byte
	data        dataState
	idle        int // frames in a row that carried nothing
	decoder     decoder
	head        head

	streams    streams
	next       uint32 // the next stream's number
	goaway     Code   // of the server's last GOAWAY
	goawaySeen bool
	away       bool
	awayLast   uint32
	table      uint32 // the server's SETTINGS_HEADER_TABLE_SIZE
	update     bool   // the next header block must begin with a table size update
	sendWindow int64  // of the connection
	recvWindow int64
	credit     int64 // bytes taken since the connection's last WINDOW_UPDATE
	peer       peerSettings
	cancelled  resets
}

type peerSettings struct {
	streams uint32 // MAX_CONCURRENT_STREAMS
	window  int64  // INITIAL_WINDOW_SIZE
	frame   int    // MAX_FRAME_SIZE
}

// Reset prepares for a new connection: the preface is queued, nothing else is kept but
// memory. Streams of the last connection are forgotten without a word.
func (c *Conn) Reset(config Config) {
	config.fill()
	c.decoder.reset()
	c.streams.reset()
	*c = Conn{
		config: config,
		out:    c.out[:0], carry: c.carry[:0], block: c.block[:0], bodies: c.bodies[:0], due: c.due[:0], departs: c.departs[:0],
		decoder: c.decoder, streams: c.streams,
		next: 1, table: tableMost,
		sendWindow: windowFirst, recvWindow: int64(config.Window),
		peer: peerSettings{streams: 1<<32 - 1, window: windowFirst, frame: frameMost},
	}
	c.out = append(c.out, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"...)
	c.out = appendFrame(c.out, 4*6, typeSettings, 0, 0)
	c.out = appendSetting(c.out, settingPush, 0)
	c.out = appendSetting(c.out, settingStreams, 0) // the server may open none
	c.out = appendSetting(c.out, settingWindow, uint32(config.StreamWindow))
	c.out = appendSetting(c.out, settingHeadList, http1.MaxHeadBytes)
	if more := config.Window - windowFirst; more > 0 {
		c.window(0, more)
	}
}

// Ready reports whether the server's SETTINGS have come.
func (c *Conn) Ready() bool { return c.ready }

// Open streams now.
func (c *Conn) Streams() int { return c.streams.count }

// Usable reports whether the connection may ever open a stream again.
func (c *Conn) Usable() bool { return c.err == nil && !c.away && c.next <= streamLast }

// CanOpen reports whether a stream may be opened now. Before the server's SETTINGS one
// may: how many more it takes is not known, and to guess would make it refuse some.
func (c *Conn) CanOpen() bool {
	most := min(uint32(c.config.Streams), c.peer.streams)
	if !c.ready {
		most = 1
	}
	return c.Usable() && uint32(c.streams.count) < most && len(c.out)-c.sent < c.config.Output
}

// Open queues a request. It returns the stream's number, 0 if CanOpen is false. The call
// must not change until its stream is over.
func (c *Conn) Open(call *Call, tag uint64) uint32 {
	if !c.CanOpen() {
		return 0
	}
	id := c.next
	c.next += 2
	// The encoder uses no dynamic table, and says so once in the first block; again when the
	// server has lowered its offer, as some insist on it (RFC 9113, 4.3.1).
	before := len(c.out)
	c.out = call.appendTo(c.out, id, c.update || id == 1)
	c.update = false
	s := c.streams.add(id)
	s.tag, s.length, s.noBody, s.out = tag, -1, call.head, uint64(len(c.out)-before)
	s.sendWindow, s.recvWindow = c.peer.window, int64(c.config.StreamWindow)
	if s.body = call.Body; len(s.body) > 0 && s.sendWindow > 0 {
		s.queued = true
		c.bodies = append(c.bodies, id)
	}
	s.end = c.queued()
	return id
}

// queued is how many bytes were ever queued.
func (c *Conn) queued() uint64 { return c.gone + uint64(len(c.out)-c.sent) }

// Sending reports whether some of an open stream's request is not written yet.
func (c *Conn) Sending(stream uint32) bool {
	s := c.streams.find(stream)
	return s != nil && (len(s.body) > 0 || s.end > c.gone)
}

// Tagged is an open stream with its tag.
type Tagged struct {
	Stream uint32
	Tag    uint64
}

// AppendTags appends the open streams with their tags, in no order.
func (c *Conn) AppendTags(dst []Tagged) []Tagged {
	for i := range c.streams.slots {
		if s := &c.streams.slots[i]; s.id != 0 {
			dst = append(dst, Tagged{s.id, s.tag})
		}
	}
	return dst
}

// Bytes are those of all frames of the stream that ended last, in and out: for Done, Failed
// and after Cancel.
func (c *Conn) Bytes() (in, out uint64) { return c.bytesIn, c.bytesOut }

// Cancel gives up a stream; its handler is told nothing more. False if it is over already.
func (c *Conn) Cancel(stream uint32, code Code) bool {
	s := c.streams.find(stream)
	if s == nil {
		return false
	}
	c.reset(s.id, code)
	c.remove(s)
	return true
}

// Ping queues a PING; the handler's Pong gets the payload back.
func (c *Conn) Ping(payload uint64) {
	if c.err == nil {
		c.out = binary.BigEndian.AppendUint64(appendFrame(c.out, 8, typePing, 0, 0), payload)
	}
}

// Shutdown queues a GOAWAY and opens nothing more; what is open goes on.
func (c *Conn) Shutdown() {
	if c.err == nil && !c.away {
		c.away, c.awayLast = true, streamLast
		c.sendGoaway(CodeNone)
	}
}

// Output is what to write next, valid until the next call of another method. One buffer
// holds all streams' frames, so that a turn of the loop costs one write.
func (c *Conn) Output() []byte {
	if len(c.due) > 0 && c.err == nil {
		c.giveBack()
	}
	if len(c.bodies) > 0 {
		c.pump()
	}
	return c.out[c.sent:]
}

// Sent says that the first n bytes of Output were written.
func (c *Conn) Sent(n int) {
	c.gone += uint64(n)
	if c.sent += n; c.sent >= len(c.out) {
		c.out, c.sent = c.out[:0], 0
	} else if c.sent > len(c.out)/2 {
		c.out, c.sent = c.out[:copy(c.out, c.out[c.sent:])], 0
	}
}

// Close tells that the connection ended: err is what reading or writing returned, nil or
// io.EOF an orderly end. Every open stream fails.
func (c *Conn) Close(err error, on Handler) {
	if c.err == nil {
		c.err = errClosed
	}
	orderly := err == nil || http1.KindOf(err) == http1.KindClosed
	for s := c.streams.any(); s != nil; s = c.streams.any() {
		why := err
		switch {
		case orderly && s.status == 0 && s.interim == 0:
			why = errClosedBy.of(c.goaway)
			if c.goaway == CodeNone {
				why = errClosed
			}
		case orderly:
			why = errTruncatedBy.of(c.goaway)
			if c.goaway == CodeNone {
				why = errTruncated
			}
		}
		tag := s.tag
		c.remove(s)
		on.Failed(tag, why)
	}
}

// fail ends the connection for what the server did.
func (c *Conn) fail(wrong *fault, on Handler) {
	c.err = wrong.err
	c.sendGoaway(wrong.code)
	for s := c.streams.any(); s != nil; s = c.streams.any() {
		tag := s.tag
		c.remove(s)
		on.Failed(tag, wrong.err)
	}
}

// failStream ends one stream for what the server did; the server is told if it could
// still be sending.
func (c *Conn) failStream(s *stream, wrong *fault, on Handler) {
	c.reset(s.id, wrong.code)
	c.drop(s, wrong.err, on)
}

func (c *Conn) drop(s *stream, err *http1.Error, on Handler) {
	tag := s.tag
	c.remove(s)
	on.Failed(tag, err)
}

func (c *Conn) sendGoaway(code Code) {
	c.out = appendFrame(c.out, 8, typeGoaway, 0, 0)
	c.out = binary.BigEndian.AppendUint64(c.out, uint64(code)) // the last stream of the server's is 0
}

// reset queues RST_STREAM; frames that were under way are then no fault.
func (c *Conn) reset(stream uint32, code Code) {
	c.cancelled.add(stream)
	c.out = binary.BigEndian.AppendUint32(appendFrame(c.out, 4, typeReset, 0, stream), uint32(code))
}

func (c *Conn) window(stream uint32, more int) {
	c.out = binary.BigEndian.AppendUint32(appendFrame(c.out, 4, typeWindow, 0, stream), uint32(more))
}

// bodyLimit is the largest body that a stream may bring.
func (c *Conn) bodyLimit(s *stream) int64 {
	switch {
	case c.config.Common != nil && c.config.Common.BodyMax > 0:
		return c.config.Common.BodyMax
	case s.collector != nil:
		return s.collector.BodyLimit()
	}
	return http1.MaxBodyDiscarded
}

// answered checks, after an answer to the server was queued, that it reads them at all.
func (c *Conn) answered() *fault {
	if len(c.out)-c.sent > c.config.Output+unreadMost {
		return faultUnread
	}
	return nil
}
