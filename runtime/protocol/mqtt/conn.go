package mqtt

import (
	"errors"
	"io"
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection behind its greeting. It carries operations, one at a time,
// or the messages of one subscription. Message comes once for each operation that something ends; Outcome
// then says how it ended.
type Conn struct {
	version      Version
	most         int64 // bytes of a message that comes
	limits       limits
	subscription *Subscription // nil: it carries operations
	resumes      bool          // the server keeps its session
	claim        *Claim
	out          outbox
	in           intake
	op           asked
	lost         []lost
	got          received
	pings        []pinged
	message      filled
	outcome      Outcome
	told         *http1.Error // what the server ends the connection with
	broken       *http1.Error // what ended it
	end          ending
	quiet        int // ticks since something went out
}

// ending is how far the connection is from its end.
type ending uint8

const (
	endNone  ending = iota
	endLeft         // Leave was called, and the server must agree
	endAgree        // nothing more goes out
)

// pinged is a PINGREQ without its PINGRESP.
type pinged struct {
	kind    pingKind
	payload uint64
	ticks   int // since it was queued
}

type pingKind uint8

const (
	pingAsks   pingKind = iota // Ping asks
	pingLives                  // it tells the server that the client lives
	pingDoubts                 // whether the server is there
)

var (
	_ codec.Named   = (*Conn)(nil)
	_ codec.Lively  = (*Conn)(nil)
	_ codec.Refuser = (*Conn)(nil)
)

// Refuse returns a connection that can only be closed: nothing goes out on it, for a reason.
func Refuse(why *http1.Error) *Conn { return &Conn{broken: why} }

// Refusal implements codec.Refuser.
func (c *Conn) Refusal() error {
	if c.broken == nil {
		return nil
	}
	return c.broken
}

// Order is what an operation is sent with.
type Order struct {
	Values [][]byte
	Sent   *uint64 // counts the message when the kernel has it; nil: nothing does
	Late   *uint64 // counts acknowledgements that no open operation waits for
}

// Outcome is how an operation ended, or the message of a subscription. Bytes are valid during Message.
type Outcome struct {
	Err     error // of the kind "server CODE"; nil: none
	Topic   []byte
	Reply   []byte // where an answer goes; empty: nowhere
	Fields  Fields
	Retains bool // the server kept it
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Operate queues an operation. After an error nothing of it is queued, and the connection goes on.
func (c *Conn) Operate(o *Operation, with Order) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !c.mayTalk() || c.subscription != nil:
		return errOver
	case o.QoS > c.limits.qosMost:
		return errQoS(o.QoS, c.limits.qosMost)
	case o.Retain && c.limits.noRetain:
		return errRetain
	}
	c.in.idle, c.in.heard = 0, false
	start := len(c.out.bytes)
	id := c.op.id
	if o.QoS > 0 {
		id = c.next()
	}
	b, err := o.queue(c.out.bytes, &c.message, with.Values, id)
	if err == nil && c.limits.packetMost > 0 && len(b)-start > int(c.limits.packetMost) {
		err = errPacket(len(b)-start, c.limits.packetMost)
	}
	if err != nil {
		c.out.bytes = b[:start]
		return err
	}
	c.op = asked{of: o, id: id, stage: stageOf(o.QoS), late: with.Late}
	c.out.bytes = b
	c.quiet = 0
	if with.Sent != nil {
		c.out.departs = append(c.out.departs, departure{len(b), with.Sent})
	}
	return nil
}

// Disconnect says goodbye in place of an operation.
func (c *Conn) Disconnect() error {
	if c.broken != nil {
		return c.broken
	}
	c.disconnect()
	return nil
}

// Bequeath says goodbye and asks for the will, which version 5 can.
func (c *Conn) Bequeath() error {
	if c.broken != nil {
		return c.broken
	}
	c.out.bytes = append(c.out.bytes, byte(packetDisconnect)<<4, 1, reasonWill)
	c.end = endAgree
	return nil
}

const reasonWill = 0x04 // disconnect with will message

func (c *Conn) disconnect() {
	c.out.bytes = append(c.out.bytes, byte(packetDisconnect)<<4, 0)
	c.end = endAgree
}

