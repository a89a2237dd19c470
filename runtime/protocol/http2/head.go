package http2

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// headerBlock is the header block that is being read, and what outlives it: the dynamic table.
type headerBlock struct {
	pieces  []byte // of a block that came in several frames
	stream  uint32 // whose; 0 outside a block
	flags   byte
	decoder decoder
	head    head
}

func (k *headerBlock) emptied() headerBlock {
	k.decoder.reset()
	return headerBlock{pieces: k.pieces[:0], decoder: k.decoder}
}

// add takes a CONTINUATION.
func (k *headerBlock) add(b []byte) *fault {
	if k.stream == 0 {
		return faultContinuation
	}
	if len(k.pieces)+len(b) > http1.MaxHeadBytes {
		return faultBlockLarge
	}
	k.pieces = append(k.pieces, b...)
	return nil
}

// decode decodes a whole block for a stream's head or trailers; nil: for no stream.
func (k *headerBlock) decode(b []byte, s *stream, common *http1.Common) *fault {
	k.decoder.cookies = nil
	if s == nil {
		k.head.reset(false, nil)
	} else {
		if common != nil && s.status == 0 {
			k.decoder.cookies = &common.Cookies
			common.Reset()
		}
		k.head.reset(s.status != 0, s.collector)
		switch {
		case s.status == 0 || s.collector == nil:
		case s.collector.Trailing:
			s.collector.BeginTrailers()
		default:
			k.head.collector = nil
		}
	}
	err := k.decoder.decode(b, &k.head)
	k.head.collector = nil
	switch {
	case err == nil:
		return nil
	case err.Kind == http1.KindTooLarge:
		return &fault{CodeEnhanceYourCalm, err}
	}
	return &fault{CodeCompression, err}
}

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

func (c *Conn) onHeaders(f frame, b []byte, on codec.Handler) *fault {
	if wrong := c.streams.opened(f.stream); wrong != nil {
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
	c.block.stream, c.block.flags = f.stream, f.flags
	c.block.pieces = append(c.block.pieces[:0], b...)
	return nil
}

func (c *Conn) onContinuation(f frame, b []byte, on codec.Handler) *fault {
	k := &c.block
	if wrong := k.add(b); wrong != nil {
		return wrong
	}
	if f.flags&flagEndHeaders == 0 {
		return c.in.nothing()
	}
	k.stream = 0
	wrong := c.onBlock(f.stream, k.flags, k.pieces, on)
	if cap(k.pieces) > frameMost {
		k.pieces = nil // a rare large head must not stay for the connection's life
	}
	return wrong
}

// onBlock takes a whole header block: an interim head, the final head, or trailers. It
// decodes those of streams that are over, too, since they change the dynamic table.
func (c *Conn) onBlock(id uint32, flags byte, b []byte, on codec.Handler) *fault {
	s := c.streams.find(id)
	if s != nil {
		s.in += uint64(frameHead + len(b))
		if !s.begun {
			s.begun = true
			if s.collector = on.Begins(s.tag); s.collector != nil {
				s.collector.Reset()
			}
		}
	}
	if wrong := c.block.decode(b, s, c.config.Common); wrong != nil {
		return wrong
	}
	switch {
	case s == nil && !c.streams.cancelled.has(id):
		return faultClosedStream
	case s == nil:
		return c.in.nothing()
	}
	ends := flags&flagEndStream != 0
	part, wrong := s.takes(&c.block.head, ends, s.bodyLimit(c.config.Common))
	switch {
	case wrong != nil:
		c.failStream(s, wrong, on)
	case part == trailers:
		c.finish(s, on)
	case part == finalHead:
		c.in.idle = 0
		on.Head(s.tag, int(s.status))
		if s = c.streams.find(id); ends && s != nil { // the handler may have cancelled it
			c.finish(s, on)
		}
	}
	return nil
}

// headPart is which part of a response a header block is.
type headPart uint8

const (
	interimHead headPart = iota
	finalHead
	trailers
)

// takes takes a header block, and says which part of the response it is.
func (s *stream) takes(h *head, ends bool, limit int64) (headPart, *fault) {
	switch {
	case h.bad != nil:
		return 0, &fault{CodeProtocol, h.bad}
	case s.status != 0 && !ends:
		return 0, faultSecondHead
	case s.status != 0:
		return trailers, nil
	case h.status == 0:
		return 0, faultNoStatus
	case h.status < 200:
		return interimHead, s.takesInterim(h, ends)
	case h.length > limit && !s.noBody:
		return 0, faultBodyLarge
	}
	s.status, s.length = uint16(h.status), h.length
	if h.status == 204 || h.status == 304 {
		s.noBody = true
	}
	if s.noBody {
		s.length = -1
	} else if s.collector != nil && s.length > 0 {
		s.collector.ExpectBody(s.length)
	}
	return finalHead, nil
}

func (s *stream) takesInterim(h *head, ends bool) *fault {
	s.interim++
	switch {
	case h.status == 101:
		return faultUpgrade
	case ends:
		return faultInterimEnds
	case s.interim > http1.MaxInterim:
		return faultInterim
	}
	if s.collector != nil {
		s.collector.ResetHead()
	}
	return nil
}
