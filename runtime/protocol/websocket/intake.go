package websocket

import (
	"encoding/binary"
	"unicode/utf8"

	"hyperscale/runtime/protocol/codec"
)

// intake is how far the server's bytes are cut into frames, and frames put together.
type intake struct {
	head  [headMost]byte // the beginning of a head
	headN uint8

	first byte  // of the head of the frame whose payload comes
	stage stage // of that frame
	left  int64 // bytes of its payload to come

	opcode   byte // of the message under way; 0: none is
	deflated bool // that message is
	size     int64
	most     int64
	message  []byte // of the pool: what came of the message
	text     text   // of a message that is not compressed

	control  [controlMost]byte
	controlN uint8
	idle     int // frames in a row that carried nothing
}

// stage is what the next bytes are.
type stage uint8

const (
	stageHead stage = iota
	stagePayload
)

// partial reports that a frame or a message has begun and is not whole.
func (t *intake) partial() bool { return t.headN > 0 || t.stage == stagePayload || t.opcode != 0 }

// Feed takes the next bytes from the server and reports what they say. The listener may call
// every method but Feed and Release. After an error the last frame of Output tells the server
// why, and the caller closes the connection.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	for len(b) > 0 && c.wrong == nil && c.heard == goodbyeNone {
		n, wrong := c.step(b, on)
		if wrong != nil {
			c.fail(wrong)
		}
		b = b[n:]
	}
	if c.wrong != nil {
		return c.wrong.err
	}
	return nil
}

// fail ends the dialogue by our goodbye.
func (c *Conn) fail(wrong *fault) {
	c.wrong = wrong
	if c.said == goodbyeNone {
		c.goodbye(wrong.code, wrong.err.Detail)
	}
}

// step takes some of the bytes and returns how many.
func (c *Conn) step(b []byte, on codec.Listener) (int, *fault) {
	in := &c.in
	if in.stage == stageHead {
		n, wrong := c.takeHead(b)
		if wrong != nil || in.stage == stageHead || in.left > 0 {
			return n, wrong
		}
		return n, c.takePayload(nil, on) // no byte will come for it
	}
	n := int(min(in.left, int64(len(b))))
	return n, c.takePayload(b[:n], on)
}

// takeHead takes bytes of a frame's head. The first two are judged as soon as they are there.
func (c *Conn) takeHead(b []byte) (int, *fault) {
	in := &c.in
	if in.headN == 0 && len(b) >= headMost {
		n, wrong := c.readHead(b)
		return n, wrong
	}
	n := copy(in.head[in.headN:], b)
	had := in.headN
	in.headN += uint8(n)
	used, wrong := c.readHead(in.head[:in.headN])
	if wrong == nil && in.stage == stageHead {
		return n, nil
	}
	in.headN = 0
	return max(used-int(had), 0), wrong
}

// readHead reads a head that may not be whole: then the stage stays.
func (c *Conn) readHead(b []byte) (int, *fault) {
	if len(b) < 2 {
		return 0, nil
	}
	if wrong := c.judgeHead(b[0], b[1]); wrong != nil {
		return 2, wrong
	}
	n, length := 2, uint64(b[1])
	switch length {
	case 126:
		if n = 4; len(b) < n {
			return 0, nil
		}
		if length = uint64(binary.BigEndian.Uint16(b[2:])); length <= controlMost {
			return n, faultLengthLong
		}
	case 127:
		if n = 10; len(b) < n {
			return 0, nil
		}
		if length = binary.BigEndian.Uint64(b[2:]); length <= 0xffff {
			return n, faultLengthLong
		}
		if length >= 1<<63 {
			return n, faultLengthHuge
		}
	}
	return n, c.beginFrame(b[0], int64(length))
}

// judgeHead judges the first two bytes of a frame.
func (c *Conn) judgeHead(first, second byte) *fault {
	opcode := first & 0xf
	switch {
	case first&bitsRest != 0:
		return breachf("a frame has reserved bits: its first byte is %#x", first)
	case first&bitDeflated != 0 && !c.agreed.deflate:
		return breachf("a frame is compressed (RSV1), and no extension was agreed on: its first byte is %#x", first)
	case first&bitDeflated != 0 && opcode != opText && opcode != opBinary:
		return breachf("a frame that begins no message is marked as compressed (RSV1): its first byte is %#x", first)
	case opcode > opBinary && opcode < opClose, opcode > opPong:
		return breachf("a frame has the reserved opcode %#x", opcode)
	case second&bitMask != 0:
		return faultMasked
	case opcode&bitControl != 0:
		switch {
		case first&bitFin == 0:
			return faultControlCut
		case second > controlMost:
			return faultControlLarge
		}
	case opcode == opContinuation && c.in.opcode == 0:
		return faultStray
	case opcode != opContinuation && c.in.opcode != 0:
		return faultInside
	}
	return nil
}