func (c *Conn) ping(kind pingKind, payload uint64) {
	c.out.bytes = append(c.out.bytes, byte(packetPingreq)<<4, 0)
	c.pings = append(c.pings, pinged{kind: kind, payload: payload})
	c.quiet = 0
}

// Send implements codec.Dialogue: a subscription sends nothing, and operations go by Operate.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return errReceives }

// Ping asks whether the server is there.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() {
		c.ping(pingAsks, payload)
	}
}

// ticksOfLife is how many ticks a server's keep alive has: a connection that says nothing for two of them
// pings, so that the server hears of it in time, and a ping without an answer for three ends it.
const ticksOfLife = 3

// Tick implements codec.Lively: it pings where nothing else went out.
func (c *Conn) Tick(now int64) (next int64, err error) {
	if c.limits.keepAlive == 0 || c.broken != nil || c.told != nil || c.end == endAgree {
		return 0, nil
	}
	for i := range c.pings {
		if c.pings[i].ticks++; c.pings[i].ticks > ticksOfLife {
			return 0, c.breaks(errDead(c.limits.keepAlive))
		}
	}
	if c.quiet++; c.quiet >= ticksOfLife-1 && len(c.pings) == 0 {
		c.ping(pingLives, 0)
	}
	return now + int64(c.limits.keepAlive)*1e9/ticksOfLife, nil
}

// Leave says goodbye. A subscription ends first: what the server has sent before it knows still comes.
func (c *Conn) Leave(uint16, string) {
	switch {
	case !c.mayTalk():
		c.end = max(c.end, endLeft)
	case c.subscription == nil || c.resumes || !c.got.stands:
		c.disconnect()
	default:
		c.unsubscribe()
	}
}

// Forget implements codec.Named: it gives up the open operation, and asks whether the server is there if
// nothing has come since it was queued.
func (c *Conn) Forget() bool {
	if !c.mayTalk() || c.subscription != nil || len(c.out.left())+len(c.in.held) > 0 {
		return false
	}
	doubted := slices.ContainsFunc(c.pings, func(p pinged) bool { return p.kind == pingDoubts })
	if !c.giveUp() {
		return false
	}
	switch {
	case c.in.heard:
	case doubted:
		return false
	default:
		c.ping(pingDoubts, 0)
	}
	c.in.heard = false
	return true
}

func (c *Conn) mayTalk() bool { return c.end == endNone && c.broken == nil && c.told == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool {
	return c.broken != nil || c.told != nil || c.end == endAgree || c.end == endLeft && c.subscription == nil && c.op.stage == stageNone
}

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out.left()) }

// Rest says that time has passed: packets from before it are no flood.
func (c *Conn) Rest() { c.in.idle = 0 }

// End says what the end of the connection means.
func (c *Conn) End(err error) error {
	switch {
	case c.broken != nil:
		return c.broken
	case c.told != nil:
		return c.told
	case !errors.Is(err, io.EOF):
		return err
	case len(c.in.held) > 0:
		return errCut
	case c.subscription != nil && c.end == endNone:
		return errGone
	case c.op.stage != stageNone:
		return errSilent
	}
	return nil
}

// Release gives the connection's memory and its client identifier back. It cannot be used any more.
func (c *Conn) Release() {
	c.claim.free()
	c.end = endAgree
	c.out, c.in.held, c.message, c.pings, c.lost, c.got = outbox{}, nil, filled{}, nil, nil, received{}
}

// outbox holds a connection's outgoing bytes.
type outbox struct {
	bytes   []byte // queued since all were gone last
	sent    int    // of bytes
	departs []departure
}

// departure is a message that counts when the bytes up to its end are gone.
type departure struct {
	end   int // in bytes
	count *uint64
}

// left returns what is not written.
func (o *outbox) left() []byte { return o.bytes[o.sent:] }

// wrote notes that so many more bytes are gone.
func (o *outbox) wrote(n int) {
	o.sent += n
	at := 0
	for at < len(o.departs) && o.departs[at].end <= o.sent {
		*o.departs[at].count++
		at++
	}
	o.departs = slices.Delete(o.departs, 0, at)
	if o.sent < len(o.bytes) {
		return
	}
	if o.bytes, o.sent = o.bytes[:0], 0; cap(o.bytes) > bufferKept {
		o.bytes = nil
	}
}
