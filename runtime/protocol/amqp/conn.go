package amqp

import (
	"errors"
	"io"
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection behind its greeting. It carries operations, one at a time or as a
// trunk one on each of its channels, or the messages of one consumer. Message comes once for each operation that something ends; Outcome then
// says how it ended.
type Conn struct {
	most      int64 // bytes of a message that comes
	frameMost int   // bytes of a frame's payload
	role      role
	out       outbox
	in        intake
	channels
	told   *http1.Error // what the server ends the connection with
	broken *http1.Error // what ended it
	end    ending
}

// role is what a connection is for.
type role uint8

const (
	roleOperates role = iota
	roleConsumes
	roleConsumesAuto // and acknowledges nothing
)

// ending is how far the connection is from its end.
type ending uint8

const (
	endNone  ending = iota
	endLeft         // Leave was called
	endAgree        // the server knows of it, or has ended the connection
)

var (
	_ codec.Named   = (*Conn)(nil)
	_ codec.Phased  = (*Conn)(nil)
	_ codec.Settler = (*Conn)(nil)

	_ codec.Unconfirmed = (*Conn)(nil)
	_ codec.Pausing     = (*Conn)(nil)
)

// Order is what an operation is sent with.
type Order struct {
	Values [][]byte
	Keeps  bool   // its answer's properties are read
	Field  string // the one field of its header that is read without that; empty: none
	Counts
}

// reads says what of a message's properties is read.
type reads struct {
	all   bool
	field string // of the header
}

func (r reads) has(field []byte) bool { return r.all || r.field != "" && string(field) == r.field }

// Counts are what an operation counts in; nil: nothing does.
type Counts struct {
	Sent        *uint64 // the message, when the kernel has it
	Unconfirmed *uint64 // the same, of one that the server does not confirm
	Late        *uint64 // answers that no open operation waits for
	Errors      *uint64 // errors of the server that no open operation waits for
}

// Outcome is how an operation ended, or the message of a consumer. Bytes are valid during Message.
type Outcome struct {
	Err           error // of the kind "server CODE"; nil: none
	Exchange, Key []byte
	Fields        Fields // properties and headers
	Tag           uint64 // names the message for Settle
	Redelivered   bool
	Returned      bool // no queue got the message
	Got           bool // a message came
	Declared
}

// Declared is what a declaration found.
type Declared struct {
	Queue               []byte
	Messages, Consumers uint64
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (l *line) Outcome() *Outcome { return &l.outcome }

// Operate queues an operation. After an error nothing of it is queued, and the connection goes on. While
// the server blocks publishers, a message waits.
func (c *Conn) Operate(o *Operation, with Order) error {
	if !c.mayTalk() || c.role != roleOperates {
		return errOver
	}
	if err := o.fill(&c.filled, with.Values); err != nil {
		return err
	}
	c.in.idle, c.in.heard = 0, false
	c.outcome = Outcome{} // what came of one that was given up says nothing of this one
	c.op = asked{of: o, open: o.verb != verbPublish, reads: reads{with.Keeps, with.Field}, counts: with.Counts}
	c.came, c.queued = 0, 0
	if c.op.waits = c.held(o); !c.op.waits {
		c.queue()
	}
	return nil
}

// held reports whether something keeps an operation from going out.
func (l *line) held(o *Operation) bool {
	return l.channel.holds&holdsClosing != 0 || o.publishes() && l.channel.holds != 0
}

// queue queues the operation that was asked for last.
func (c *Conn) queue() {
	c.op.waits = false
	from := len(c.out.bytes)
	if c.channel.state == channelGone {
		c.channel.state = channelStands
		c.expect(channelOpen, expected{of: channelOpenOK}, nil)
	}
	switch o := c.op.of; o.verb {
	case verbGet:
		c.expect(basicGet, expected{of: basicGetOK, use: useEnds}, []uint64{0, bit(o.auto)}, c.filled.texts[0])
	case verbDeclare:
		c.declare(&o.declares)
	default:
		c.publish(o)
	}
	if cap(c.filled.body) > bufferKept {
		c.filled.body = nil
	}
	c.stamp(c.out.bytes[from:])
	c.queued = len(c.out.bytes) - from
}

// publish queues a message.
func (c *Conn) publish(o *Operation) {
	ch := &c.channel
	if o.verb == verbConfirm && ch.state != channelConfirms {
		ch.state = channelConfirms
		c.expect(confirmSelect, expected{of: confirmSelectOK}, nil)
	}
	if ch.state == channelConfirms {
		ch.published++
		c.op.number = ch.published
	}
	b, m := c.out.bytes, &c.filled
	b = append(b, m.frames...)
	for rest := m.body; len(rest) > 0; {
		n := min(len(rest), c.frameMost)
		b = beginFrame(b, frameBody, true)
		at := len(b)
		b, rest = endFrame(append(b, rest[:n]...), at), rest[n:]
	}
	c.out.bytes = b
	d := departure{end: len(b), sent: c.op.counts.Sent, channel: c.number}
	if o.verb == verbPublish {
		c.quiet, c.loose = c.op.counts.Errors, true
		d.unconfirmed = c.op.counts.Unconfirmed
	}
	c.out.departs = append(c.out.departs, d)
}

// declare queues the methods of a declaration. The last one ends it.
func (c *Conn) declare(d *Declaration) {
	if d.Exchange != "" {
		use := useEnds
		if d.Of != DeclaresExchange {
			use = useStep
		}
		c.expect(exchangeDeclare, expected{of: exchangeDeclareOK, use: use}, []uint64{0, 0, bit(d.Durable), bit(d.AutoDelete), 0, 0}, d.Exchange, d.Type)
	}
	if d.Of == DeclaresExchange {
		return
	}
	use := useEnds
	if d.Of == DeclaresBound {
		use = useStep
	}
	queue := c.filled.texts[0]
	c.expect(queueDeclare, expected{of: queueDeclareOK, use: use}, []uint64{0, 0, bit(d.Durable), 0, bit(d.AutoDelete), 0}, queue, string(appendTable(nil, d.Arguments)))
	if d.Of == DeclaresBound { // an empty name is that of the queue that the channel has declared last
		c.expect(queueBind, expected{of: queueBindOK, use: useEnds}, []uint64{0, 0}, queue, d.Exchange, c.filled.texts[1])
	}
}

// Owes implements codec.Phased: a message waits for publishers to be unblocked.
func (l *line) Owes() bool { return l.op.waits }

// Send implements codec.Dialogue: a consumer sends nothing, and operations go by Operate.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return errReceives }

// Settle implements codec.Settler: it says what becomes of a message.
func (c *Conn) Settle(tag uint64, how codec.Settlement) error {
	switch {
	case c.role == roleConsumesAuto:
		return errAuto
	case !c.mayTalk():
		return errOver
	case how == codec.SettleAck:
		c.out.bytes = appendMethod(c.out.bytes, basicAck, []uint64{tag, 0})
	default:
		c.out.bytes = appendMethod(c.out.bytes, basicNack, []uint64{tag, 0, bit(how == codec.SettleRequeue)})
	}
	return nil
}

// Ping asks whether the server's channel is there: to let the server's messages flow, as they do, asks for
// an answer and changes nothing.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() && c.stands() {
		from := len(c.out.bytes)
		c.expect(channelFlow, expected{of: channelFlowOK, use: usePing, payload: payload}, []uint64{1})
		c.stamp(c.out.bytes[from:])
	}
}

