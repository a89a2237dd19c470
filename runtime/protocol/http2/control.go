package http2

import "encoding/binary"

// onSettings takes the server's SETTINGS, all or nothing of a frame, and answers.
func (c *Conn) onSettings(f frame, b []byte) *fault {
	switch {
	case f.stream != 0:
		return faultStreamNot
	case f.flags&flagAck != 0 && len(b) != 0, len(b)%6 != 0:
		return faultFrameSize
	case f.flags&flagAck != 0:
		return c.nothing()
	}
	for ; len(b) > 0; b = b[6:] {
		if wrong := c.setting(binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:])); wrong != nil {
			return wrong
		}
	}
	c.ready = true
	c.out = appendFrame(c.out, 0, typeSettings, flagAck, 0)
	if wrong := c.answered(); wrong != nil {
		return wrong
	}
	return c.nothing()
}

func (c *Conn) setting(id uint16, value uint32) *fault {
	switch id {
	case settingTable:
		c.update = c.update || value < c.table
		c.table = value
	case settingPush:
		if value != 0 {
			return faultSettings
		}
	case settingStreams:
		c.peer.streams = value
	case settingWindow:
		return c.initialWindow(int64(value))
	case settingFrame:
		if value < frameMost || value > 1<<24-1 {
			return faultSettings
		}
		c.peer.frame = int(value)
	}
	return nil
}

// initialWindow moves the windows of all open streams; they may become negative.
func (c *Conn) initialWindow(size int64) *fault {
	if size > windowMost {
		return faultInitialLarge
	}
	by := size - c.peer.window
	c.peer.window = size
	for i := range c.streams.slots {
		s := &c.streams.slots[i]
		if s.id == 0 {
			continue
		}
		if s.sendWindow += by; s.sendWindow > windowMost {
			return faultInitialLarge
		}
	}
	c.requeue()
	return nil
}

// requeue makes the queue of bodies say who may send, after windows moved both ways.
func (c *Conn) requeue() {
	kept := c.bodies[:0]
	for _, id := range c.bodies {
		if s := c.streams.find(id); s.sendWindow > 0 {
			kept = append(kept, id)
		} else {
			s.queued = false
		}
	}
	c.bodies = kept
	for i := range c.streams.slots {
		if s := &c.streams.slots[i]; s.id != 0 {
			c.queueBody(s)
		}
	}
}

func (c *Conn) onWindow(f frame, b []byte, on Handler) *fault {
	if len(b) != 4 {
		return faultFrameSize
	}
	by := int64(binary.BigEndian.Uint32(b) &^ (1 << 31))
	if f.stream == 0 {
		if by == 0 {
			return faultWindowZero
		}
		if c.sendWindow += by; c.sendWindow > windowMost {
			return faultWindowLarge
		}
		return nil
	}
	if wrong := c.opened(f); wrong != nil {
		return wrong
	}
	s := c.streams.find(f.stream)
	if s == nil {
		return c.nothing() // it was under way when the stream ended
	}
	switch {
	case by == 0:
		c.failStream(s, faultStreamZeroUp, on)
	case s.sendWindow+by > windowMost:
		c.failStream(s, faultStreamLarge, on)
	default:
		s.sendWindow += by
		c.queueBody(s)
	}
	return nil
}

func (c *Conn) onPing(f frame, b []byte, on Handler) *fault {
	switch {
	case f.stream != 0:
		return faultStreamNot
	case len(b) != 8:
		return faultFrameSize
	case f.flags&flagAck != 0:
		on.Pong(binary.BigEndian.Uint64(b))
	default:
		c.out = append(appendFrame(c.out, 8, typePing, flagAck, 0), b...)
		if wrong := c.answered(); wrong != nil {
			return wrong
		}
	}
	return c.nothing()
}

// onGoaway tells the streams above the last one that nobody processed them; the others
// go on.
func (c *Conn) onGoaway(f frame, b []byte, on Handler) *fault {
	switch {
	case f.stream != 0:
		return faultStreamNot
	case len(b) < 8:
		return faultFrameSize
	}
	last := binary.BigEndian.Uint32(b) &^ (1 << 31)
	code := Code(binary.BigEndian.Uint32(b[4:]))
	if c.goawaySeen && last > c.awayLast {
		return faultGoawayGrew
	}
	c.away, c.goawaySeen, c.awayLast, c.goaway = true, true, last, code
	on.GoingAway(code, last)
	for i := range c.streams.slots { // nothing opens any more, so the slots stand still
		switch s := &c.streams.slots[i]; {
		case s.id <= last:
		case s.status != 0: // it did begin to answer, whatever it says now
			c.drop(s, errTruncatedBy.of(code), on)
		default:
			c.drop(s, errGoaway.of(code), on)
		}
	}
	return c.nothing()
}

func (c *Conn) onPriority(f frame) *fault {
	switch {
	case f.stream == 0:
		return faultStreamZero
	case f.length != 5:
		return faultFrameSize
	}
	return c.nothing() // priorities tell a client nothing
}
