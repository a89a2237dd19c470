package nats

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection behind its greeting. It carries operations, one at a time or as
// a trunk several, or the messages of one subscription. Message comes once for each operation that something ends; Outcome
// then says how it ended.
type Conn struct {
	most        int64  // bytes of a message that comes
	payloadMost int64  // of one that goes out; 0: the server has not told
	inbox       string // what the subjects of replies begin with
	heads       bool   // the server takes headers
	subscribes  bool   // it is a subscription's
	listens     bool   // to its inbox
	out         outbox
	in          intake
	exchanges
	pull    *pull // of a consumer; nil: it has none
	pings   pings
	message filled
	outcome Outcome
	told    *http1.Error // what the server ends the connection with
	broken  *http1.Error // what ended it
	end     ending
}

// ending is how far the connection is from its end.
type ending uint8

const (
	endNone  ending = iota
	endLeft         // Leave was called
	endAgree        // the server knows of it, or has ended the connection
)

// pinged is a PING without its PONG.
type pinged struct {
	kind    pingKind
	payload uint64
}

type pingKind uint8

const (
	pingAsks     pingKind = iota // Ping asks
	pingFlushes                  // it ends the open operation
	pingEnded                    // it would have ended one that an error has ended
	pingLate                     // it would have ended one that was given up
	pingDoubts                   // whether the server is there
	pingConfirms                 // a subscription stands
	pingLeaves                   // a subscription has ended
)

var _ codec.Named = (*Conn)(nil)

// Order is what an operation is sent with.
type Order struct {
	Values [][]byte
	Keeps  bool    // its answer's header is read
	Sent   *uint64 // counts the message when the kernel has it; nil: nothing does
	Late   *uint64 // counts answers that no open operation waits for
	Errors *uint64 // counts errors of the server that no open operation caused
}

// Outcome is how an operation ended, or the message of a subscription. Bytes are valid during Message.
type Outcome struct {
	Err       error // of the kind "server CODE"; nil: none
	Subject   []byte
	Reply     []byte // where an answer goes; empty: nowhere
	Fields    Fields // of the header
	Duplicate bool   // JetStream has had a message with this id

	Deliveries uint64 // of a message that a consumer sent: how often
	Sequence   uint64 // its number in the stream
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Operate queues an operation. After an error nothing of it is queued, and the connection goes on.
func (c *Conn) Operate(o *Operation, with Order) error {
	if !c.mayTalk() || c.subscribes {
		return errOver
	}
	m := &c.message
	size, heads := o.wire.size, o.wire.heads
	if o.open {
		if err := o.fill(m, with.Values); err != nil {
			return err
		}
		size, heads = len(m.header)+len(m.data), len(m.header) > 0
	}
	switch {
	case heads && !c.heads:
		return errHeads
	case c.payloadMost > 0 && int64(size) > c.payloadMost:
		return errPayload(size, c.payloadMost)
	}
	c.in.idle, c.in.heard = 0, false
	a, from := c.ops.take(o, with, m.subject), len(c.out.bytes)
	if o.Verb >= Stream {
		c.listen()
	}
	b := c.out.bytes
	if o.open {
		b = appendVerb(b, m.header, m.subject)
	} else {
		b = append(b, o.wire.before...)
	}
	if o.Verb >= Stream {
		b = strconv.AppendUint(append(append(b, ' '), c.inbox...), a.number, 10)
	}
	if o.open {
		b = appendRest(b, m.header, m.data)
	} else {
		b = append(b, o.wire.behind...)
	}
	c.out.bytes = b
	if with.Sent != nil {
		c.out.departs = append(c.out.departs, departure{len(b), with.Sent})
	}
	if o.Verb == Flush {
		c.ping(pingFlushes, a.number)
	}
	if c.ops.queued = len(c.out.bytes) - from; cap(m.data) > bufferKept {
		m.data = nil
	}
	return nil
}

// listen subscribes to replies before the first of them.
func (c *Conn) listen() {
	if !c.listens {
		c.listens = true
		c.out.bytes = append(append(append(c.out.bytes, "SUB "...), c.inbox...), "* 1\r\n"...)
	}
}

func (c *Conn) ping(kind pingKind, payload uint64) {
	c.out.bytes = append(c.out.bytes, "PING\r\n"...)
	c.pings.push(pinged{kind, payload})
}

// Send implements codec.Dialogue: a subscription sends nothing, and operations go by Operate.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return errReceives }

// Ping asks whether the server is there.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() {
		c.ping(pingAsks, payload)
	}
}

// Leave ends a subscription: what the server has sent before it knows still comes. Operations need no
// goodbye.
func (c *Conn) Leave(uint16, string) {
	if !c.mayTalk() {
		return
	}
	c.end = endLeft
	if c.subscribes {
		c.out.bytes = append(c.out.bytes, "UNSUB 1\r\n"...)
		c.ping(pingLeaves, 0)
	}
}

// Forget implements codec.Named: it gives up the open operation, and asks whether the server is there if
// nothing has come since it was queued.
func (c *Conn) Forget() bool {
	if !c.mayTalk() || c.subscribes || len(c.out.left())+len(c.in.held) > 0 { // half a message would swallow the next one
		return false
	}
	doubted := slices.ContainsFunc(c.pings.left(), func(p pinged) bool { return p.kind >= pingLate })
	if c.ops.one.open {
		c.giveUp(&c.ops.one)
	}
	switch {
	case c.in.heard:
	case doubted:
		return false
	case len(c.pings.left()) == 0:
		c.ping(pingDoubts, 0)
	}
	c.in.heard = false
	return true
}

func (c *Conn) mayTalk() bool { return c.end == endNone && c.broken == nil && c.told == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool {
	return c.broken != nil || c.told != nil || c.end == endAgree || c.end == endLeft && !c.subscribes && c.ops.open == 0
}

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out.left()) }

// Rest says that time has passed: lines from before it are no flood.
func (c *Conn) Rest() {
	if c.in.idle = 0; c.pull != nil {
		c.pull.barren = 0
	}
}

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
	case c.subscribes && c.end == endNone:
		return errGone
	case c.ops.open > 0:
		return errSilent
	}
	return nil
}

// Release gives the connection's memory back. It cannot be used any more.
func (c *Conn) Release() {
	c.end = endAgree
	c.out, c.in.held, c.message, c.pings, c.ops = outbox{}, nil, filled{}, pings{}, places{}
}

// outbox holds a connection's outgoing bytes.
type outbox struct {
	bytes   []byte // queued, and not moved over since
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
	if at == len(o.departs) {
		o.departs = o.departs[:0] // the counts live as long as their accounts
	} else {
		o.departs = slices.Delete(o.departs, 0, at)
	}
	switch {
	case o.sent < len(o.bytes):
		if o.sent >= outboxMoved && 2*o.sent >= len(o.bytes) {
			o.moves()
		}
	case cap(o.bytes) > bufferKept:
		o.bytes, o.sent = nil, 0
	default:
		o.bytes, o.sent = o.bytes[:0], 0
	}
}

// moves moves what is left over what is gone: of a shared connection to a slow server something is always left.
func (o *outbox) moves() {
	for i := range o.departs {
		o.departs[i].end -= o.sent
	}
	o.bytes, o.sent = o.bytes[:copy(o.bytes, o.bytes[o.sent:])], 0
}
