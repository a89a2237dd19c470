package http2

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// dataState is the DATA frame whose payload is being read.
type dataState struct {
	left   int // of the payload, padding included; 0 outside a frame
	pad    int
	length int // of the whole payload, as flow control counts it
	stream uint32
	ends   bool
}

// onData takes the head of a DATA frame and the length of its padding.
func (c *Conn) onData(f frame, b []byte, on codec.Handler) *fault {
	if wrong := c.streams.opened(f.stream); wrong != nil {
		return wrong
	}
	pad := 0
	if f.flags&flagPadded != 0 {
		if len(b) == 0 {
			return faultFrameSize
		}
		if pad = int(b[0]); pad > f.length-1 {
			return faultPadding
		}
	}
	if c.flow.recv -= int64(f.length); c.flow.recv < 0 {
		return faultOverWindow
	}
	body := f.length - len(b) - pad
	c.in.data = dataState{
		left: f.length - len(b), pad: pad, length: f.length,
		stream: f.stream, ends: f.flags&flagEndStream != 0,
	}
	s := c.streams.find(f.stream)
	if s == nil && !c.streams.cancelled.has(f.stream) {
		return faultClosedStream
	}
	if s == nil || body == 0 && !c.in.data.ends {
		if wrong := c.in.nothing(); wrong != nil {
			return wrong
		}
	} else {
		c.in.idle = 0
	}
	if s != nil {
		s.in += uint64(frameHead + f.length - body)
		if s.recvWindow -= int64(f.length); s.recvWindow < 0 {
			c.failStream(s, faultStreamOver, on)
		} else if wrong := s.refuses(body); wrong != nil {
			c.failStream(s, wrong, on)
		}
	}
	if c.in.data.left == 0 {
		c.dataEnd(on)
	}
	return nil
}

// refuses says why a stream cannot take so many more bytes of body.
func (s *stream) refuses(body int) *fault {
	switch {
	case s.status == 0:
		return faultDataFirst
	case s.noBody && body > 0:
		return faultNoBody
	case s.length >= 0 && s.received+int64(body) > s.length:
		return faultLengthOver
	}
	return nil
}

// dataPiece takes the next bytes of the frame's payload.
func (c *Conn) dataPiece(b []byte, on codec.Handler) {
	body := min(len(b), c.in.data.left-c.in.data.pad)
	c.in.data.left -= len(b)
	if body > 0 {
		if s := c.streams.find(c.in.data.stream); s != nil {
			c.bodyPiece(s, b[:body], on)
		}
	}
	if c.in.data.left == 0 {
		c.dataEnd(on)
	}
}

func (c *Conn) bodyPiece(s *stream, b []byte, on codec.Handler) {
	over := false
	if room := s.bodyLimit(c.config.Common) - s.received; int64(len(b)) > room {
		b, over = b[:room], true // cut at the limit, however the bytes came
	}
	if s.collector != nil {
		s.collector.AddBody(b)
	}
	id := s.id
	s.received += int64(len(b))
	if len(b) > 0 {
		on.Body(s.tag, b)
	}
	if over {
		if s = c.streams.find(id); s != nil {
			c.failStream(s, faultBodyLarge, on)
		}
	}
}

// dataEnd records the credit owed to the server for the frame, and ends the response if the
// frame did.
func (c *Conn) dataEnd(on codec.Handler) {
	c.flow.taken(c.in.data.length)
	s := c.streams.find(c.in.data.stream)
	switch {
	case s == nil:
	case c.in.data.ends:
		c.finish(s, on)
	default:
		c.flow.takenBy(s, c.in.data.length, c.config.StreamWindow)
	}
}

// bodyLimit is the largest body that a stream may bring.
func (s *stream) bodyLimit(common *http1.Common) int64 {
	switch {
	case common != nil && common.BodyMax > 0:
		return common.BodyMax
	case s.collector != nil:
		return s.collector.BodyLimit()
	}
	return http1.MaxBodyDiscarded
}
