package websocket

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"

	"hyperscale/runtime/protocol/codec"
)

// Conn is the client's side of one connection behind its upgrade. Upgrade.Begin makes it.
type Conn struct {
	protocol *Protocol
	mask     func() uint32
	chosen   string // protocol
	agreed   extension
	out      outbox
	pong     pong
	asked    pings
	said     goodbye // ours
	heard    goodbye // the server's
	wrong    *fault
	in       intake
	window   []byte // the end of what was inflated; empty: the server forgets its context
}

var _ codec.Dialogue = (*Conn)(nil)

// goodbye says whether one side has said it.
type goodbye uint8

const (
	goodbyeNone goodbye = iota
	goodbyeQueued
	goodbyeSaid
)

// pong is the answer that the server's last ping waits for.
type pong struct {
	payload [controlMost]byte
	n       int
	owed    bool
}

// pings are the payloads of ours that wait for their answers, the oldest first. A server that
// answers none of the last few is not there.
type pings struct {
	payloads [4]uint64
	n        int
}

// pingLen is how long the payload of a ping of ours is, in bytes.
const pingLen = 8

func (p *pings) add(payload uint64) {
	if p.n == len(p.payloads) {
		copy(p.payloads[:], p.payloads[1:])
		p.n--
	}
	p.payloads[p.n] = payload
	p.n++
}

// answered reports whether a pong answers one of them. Older ones need no answer any more (RFC
// 6455, 5.5.3).
func (p *pings) answered(payload uint64) bool {
	i := slices.Index(p.payloads[:p.n], payload)
	if i >= 0 {
		p.n = copy(p.payloads[:], p.payloads[i+1:p.n])
	}
	return i >= 0
}

// pongsMost is how many bytes may wait before answers to pings wait for them to be written, the
// last one alone (RFC 6455, 5.5.3).
const pongsMost = 16 << 10

func (c *Conn) reset(p *Protocol, mask func() uint32, chosen string, agreed extension) {
	c.Release()
	*c = Conn{protocol: p, mask: mask, chosen: chosen, agreed: agreed, out: c.out, window: c.window[:0], in: intake{most: p.messageMax}}
	c.out.reset(p.pool)
}

// Release gives the memory of the messages under way back to the pool. The connection cannot be
// used any more.
func (c *Conn) Release() {
	if c.protocol == nil {
		return
	}
	c.out.reset(c.protocol.pool)
	c.protocol.pool.free(c.in.message)
	c.in.message = nil
	c.said = goodbyeSaid
	c.pong.owed = false
}

// Chosen returns the protocol that the server chose of those offered; "": none.
func (c *Conn) Chosen() string { return c.chosen }

// Compressed reports whether messages may be compressed.
func (c *Conn) Compressed() bool { return c.agreed.deflate }

// Send queues a message and copies its payload.
func (c *Conn) Send(kind codec.MessageKind, payload []byte, sent *uint64) error {
	switch {
	case !c.mayTalk():
		return errOver
	case kind == codec.MessageText && !utf8.Valid(payload):
		return errSendText
	}
	first := bitFin | opcodeOf(kind)
	if c.agreed.deflate && len(payload) >= deflateLeast {
		if d := c.deflated(payload); len(d) < len(payload) {
			first, payload = first|bitDeflated, d
		}
	}
	c.send(first, payload, sent, false)
	return nil
}

// SendPrepared queues a message that was made before the clock ran.
func (c *Conn) SendPrepared(p *Prepared, sent *uint64) error {
	if !c.mayTalk() {
		return errOver
	}
	first, payload := p.bytes(c.agreed.deflate)
	c.send(first, payload, sent, true)
	return nil
}

func (c *Conn) send(first byte, payload []byte, sent *uint64, lent bool) {
	c.out.frame(first, payload, c.mask(), lent)
	c.out.counts(sent)
	c.in.idle = 0
}

// deflated compresses a payload without context; it is valid until the next call.
func (c *Conn) deflated(payload []byte) []byte {
	b := &c.protocol.pool.deflated
	b.Reset()
	if flate.StatelessDeflate(b, payload, false, nil) != nil {
		return payload // a buffer takes all: this cannot be
	}
	return cutTail(b.Bytes())
}

// mayTalk reports whether more than a goodbye may be sent.
func (c *Conn) mayTalk() bool {
	return c.protocol != nil && c.said == goodbyeNone && c.heard == goodbyeNone && c.wrong == nil
}

// Ping asks whether the server is there.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() {
		var b [pingLen]byte
		binary.BigEndian.PutUint64(b[:], payload)
		c.out.frame(bitFin|opPing, b[:], c.mask(), false)
		c.asked.add(payload)
	}
}

// Rest says that time has passed: frames without content from before it are no flood. The loop
// calls it about once a second for a connection that only listens.
func (c *Conn) Rest() { c.in.idle = 0 }

// Leave queues the goodbye. A reason that is too long is cut; a code that may not travel is
// CodeNormal, but for CodeNone, which sends none.
func (c *Conn) Leave(code uint16, reason string) {
	if c.mayTalk() {
		c.goodbye(code, reason)
	}
}

func (c *Conn) goodbye(code uint16, reason string) {
	c.said, c.pong.owed = goodbyeQueued, false
	if code == CodeNone {
		c.out.frame(bitFin|opClose, nil, c.mask(), false)
		return
	}
	if !mayTravel(code) {
		code = CodeNormal
	}
	for len(reason) > reasonMost || !utf8.ValidString(reason) && reason != "" {
		reason = reason[:min(len(reason)-1, reasonMost)]
	}
	var b [controlMost]byte
	binary.BigEndian.PutUint16(b[:], code)
	c.out.frame(bitFin|opClose, b[:2+copy(b[2:], reason)], c.mask(), false)
}

// Output returns the bytes to write next.
func (c *Conn) Output() []byte { return c.out.output() }

// Unsent is how many bytes are queued.
func (c *Conn) Unsent() int { return c.out.left() }

// Sent reports how many bytes of the output the kernel took.
func (c *Conn) Sent(n int) {
	c.out.wrote(n)
	c.answerPing()
	if c.said == goodbyeQueued && c.out.left() == 0 {
		c.said = goodbyeSaid
	}
}

// answerPing queues the answer that is owed, unless too much waits already.
func (c *Conn) answerPing() {
	if c.pong.owed && c.out.left() < pongsMost && c.said == goodbyeNone {
		c.pong.owed = false
		c.out.frame(bitFin|opPong, c.pong.payload[:c.pong.n], c.mask(), false)
	}
}

// Over reports that both sides have said goodbye, and that the kernel has ours.
func (c *Conn) Over() bool { return c.heard != goodbyeNone && c.said == goodbyeSaid }

// End reports that the server sends no more.
func (c *Conn) End(err error) error {
	switch {
	case c.wrong != nil:
		return c.wrong.err
	case c.heard != goodbyeNone:
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case c.in.partial():
		return errTruncated
	}
	return errSilent
}
