package http2

// dataState is the DATA frame whose payload is being read.
type dataState struct {
	left   int // of the payload, padding included; 0 outside a frame
	pad    int
	length int // of the whole payload, as flow control counts it
	stream uint32
	ends   bool
}

// onData takes the head of a DATA frame and the length of its padding.
func (c *Conn) onData(f frame, b []byte, on Handler) *fault {
	if wrong := c.opened(f); wrong != nil {
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
	if c.recvWindow -= int64(f.length); c.recvWindow < 0 {
		return faultOverWindow
	}
	body := f.length - len(b) - pad
	c.data = dataState{
		left: f.length - len(b), pad: pad, length: f.length,
		stream: f.stream, ends: f.flags&flagEndStream != 0,
	}
	s := c.streams.find(f.stream)
	if s == nil && !c.cancelled.has(f.stream) {
		return faultClosedStream
	}
	if s == nil || body == 0 && !c.data.ends {
		if wrong := c.nothing(); wrong != nil {
			return wrong
		}
	} else {
		c.idle = 0
	}
	if s != nil {
		s.in += uint64(frameHead + f.length - body)
		if s.recvWindow -= int64(f.length); s.recvWindow < 0 {
			c.failStream(s, faultStreamOver, on)
		} else if wrong := s.refuses(body); wrong != nil {
			c.failStream(s, wrong, on)
		}
	}
	if c.data.left == 0 {
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
func (c *Conn) dataPiece(b []byte, on Handler) {
	body := min(len(b), c.data.left-c.data.pad)
	c.data.left -= len(b)
	if body > 0 {
		if s := c.streams.find(c.data.stream); s != nil {
			c.bodyPiece(s, b[:body], on)
		}
	}
	if c.data.left == 0 {
		c.dataEnd(on)
	}
}

func (c *Conn) bodyPiece(s *stream, b []byte, on Handler) {
	over := false
	if room := c.bodyLimit(s) - s.received; int64(len(b)) > room {
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

// dataEnd notes what the server is owed for the frame, and ends the response if it did.
func (c *Conn) dataEnd(on Handler) {
	before := c.credit
	if c.credit += int64(c.data.length); isDue(before, c.credit, c.config.Window) {
		c.due = append(c.due, 0)
	}
	s := c.streams.find(c.data.stream)
	switch {
	case s == nil:
	case c.data.ends:
		c.finish(s, on)
	default:
		before = s.credit
		if s.credit += int64(c.data.length); isDue(before, s.credit, c.config.StreamWindow) {
			c.due = append(c.due, s.id)
		}
	}
}

// isDue reports whether a credit has just reached half of its window.
func isDue(before, credit int64, window int) bool {
	half := int64(window) / 2
	return before < half && credit >= half
}

// giveBack queues WINDOW_UPDATEs. A credit counts from here on, and not from when its bytes
// came: before we have written it the server cannot know of it.
func (c *Conn) giveBack() {
	for _, id := range c.due {
		if id == 0 {
			c.window(0, int(c.credit))
			c.recvWindow += c.credit
			c.credit = 0
		} else if s := c.streams.find(id); s != nil {
			c.window(id, int(s.credit))
			s.recvWindow += s.credit
			s.credit = 0
		}
	}
	c.due = c.due[:0]
}

// pump queues request bodies as far as both windows and the output allow, a frame a
// stream in turn.
func (c *Conn) pump() {
	done := 0 // streams at the front that had their turn
	for done < len(c.bodies) && c.sendWindow > 0 {
		room := c.config.Output - (len(c.out) - c.sent) - frameHead
		if room <= 0 {
			break
		}
		id := c.bodies[done]
		s := c.streams.find(id)
		n := int(min(int64(len(s.body)), int64(c.peer.frame), int64(room), s.sendWindow, c.sendWindow))
		flags := byte(0)
		if n == len(s.body) {
			flags = flagEndStream
		}
		c.out = append(appendFrame(c.out, n, typeData, flags, id), s.body[:n]...)
		s.body, s.end = s.body[n:], c.queued()
		s.out += uint64(frameHead + n)
		if s.count != nil && len(s.body) == 0 {
			c.departs = append(c.departs, departure{s.end, s.count})
		}
		s.sendWindow -= int64(n)
		c.sendWindow -= int64(n)
		done++
		if s.queued = len(s.body) > 0 && s.sendWindow > 0; s.queued {
			c.bodies = append(c.bodies, id)
		}
		if done == cap(c.bodies)/2+1 {
			c.bodies = c.bodies[:copy(c.bodies, c.bodies[done:])]
			done = 0
		}
	}
	c.bodies = c.bodies[:copy(c.bodies, c.bodies[done:])]
}

// queueBody puts a stream whose window opened in the queue of those that may send.
func (c *Conn) queueBody(s *stream) {
	if !s.queued && len(s.body) > 0 && s.sendWindow > 0 {
		s.queued = true
		c.bodies = append(c.bodies, s.id)
	}
}
