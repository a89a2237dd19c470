package amqp

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// intake is what came of a frame or a message that is not whole.
type intake struct {
	held  []byte
	need  int  // bytes of held without which no frame is whole; 0: unknown
	idle  int  // frames in a row that carry nothing
	heard bool // something came since the operation before was queued
}

// content is a message that is under way: its method came, and its frames follow.
type content struct {
	stage       contentStage
	of          method
	tag, code   uint64
	redelivered bool
	reads       reads
	size, got   uint64
	kept        []byte // its texts, behind each other
	ends        [3]int // of each text in kept, and of the declared queue
	fields      Fields
	body        []byte // as far as it is not in one frame
}

type contentStage uint8

const (
	stageNone contentStage = iota
	stageHeader
	stageBody
)

// keep copies bytes into memory that the next message takes.
func (c *content) keep(b []byte) []byte {
	c.kept = append(c.kept[:0], b...)
	return c.kept
}

// text is a text of the method whose content comes.
func (c *content) text(at int) []byte {
	from := 0
	if at > 0 {
		from = c.ends[at-1]
	}
	return c.kept[from:c.ends[at]]
}

// outcome is a message that came.
func (c *content) outcome() Outcome {
	return Outcome{Exchange: c.text(0), Key: c.text(1), Fields: c.fields, Tag: c.tag, Redelivered: c.redelivered, Got: true}
}

// Feed takes the next bytes from the server. The listener may call every method but Feed and Release.
// After an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	if c.broken != nil {
		return c.broken
	}
	in := &c.in
	in.heard = in.heard || len(b) > 0
	if len(in.held) == 0 {
		n, err := c.take(b, on)
		if err != nil {
			return c.breaks(err)
		}
		if n < len(b) {
			in.held = append(in.held, b[n:]...)
		}
		return nil
	}
	if in.held = append(in.held, b...); len(in.held) < in.need {
		return nil
	}
	n, err := c.take(in.held, on)
	if err != nil {
		return c.breaks(err)
	}
	if in.held = append(in.held[:0], in.held[n:]...); len(in.held) == 0 && cap(in.held) > bufferKept {
		in.held = nil
	}
	return nil
}

func (c *Conn) breaks(err *http1.Error) error {
	c.broken, c.in.held = err, nil
	return err
}

// take takes whole frames, and returns how many bytes they have. Behind a goodbye nothing counts.
func (c *Conn) take(b []byte, on codec.Listener) (used int, err *http1.Error) {
	c.in.need = 0
	for used < len(b) && c.broken == nil {
		if c.told != nil {
			return len(b), nil
		}
		var f frame
		n, need, wrong := f.cut(b[used:], c.frameMost)
		if wrong != nil {
			return used, wrong.(*http1.Error)
		}
		if n == 0 {
			c.in.need = need
			return used, nil
		}
		if err := c.onFrame(&f, on); err != nil {
			return used, err
		}
		used += n
	}
	return used, nil
}

// onFrame takes a frame.
func (c *Conn) onFrame(f *frame, on codec.Listener) *http1.Error {
	if c.in.idle++; c.in.idle > idleMost {
		return errFlood
	}
	if !c.on(f.channel) {
		return stranger(f)
	}
	from := len(c.out.bytes)
	if err := c.onFrameOf(f, on); err != nil {
		return err
	}
	if f.channel != 0 {
		c.on(f.channel)
		c.stamp(c.out.bytes[from:])
	}
	return nil
}

// stranger is the error of a frame on a channel that is not open.
func stranger(f *frame) *http1.Error {
	what := "content"
	if f.kind == frameMethod {
		var m call
		if err := m.read(f); err != nil {
			return err.(*http1.Error)
		}
		what = m.name
	}
	return breach("the server sent %s on channel %d", what, f.channel)
}

// onFrameOf takes a frame of the channel at hand.
func (c *Conn) onFrameOf(f *frame, on codec.Listener) *http1.Error {
	in := &c.content
	c.came += frameOver + len(f.payload)
	closing := c.channel.state == channelCloses && f.channel != 0
	if closing {
		c.channel.drops(&c.in)
	}
	switch {
	case f.kind == frameHeartbeat:
		if f.channel != 0 || len(f.payload) > 0 {
			return errHeartbeat
		}
		return nil
	case f.kind == frameMethod:
		var m call
		if err := m.read(f); err != nil {
			return err.(*http1.Error)
		}
		if in.stage != stageNone && f.channel != 0 && m.of != channelClose {
			return errInterleaved
		}
		if c.channel.state == channelGone && f.channel != 0 {
			return errChannel
		}
		if closing {
			return c.onClosing(&m)
		}
		if m.content {
			return c.begins(&m)
		}
		return c.onMethod(&m, on)
	case closing:
		return nil // what follows a method that nothing takes
	case f.channel == 0:
		return breach("the server sent content on channel %d", f.channel)
	case f.kind == frameHeader && in.stage == stageHeader:
		return c.onHeader(f.payload, on)
	case f.kind == frameBody && in.stage == stageBody:
		return c.onBody(f.payload, on)
	}
	return errContentOrder
}

// begins takes a method whose content follows.
func (c *Conn) begins(m *call) *http1.Error {
	if err := accepts(c, m); err != nil {
		return err
	}
	in := &c.content
	in.stage, in.of, in.got, in.body = stageHeader, m.of, 0, in.body[:0]
	if in.reads = c.op.reads; c.role != roleOperates {
		in.reads.all = true
	}
	texts := m.texts[:2]
	switch m.of {
	case basicReturn:
		in.code = m.numbers[0]
	case basicDeliver:
		texts = m.texts[1:3]
		fallthrough
	default:
		in.tag, in.redelivered = m.numbers[0], m.is(1)
	}
	in.kept = in.kept[:0]
	for i, t := range texts {
		in.kept = append(in.kept, t...)
		in.ends[i] = len(in.kept)
	}
	return nil
}

// onHeader takes the header of a message.
func (c *Conn) onHeader(b []byte, on codec.Listener) *http1.Error {
	in := &c.content
	size, fields, err := readContent(b, in.reads)
	switch {
	case err != nil:
		return err.(*http1.Error)
	case size > uint64(c.most):
		return errLarge(size, c.most)
	}
	in.size, in.stage, in.fields = size, stageBody, nil
	if len(fields) > 0 {
		in.fields = fields.Clone() // the body comes in frames of its own
	}
	if size == 0 {
		return c.whole(nil, on)
	}
	return nil
}

// onBody takes a piece of a message.
func (c *Conn) onBody(b []byte, on codec.Listener) *http1.Error {
	in := &c.content
	if in.got += uint64(len(b)); in.got > in.size {
		return errBody
	}
	if in.got == uint64(len(b)) && in.got == in.size {
		return c.whole(b, on)
	}
	if len(b) > 0 {
		c.in.idle = 0
	}
	if in.body = append(in.body, b...); in.got < in.size {
		return nil
	}
	body := in.body
	if cap(body) > bufferKept {
		in.body = nil
	}
	return c.whole(body, on)
}

// whole takes the end of a message.
func (c *Conn) whole(body []byte, on codec.Listener) *http1.Error {
	in := &c.content
	in.stage = stageNone
	return c.onContent(in, body, on)
}
