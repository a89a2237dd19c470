package http3

import "hyperscale/runtime/protocol/codec"

// Types of the server's streams of one direction.
const (
	streamControl = 0x0
	streamPush    = 0x1
	streamEncoder = 0x2
	streamDecoder = 0x3
	streamUntyped = 1 << 62
	streamIgnored = 1<<62 + 1
)

// server are the server's streams of one direction.
type server struct {
	streams map[uint64]*inbound
	has     [4]bool // by type
	known   bool    // SETTINGS came
}

// inbound is one of them.
type inbound struct {
	frames
	kind    uint64
	payload []byte // of a control frame
}

// controlMost bounds a frame of the control stream, in bytes.
const controlMost = 16 << 10

// ofServer takes an event of a stream that the server opened.
func (c *Conn) ofServer(e Event, on codec.Handler) *fault {
	if e.Stream&3 != 3 {
		return faultServerFirst
	}
	if c.server.streams == nil {
		c.server.streams = map[uint64]*inbound{}
	}
	s := c.server.streams[e.Stream]
	if s == nil {
		s = &inbound{kind: streamUntyped}
		c.server.streams[e.Stream] = s
	}
	if wrong := c.inbound(e.Stream, s, e.Bytes, on); wrong != nil {
		return wrong
	}
	if e.Kind == Fin || e.Kind == Reset {
		if s.kind <= streamDecoder {
			return faultCritical
		}
		delete(c.server.streams, e.Stream)
		if s.kind == streamUntyped {
			return c.nothing()
		}
	}
	return nil
}

func (c *Conn) inbound(stream uint64, s *inbound, b []byte, on codec.Handler) *fault {
	for s.kind == streamUntyped && len(b) > 0 {
		s.half[s.have] = b[0]
		s.have++
		b = b[1:]
		kind, size := varint(s.half[:s.have])
		if size == 0 {
			continue
		}
		s.have = 0
		switch {
		case kind == streamPush:
			return faultPush
		case kind > streamDecoder:
			s.kind = streamIgnored
			c.transport.Stop(stream, CodeStreamCreation)
			return c.nothing()
		case c.server.has[kind]:
			return faultSecond
		default:
			s.kind, c.server.has[kind] = kind, true
		}
	}
	switch s.kind {
	case streamControl:
		return c.control(s, b, on)
	case streamEncoder:
		for _, one := range b {
			if one != 0x20 { // a capacity of 0 is what it has
				return faultEncoder
			}
		}
	case streamDecoder:
		return s.decoded(b)
	}
	return nil
}

// decoded takes instructions of the server's decoder: it may say that it reads a stream no more.
func (s *inbound) decoded(b []byte) *fault {
	for _, one := range b {
		switch {
		case s.open: // a number that goes on
			s.open = one&0x80 != 0
		case one&0xc0 == 0x40:
			s.open = one&0x3f == 0x3f
		default:
			return faultDecoder
		}
	}
	return nil
}

// control takes bytes of the control stream.
func (c *Conn) control(s *inbound, b []byte, on codec.Handler) *fault {
	for len(b) > 0 || s.open && s.left == 0 {
		if !s.open {
			var whole bool
			if b, whole = s.head(b); !whole {
				return nil
			}
			if wrong := c.controls(s); wrong != nil {
				return wrong
			}
			s.payload = s.payload[:0]
		}
		kind := s.frames.kind
		piece, rest, last := s.take(b)
		b = rest
		if kind == typeSettings || kind == typeGoaway {
			s.payload = append(s.payload, piece...)
		}
		if !last {
			continue
		}
		var wrong *fault
		switch kind {
		case typeSettings:
			wrong = settings(s.payload)
		case typeGoaway:
			wrong = c.onGoaway(s.payload, on)
		}
		if wrong != nil {
			return wrong
		}
	}
	return nil
}

// controls judges the head of a frame of the control stream.
func (c *Conn) controls(s *inbound) *fault {
	kind := s.frames.kind
	switch {
	case !c.server.known && kind != typeSettings:
		return faultMissing
	case kind == typeSettings && c.server.known:
		return faultUnexpected
	case kind == typeSettings:
		c.server.known = true
	case kind == typeGoaway:
	case kind == typeCancelPush:
		return faultPush
	case kind == typeData, kind == typeHeaders, kind == typePushPromise, kind == typeMaxPushID, isHTTP2(kind):
		return faultUnexpected
	default:
		return c.nothing()
	}
	if s.left > controlMost {
		return faultLong
	}
	return nil
}

// settings checks the server's. None of them binds a client without a dynamic table.
func settings(b []byte) *fault {
	seen := map[uint64]bool{}
	for len(b) > 0 {
		name, size := varint(b)
		if size == 0 {
			return faultFrame
		}
		_, more := varint(b[size:])
		if more == 0 {
			return faultFrame
		}
		if name >= 2 && name <= 5 || seen[name] {
			return faultSettings
		}
		seen[name] = true
		b = b[size+more:]
	}
	return nil
}

// onGoaway takes the server's word that it processes no request from a stream on.
func (c *Conn) onGoaway(b []byte, on codec.Handler) *fault {
	last, size := varint(b)
	switch {
	case size == 0 || size != len(b):
		return faultFrame
	case !isRequest(last) || last > c.last:
		return faultGoaway
	}
	c.last = last
	for _, id := range c.ids() {
		if s := c.open[id]; s != nil && streamOf(id) >= last {
			c.lose(s, errGone, on)
		}
	}
	return nil
}
