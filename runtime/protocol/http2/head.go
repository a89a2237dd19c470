package http2

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/http1"
)

// unpad cuts the padding off a payload (RFC 9113, 6.1).
func unpad(f frame, b []byte) ([]byte, *fault) {
	if f.flags&flagPadded == 0 {
		return b, nil
	}
	if len(b) == 0 {
		return nil, faultFrameSize
	}
	pad := int(b[0])
	if b = b[1:]; pad > len(b) {
		return nil, faultPadding
	}
	return b[:len(b)-pad], nil
}

// opened refuses frames on streams that the client never opened.
func (c *Conn) opened(f frame) *fault {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case f.stream&1 == 0 || f.stream >= c.next:
		return faultIdle
	}
	return nil
}

func (c *Conn) onHeaders(f frame, b []byte, on Handler) *fault {
	if wrong := c.opened(f); wrong != nil {
		return wrong
	}
	b, wrong := unpad(f, b)
	if wrong != nil {
		return wrong
	}
	if f.flags&flagPriority != 0 {
		if len(b) < 5 {
			return faultFrameSize
		}
		b = b[5:]
	}
	if f.flags&flagEndHeaders != 0 {
		return c.onBlock(f.stream, f.flags, b, on)
	}
	c.blockStream, c.blockFlags = f.stream, f.flags
	c.block = append(c.block[:0], b...)
	return nil
}

func (c *Conn) onContinuation(f frame, b []byte, on Handler) *fault {
	if c.blockStream == 0 {
		return faultContinuation
	}
	if len(c.block)+len(b) > http1.MaxHeadBytes {
		return faultBlockLarge
	}
	c.block = append(c.block, b...)
	if f.flags&flagEndHeaders == 0 {
		return c.nothing()
	}
	c.blockStream = 0
	wrong := c.onBlock(f.stream, c.blockFlags, c.block, on)
	if cap(c.block) > frameMost {
		c.block = nil // a rare large head must not stay for the connection's life
	}
	return wrong
}

// onBlock takes a whole header block: an interim head, the final head, or trailers. It
// decodes those of streams that are over, too, since they change the dynamic table.
func (c *Conn) onBlock(id uint32, flags byte, block []byte, on Handler) *fault {
	s := c.streams.find(id)
	c.decoder.cookies = nil
	if s == nil {
		c.head.reset(false, nil)
	} else {
		if common := c.config.Common; common != nil && s.status == 0 {
			c.decoder.cookies = &common.Cookies
			common.Reset()
		}
		s.in += uint64(frameHead + len(block))
		if !s.begun {
			s.begun = true
			if s.collector = on.Begins(s.tag); s.collector != nil {
				s.collector.Reset()
			}
		}
		c.head.reset(s.status != 0, s.collector)
		if s.status != 0 {
			c.head.collector = nil
		}
	}
	if err := c.decoder.decode(block, &c.head); err != nil {
		c.head.collector = nil
		if err.Kind == http1.KindTooLarge {
			return &fault{CodeEnhanceYourCalm, err}
		}
		return &fault{CodeCompression, err}
	}
	c.head.collector = nil
	ends := flags&flagEndStream != 0
	switch {
	case s == nil && !c.cancelled.has(id):
		return faultClosedStream
	case s == nil:
		return c.nothing()
	case s.status != 0:
		c.onTrailers(s, ends, on)
	default:
		return c.onHead(s, ends, on)
	}
	return nil
}

func (c *Conn) onTrailers(s *stream, ends bool, on Handler) {
	switch {
	case c.head.bad != nil:
		c.failStream(s, &fault{CodeProtocol, c.head.bad}, on)
	case !ends:
		c.failStream(s, faultSecondHead, on)
	default:
		c.finish(s, on)
	}
}

func (c *Conn) onHead(s *stream, ends bool, on Handler) *fault {
	h := &c.head
	switch {
	case h.bad != nil:
		c.failStream(s, &fault{CodeProtocol, h.bad}, on)
		return nil
	case h.status == 0:
		c.failStream(s, faultNoStatus, on)
		return nil
	case h.status < 200:
		c.onInterim(s, ends, on)
		return nil
	case h.length > c.bodyLimit(s) && !s.noBody:
		c.failStream(s, faultBodyLarge, on)
		return nil
	}
	c.idle = 0
	s.status, s.length = uint16(h.status), h.length
	if h.status == 204 || h.status == 304 {
		s.noBody = true
	}
	if s.noBody {
		s.length = -1
	} else if s.collector != nil && s.length > 0 {
		s.collector.ExpectBody(s.length)
	}
	id := s.id
	on.Head(s.tag, h.status)
	if ends {
		if s = c.streams.find(id); s != nil { // the handler may have cancelled it
			c.finish(s, on)
		}
	}
	return nil
}

func (c *Conn) onInterim(s *stream, ends bool, on Handler) {
	s.interim++
	switch {
	case c.head.status == 101:
		c.failStream(s, faultUpgrade, on)
	case ends:
		c.failStream(s, faultInterimEnds, on)
	case s.interim > http1.MaxInterim:
		c.failStream(s, faultInterim, on)
	default:
		if s.collector != nil {
			s.collector.ResetHead()
		}
	}
}

// finish ends a stream whose response is whole. A server may answer before it has the
// whole request; it is then told that the rest will not come.
func (c *Conn) finish(s *stream, on Handler) {
	if s.length >= 0 && s.received != s.length {
		c.failStream(s, faultLengthUnder, on)
		return
	}
	if len(s.body) > 0 {
		c.reset(s.id, CodeNone)
	}
	tag := s.tag
	c.remove(s)
	on.Done(tag)
}

func (c *Conn) onReset(f frame, b []byte, on Handler) *fault {
	if wrong := c.opened(f); wrong != nil {
		return wrong
	}
	if len(b) != 4 {
		return faultFrameSize
	}
	s := c.streams.find(f.stream)
	if s == nil {
		return c.nothing()
	}
	code := Code(binary.BigEndian.Uint32(b))
	if code == CodeRefusedStream && s.status == 0 {
		c.drop(s, errRefused, on)
	} else {
		c.drop(s, errReset.of(code), on)
	}
	return nil
}
