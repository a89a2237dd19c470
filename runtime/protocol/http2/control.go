package http2

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/codec"
)

func (c *Conn) onWindow(f frame, b []byte, on codec.Handler) *fault {
	if len(b) != 4 {
		return faultFrameSize
	}
	by := int64(binary.BigEndian.Uint32(b) &^ (1 << 31))
	if f.stream == 0 {
		if by == 0 {
			return faultWindowZero
		}
		if c.flow.send += by; c.flow.send > windowMost {
			return faultWindowLarge
		}
		return nil
	}
	if wrong := c.streams.opened(f.stream); wrong != nil {
		return wrong
	}
	s := c.streams.find(f.stream)
	if s == nil {
		return c.in.nothing() // it was under way when the stream ended
	}
	switch {
	case by == 0:
		c.failStream(s, faultStreamZeroUp, on)
	case s.sendWindow+by > windowMost:
		c.failStream(s, faultStreamLarge, on)
	default:
		s.sendWindow += by
		c.flow.queueBody(s)
	}
	return nil
}

func (c *Conn) onPing(f frame, b []byte) *fault {
	switch {
	case f.stream != 0:
		return faultStreamNot
	case len(b) != 8:
		return faultFrameSize
	case f.flags&flagAck != 0: // that it came says all
		return c.in.nothing()
	}
	c.out.acknowledge(typePing, b)
	return c.answered()
}

// onGoaway fails the streams above the last one, which the server did not process; the others
// continue.
func (c *Conn) onGoaway(f frame, b []byte, on codec.Handler) *fault {
	switch {
	case f.stream != 0:
		return faultStreamNot
	case len(b) < 8:
		return faultFrameSize
	}
	last := binary.BigEndian.Uint32(b) &^ (1 << 31)
	code := Code(binary.BigEndian.Uint32(b[4:]))
	if c.farewell.by == server && last > c.farewell.last {
		return faultGoawayGrew
	}
	c.farewell = farewell{server, code, last}
	for i := range c.streams.slots { // the slots stay as they are: no stream can open
		switch s := &c.streams.slots[i]; {
		case s.id <= last:
		case s.status != 0: // it did begin to answer, whatever it says now
			c.drop(s, errTruncatedBy.of(code), on)
		default:
			c.drop(s, errGoaway.of(code), on)
		}
	}
	return c.in.nothing()
}

// onReset ends a stream for the server's reason.
func (c *Conn) onReset(f frame, b []byte, on codec.Handler) *fault {
	if wrong := c.streams.opened(f.stream); wrong != nil {
		return wrong
	}
	if len(b) != 4 {
		return faultFrameSize
	}
	s := c.streams.find(f.stream)
	if s == nil {
		return c.in.nothing()
	}
	code := Code(binary.BigEndian.Uint32(b))
	if code == CodeRefusedStream && s.status == 0 {
		c.drop(s, errRefused, on)
	} else {
		c.drop(s, errReset.of(code), on)
	}
	return nil
}

func (c *Conn) onPriority(f frame) *fault {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case f.length != 5:
		return faultFrameSize
	}
	return c.in.nothing() // priorities tell a client nothing
}