// beginFrame notes a head that is whole.
func (c *Conn) beginFrame(first byte, length int64) *fault {
	in := &c.in
	in.first, in.left, in.stage = first, length, stagePayload
	opcode := first & 0xf
	if opcode&bitControl != 0 {
		in.controlN = 0
		return in.nothing()
	}
	if opcode != opContinuation {
		in.opcode, in.deflated, in.size = opcode, first&bitDeflated != 0, 0
	}
	if length > in.sizeMost()-in.size { // a sum could overflow
		return faultLarge(in.most)
	}
	in.size += length
	if length == 0 && first&bitFin == 0 {
		return in.nothing()
	}
	in.idle = 0
	return nil
}

// sizeMost is how long a message may be as it comes: bytes that cannot be compressed grow a little.
func (t *intake) sizeMost() int64 {
	if t.deflated {
		return t.most + t.most>>10 + 64
	}
	return t.most
}

// nothing counts a frame that carries nothing.
func (t *intake) nothing() *fault {
	if t.idle++; t.idle > idleMost {
		return faultFlood
	}
	return nil
}

// takePayload takes a piece of a payload, and ends the frame if it is the last one.
func (c *Conn) takePayload(b []byte, on codec.Listener) *fault {
	in := &c.in
	in.left -= int64(len(b))
	if in.first&bitControl != 0 {
		in.controlN += uint8(copy(in.control[in.controlN:], b))
		if in.left > 0 {
			return nil
		}
		in.stage = stageHead
		return c.onControl(in.first&0xf, in.control[:in.controlN], on)
	}
	if in.opcode == opText && !in.deflated && !in.text.add(b) {
		return faultText
	}
	last := in.left == 0 && in.first&bitFin != 0
	if len(in.message) > 0 || !last {
		c.keep(b)
		b = in.message
	}
	if in.left == 0 {
		in.stage = stageHead
	}
	if !last {
		return nil
	}
	wrong := c.onMessage(b, on)
	c.protocol.pool.free(in.message)
	in.message = nil
	return wrong
}

// keep keeps a piece of a message. A length reserves memory only as far as it is credible.
func (c *Conn) keep(b []byte) {
	in := &c.in
	if len(b) == 0 {
		return
	}
	if in.message == nil {
		in.message = c.protocol.pool.buffer(int(min(in.size, smallMost)))
	}
	in.message = append(c.protocol.pool.reserve(in.message, len(b)), b...)
}

// onMessage reports a message that is whole.
func (c *Conn) onMessage(b []byte, on codec.Listener) *fault {
	in := &c.in
	kind := codec.MessageText
	if in.opcode == opBinary {
		kind = codec.MessageBinary
	}
	in.opcode = 0
	if in.deflated {
		return c.onDeflated(kind, b, on)
	}
	if kind == codec.MessageText && !in.text.end() {
		return faultText
	}
	on.Message(kind, b)
	return nil
}

// onDeflated inflates a message and reports it.
func (c *Conn) onDeflated(kind codec.MessageKind, b []byte, on codec.Listener) *fault {
	pool := c.protocol.pool
	compressed := append(append(pool.buffer(len(b)+len(deflateTail)), b...), deflateTail...)
	all, err := pool.inflate(append(pool.buffer(len(c.window)+4*len(b)), c.window...), compressed, c.in.most)
	pool.free(compressed)
	defer func() { pool.free(all) }()
	switch {
	case err == errGrows:
		return faultBomb(len(b), c.in.most)
	case err != nil:
		return faultDeflate
	}
	message := all[len(c.window):]
	if !c.agreed.fresh {
		c.window = append(c.window[:0], all[max(0, len(all)-windowMost):]...)
	}
	if kind == codec.MessageText && !utf8.Valid(message) {
		return faultText
	}
	on.Message(kind, message)
	return nil
}

// onControl takes a control frame.
func (c *Conn) onControl(opcode byte, payload []byte, on codec.Listener) *fault {
	switch opcode {
	case opPing:
		c.pong.n, c.pong.owed = copy(c.pong.payload[:], payload), true
		c.answerPing()
	case opPong:
		if len(payload) == pingLen && c.asked.answered(binary.BigEndian.Uint64(payload)) {
			on.Pong(binary.BigEndian.Uint64(payload))
		}
	case opClose:
		return c.onClose(payload, on)
	}
	return nil
}

// onClose takes the server's goodbye and answers with its code.
func (c *Conn) onClose(payload []byte, on codec.Listener) *fault {
	code, reason := CodeNone, ""
	if len(payload) == 1 {
		return faultCloseShort
	}
	if len(payload) >= 2 {
		code, reason = binary.BigEndian.Uint16(payload), string(payload[2:])
		if !mayTravel(code) {
			return breachf("a close frame has the code %d, which may not be sent", code)
		}
		if !utf8.ValidString(reason) {
			return faultReason
		}
	}
	c.heard = goodbyeSaid
	if c.said == goodbyeNone {
		c.goodbye(code, "")
	}
	on.Leaves(code, reason)
	return nil
}
