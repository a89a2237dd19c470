package http3

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// stream is one request and its response.
type stream struct {
	frames
	id        uint32
	tag       uint64
	collector *http1.Collector
	block     []byte // of a HEADERS frame that came in pieces
	length    int64  // the response's content-length, -1 if there is none
	received  int64
	in, out   uint64  // bytes of its frames; in without the body, out once all are written
	asked     uint64  // bytes of the request
	count     *uint64 // of requests written, until the library has this one
	status    uint16  // 0 until the final head came
	interim   uint8   // 1xx heads
	part      part
	noBody    bool // the request was HEAD, or the status has no body
	sending   bool // the library does not have the whole request
}

// part is how far a response has come.
type part uint8

const (
	silent  part = iota
	begun        // its handler knows that it comes
	trailed      // the trailers are here
)

// request takes bytes of a request stream.
func (c *Conn) request(s *stream, b []byte, on codec.Handler) *fault {
	id := s.id
	for len(b) > 0 || s.open && s.left == 0 {
		if !s.open {
			var whole bool
			if b, whole = s.head(b); !whole {
				return nil
			}
			s.in += uint64(s.size())
			if wrong := c.begins(s, on); wrong != nil {
				return wrong
			}
			if c.open[id] != s {
				return nil
			}
		}
		kind := s.kind
		piece, rest, last := s.take(b)
		b = rest
		var wrong *fault
		switch {
		case kind == typeData:
			c.body(s, piece, on)
		case kind == typeHeaders:
			s.in += uint64(len(piece))
			wrong = c.headers(s, piece, last, on)
		default:
			s.in += uint64(len(piece))
		}
		if wrong != nil {
			return wrong
		}
		if c.open[id] != s {
			return nil // the handler has given it up, or it has failed
		}
	}
	return nil
}

// begins judges the head of a frame.
func (c *Conn) begins(s *stream, on codec.Handler) *fault {
	switch {
	case s.kind == typeHeaders && s.left > http1.MaxHeadBytes:
		return faultBlockLarge
	case s.part == trailed && (s.kind == typeHeaders || s.kind == typeData):
		return faultAfter
	case s.kind == typeHeaders:
		s.block = s.block[:0]
	case s.kind == typeData && s.status == 0:
		return faultDataFirst
	case s.kind == typeData:
		if s.left == 0 {
			return c.nothing()
		}
		c.idle = 0
		if wrong := s.refuses(); wrong != nil {
			c.failStream(s, wrong, on)
		}
	case s.kind == typePushPromise:
		return faultPush
	case s.kind == typeSettings, s.kind == typeGoaway, s.kind == typeCancelPush, s.kind == typeMaxPushID, isHTTP2(s.kind):
		return faultUnexpected
	default:
		return c.nothing()
	}
	return nil
}

// refuses says why a stream cannot take the bytes of a DATA frame.
func (s *stream) refuses() *fault {
	switch {
	case s.noBody:
		return faultNoBody
	case s.length >= 0 && s.left > uint64(s.length-s.received):
		return faultLengthOver
	}
	return nil
}

// body takes a piece of the body, cut at the limit, however the bytes came.
func (c *Conn) body(s *stream, b []byte, on codec.Handler) {
	if len(b) == 0 {
		return
	}
	over := false
	if room := s.bodyLimit(c.common) - s.received; int64(len(b)) > room {
		b, over = b[:max(room, 0)], true
	}
	if s.collector != nil && !s.collector.HeadOnly {
		s.collector.AddBody(b)
	}
	s.received += int64(len(b))
	id, tag := s.id, s.tag
	if len(b) > 0 {
		on.Body(tag, b)
	}
	if over && c.open[id] == s {
		c.failStream(s, faultBodyLarge, on)
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

// headers takes a piece of a HEADERS frame.
func (c *Conn) headers(s *stream, b []byte, last bool, on codec.Handler) *fault {
	if !last || len(s.block) > 0 {
		s.block = append(s.block, b...)
		b = s.block
	}
	if !last {
		return nil
	}
	if s.part == silent {
		s.part = begun
		if s.collector = on.Begins(s.tag); s.collector != nil {
			s.collector.Reset()
		}
	}
	if wrong := c.decode(s, b); wrong != nil {
		return wrong
	}
	wrong := c.takes(s)
	switch {
	case wrong != nil:
		c.failStream(s, wrong, on)
	case s.part == trailed, s.status == 0:
	default:
		c.idle = 0
		on.Head(s.tag, int(s.status))
	}
	return nil
}

// decode decodes a block for a stream's head or trailers.
func (c *Conn) decode(s *stream, b []byte) *fault {
	var cookies *http1.Cookies
	if c.common != nil && s.status == 0 {
		cookies = &c.common.Cookies
		c.common.Reset()
	}
	collector := s.collector
	if s.status != 0 && collector != nil {
		if collector.Trailing {
			collector.BeginTrailers()
		} else {
			collector = nil
		}
	}
	c.head.Reset(s.status != 0, collector)
	err := c.decoder.decode(b, &c.head, collector != nil || s.status != 0, cookies)
	switch {
	case err == nil:
		return nil
	case err.Kind == http1.KindTooLarge:
		return &fault{CodeExcessiveLoad, err}
	}
	return &fault{CodeDecompression, err}
}

// takes takes a decoded block: an interim head, the final head, or trailers.
func (c *Conn) takes(s *stream) *fault {
	status, length := c.head.Status(), c.head.Length()
	bad := c.head.Bad()
	switch {
	case bad != nil:
		return &fault{CodeMessage, of3(bad)}
	case s.status != 0:
		s.part = trailed
		return nil
	case status == 0:
		return faultNoStatus
	case status < 200:
		return s.takesInterim(status)
	case length > s.bodyLimit(c.common) && !s.noBody:
		return faultBodyLarge
	}
	s.status, s.length = uint16(status), length
	if status == 204 || status == 304 {
		s.noBody = true
	}
	if s.noBody {
		s.length = -1
	} else if s.collector != nil && s.length > 0 {
		s.collector.ExpectBody(s.length)
	}
	return nil
}

func (s *stream) takesInterim(status int) *fault {
	s.interim++
	switch {
	case status == 101:
		return faultUpgrade
	case s.interim > http1.MaxInterim:
		return faultInterim
	}
	if s.collector != nil {
		s.collector.ResetHead()
	}
	return nil
}

// ends takes the end of a response.
func (c *Conn) ends(s *stream, on codec.Handler) *fault {
	switch {
	case !s.between():
		return faultFrame
	case s.status == 0 && s.interim > 0:
		c.failStream(s, faultInterimEnds, on)
		return nil
	case s.status == 0:
		c.failStream(s, faultNoStatus, on)
		return nil
	case s.length >= 0 && s.received != s.length:
		c.failStream(s, faultLengthUnder, on)
		return nil
	}
	if s.sending { // the server answers before it has the whole request: the rest will not come
		c.transport.Reset(streamOf(s.id), CodeNone)
	}
	tag := s.tag
	c.remove(s)
	on.Done(tag)
	return nil
}