// Leave ends a consumer: what the server has sent before it knows still comes. Of operations it ends the
// connection.
func (c *Conn) Leave(uint16, string) {
	if !c.mayTalk() {
		return
	}
	c.end = endLeft
	if c.role != roleOperates {
		c.expect(basicCancel, expected{of: basicCancelOK, use: useLeave}, nil, tag)
		return
	}
	c.out.bytes = appendGoodbye(c.out.bytes)
}

// Lingers implements codec.Lingering: RabbitMQ ends the channel of a connection that it finds closed, with the
// messages that the channel has not handed on.
func (c *Conn) Lingers() bool { return c.end == endLeft && c.broken == nil && c.told == nil }

// appendGoodbye appends the end of a connection.
func appendGoodbye(dst []byte) []byte {
	return appendMethod(dst, connectionClose, []uint64{codeGoodbye}, "bye")
}

// Forget implements codec.Named: it gives up the open operation, and asks whether the server is there if
// nothing has come since it was queued, unless that is blocked. A message that would be returned ends its connection, as a return
// names no message.
func (c *Conn) Forget() bool {
	if !c.mayTalk() || c.role != roleOperates || len(c.out.left())+len(c.in.held) > 0 || c.content.stage != stageNone {
		return false
	}
	if c.op.waits {
		c.op.waits, c.op.open = false, false
		return true
	}
	if c.op.open && c.op.of.message.Mandatory {
		return false
	}
	if c.channel.state == channelGone {
		return true
	}
	if len(c.channel.expects) > expectsMost {
		return false
	}
	doubted := slices.ContainsFunc(c.channel.expects, func(e expected) bool { return e.use == useLate || e.use == useDoubt })
	if c.op.open {
		c.giveUp()
	}
	switch {
	case c.in.heard, c.Pauses():
	case doubted:
		return false
	default:
		c.expect(channelFlow, expected{of: channelFlowOK, use: useDoubt}, []uint64{1})
	}
	c.in.heard = false
	return true
}

func (c *Conn) mayTalk() bool { return c.end == endNone && c.broken == nil && c.told == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool {
	return c.broken != nil || c.told != nil || c.end == endAgree
}

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out.left()) }

// Rest says that time has passed: frames from before it are no flood.
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
	case len(c.in.held) > 0 || c.content.stage != stageNone:
		return errCut
	case c.role != roleOperates && c.end == endNone:
		return errGone
	case c.op.open || c.op.waits || c.many != nil:
		return errSilent
	}
	return nil
}

// Release gives the connection's memory back. It cannot be used any more.
func (c *Conn) Release() {
	c.end = endAgree
	c.out, c.in, c.channels = outbox{}, intake{}, channels{}
	c.line = &c.own
}

// outbox holds a connection's outgoing bytes.
type outbox struct {
	bytes   []byte // queued, and not moved over since
	sent    int    // of bytes
	departs []departure
}

// departure is a message that counts when the bytes up to its end are gone.
type departure struct {
	end               int     // in bytes
	sent, unconfirmed *uint64 // nil: nothing counts it
	channel           uint16  // as lines number it
}

// left returns what is not written.
func (o *outbox) left() []byte { return o.bytes[o.sent:] }

// wrote notes that so many more bytes are gone.
func (o *outbox) wrote(n int) {
	o.sent += n
	at := 0
	for at < len(o.departs) && o.departs[at].end <= o.sent {
		for _, count := range [...]*uint64{o.departs[at].sent, o.departs[at].unconfirmed} {
			if count != nil {
				*count++
			}
		}
		at++
	}
	o.departs = slices.Delete(o.departs, 0, at)
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
