package smtp

import (
	"errors"
	"io"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// Conn is the client's side of one connection behind its greeting. It carries messages, one at a time. Message
// comes once for each operation that the server has answered; Outcome then says how it ended.
type Conn struct {
	protocol  *Protocol
	out       outbox
	in        reply.Reader
	op        asked
	ends      []int // of op, in memory that the next one takes
	outcome   Outcome
	broken    error // what ended it
	handed    int   // operations that are over
	end       ending
	pipelines bool
	stained   bool // a transaction is open that the next operation must reset
	ping
}

// ping is a question whether the server is there.
type ping struct {
	payload uint64
	pinged  bool // it has no answer
}

// ending is how far the connection is from its end.
type ending uint8

const (
	endNone  ending = iota
	endSpent        // it carries no further message, and QUIT is not said
	endTold         // the server has said that it closes
	endLeft         // QUIT is said
	endAgree        // and answered, or was never to be said
)

var (
	_ codec.Named     = (*Conn)(nil)
	_ codec.Learner   = (*Conn)(nil)
	_ codec.Lingering = (*Conn)(nil)
)

// Order is what an operation is sent with. Its values stay as they are until the operation is over.
type Order struct {
	Values [][]byte
	Keeps  bool   // its answer is read
	Date   []byte // of the message, as RFC 5322 writes it
	ID     []byte // what no other message is called
}

// asked is the operation under way.
type asked struct {
	of       *Operation // nil: there is none
	with     Order
	commands []byte       // MAIL, RCPT and DATA
	ends     []int        // of commands: where each ends
	message  text         // none: it is queued, or never will be
	err      *http1.Error // what the server refused first; nil: nothing
	code     int          // of err
	text     string       // of the reply that decides, if the answer is read
	refusals []byte       // as JSON, if its answer is read
	queued   int          // commands
	answered int          // commands
	accepted int          // recipients
	refused  int          // recipients
	state    progress
}

// progress is what of an operation is done.
type progress uint8

const (
	progressResets progress = 1 << iota // the answer to RSET comes first
	progressMailed                      // the server has taken the sender
	progressEnds                        // the answer to the end of the message is to come
	progressGoes                        // the message itself has gone into the outbox
)

func (a *asked) is(of progress) bool { return a.state&of != 0 }

// Outcome is how an operation ended. Body is valid during Message.
type Outcome struct {
	Err      error // of the kind "server CODE"; nil: the server has accepted the message
	Code     int   // of the reply that ended it
	Accepted uint64
	Refused  uint64 // recipients of each
	Body     []byte // the answer as JSON, if it is read
}

// Outcome is that of the operation that ended last.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Operate queues an operation. After an error nothing of it is queued, and the connection goes on.
func (c *Conn) Operate(o *Operation, with Order) error {
	if c.broken != nil || c.end != endNone || c.op.of != nil || c.pinged {
		return reply.ErrOver
	}
	pool := c.protocol.config.Pool
	message, err := o.appendMessage(pool.take(), &with)
	if err != nil {
		pool.free(message.bytes)
		return err
	}
	a := asked{of: o, with: with, message: message, commands: o.commands, ends: o.ends}
	if o.commands == nil {
		if a.commands, c.ends, err = o.appendCommands(pool.take(), c.ends[:0], with.Values); err != nil {
			pool.free(message.bytes)
			pool.free(a.commands)
			return err
		}
		a.ends = c.ends
	}
	c.op = a
	c.out.bytes = c.out.own(pool)
	if c.stained {
		c.out.bytes = append(c.out.bytes, "RSET\r\n"...)
		c.op.state |= progressResets
	}
	if !c.stained || c.pipelines {
		c.proceed()
	}
	return nil
}

// proceed queues the commands that may go out now: all of them, or the next one.
func (c *Conn) proceed() {
	a := &c.op
	from, to := 0, len(a.ends)
	if a.queued > 0 {
		from = a.ends[a.queued-1]
	}
	if !c.pipelines {
		to = a.queued + 1
	}
	c.out.bytes = append(c.out.own(c.protocol.config.Pool), a.commands[from:a.ends[to-1]]...)
	a.queued = to
}

// Owes implements codec.Phased: the message is not queued.
func (c *Conn) Owes() bool { return !c.op.is(progressGoes) }

// Learnt implements codec.Learner: the server has refused the operation before its message went out.
func (c *Conn) Learnt() bool {
	return c.op.of == nil && !c.op.is(progressGoes) && len(c.out.left()) == 0
}

// Send implements codec.Dialogue: messages go by Operate.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return reply.ErrSends }

// Ping asks whether the server is there, where no operation is under way.
func (c *Conn) Ping(payload uint64) {
	if c.broken == nil && c.end == endNone && c.op.of == nil && !c.pinged {
		c.ping = ping{payload, true}
		c.out.bytes = append(c.out.own(c.protocol.config.Pool), "NOOP\r\n"...)
	}
}

// Leave says goodbye, unless a message is under way: then what is left of it must not go out.
func (c *Conn) Leave(uint16, string) {
	switch {
	case c.end >= endLeft:
	case c.op.of != nil || c.broken != nil || c.end == endTold:
		c.withhold()
		c.end = endAgree
	default:
		c.out.bytes = append(c.out.own(c.protocol.config.Pool), "QUIT\r\n"...)
		c.end = endLeft
	}
}

// Lingers implements codec.Lingering.
func (c *Conn) Lingers() bool { return c.end == endLeft && c.broken == nil }

// Forget implements codec.Named: replies carry no name, so only closing the connection gives an operation up.
func (c *Conn) Forget() bool { return false }

// Over reports that the connection carries no further message.
func (c *Conn) Over() bool {
	return c.broken != nil || c.end == endSpent || c.end == endTold || c.end == endAgree
}

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(c.protocol.config.Pool, n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return c.out.unsent() }

// Rest implements codec.Dialogue: a server that answers more than it is asked is cut off at once.
func (c *Conn) Rest() {}

// End says what the end of the connection means.
func (c *Conn) End(err error) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !errors.Is(err, io.EOF):
		return err
	case c.in.Partial():
		return reply.ErrCut
	case c.op.of != nil || c.pinged:
		return reply.ErrSilent
	}
	return nil
}

// Release gives the connection's memory back. It cannot be used any more.
func (c *Conn) Release() {
	c.end = endAgree
	c.out.drop(c.protocol.config.Pool)
	c.clear()
	c.in, c.ends = reply.Reader{}, nil
}

// clear gives the memory of the operation under way back.
func (c *Conn) clear() {
	pool, a := c.protocol.config.Pool, &c.op
	pool.free(a.message.bytes)
	if a.of != nil && a.of.commands == nil {
		pool.free(a.commands)
	}
	state := a.state
	c.op = asked{state: state} // Owes and Learnt still ask what went out
}

// outbox holds a connection's outgoing bytes.
type outbox struct {
	text     // queued since all were gone last; no bytes: nothing is
	sent int // of bytes
	part int // sent of the file of the first cut, which stands at sent; it leaves the cuts when it is gone
}

// own returns the buffer, with memory of the pool.
func (o *outbox) own(p *Pool) []byte {
	if o.bytes == nil {
		o.bytes = p.take()
	}
	return o.bytes
}

// left returns what is to be written next; empty: all is gone.
func (o *outbox) left() []byte {
	if len(o.cuts) == 0 {
		return o.bytes[o.sent:]
	}
	if at := o.from + o.cuts[0].at; o.sent < at {
		return o.bytes[o.sent:at]
	}
	return o.cuts[0].file.from(o.part)
}

// unsent is how many bytes are not written.
func (o *outbox) unsent() int {
	n := len(o.bytes) - o.sent - o.part
	for _, c := range o.cuts {
		n += c.file.size
	}
	return n
}

// wrote notes that so many more bytes of left are gone.
func (o *outbox) wrote(p *Pool, n int) {
	switch {
	case len(o.cuts) == 0 || o.sent < o.from+o.cuts[0].at:
		o.sent += n
	default:
		if o.part += n; o.part == o.cuts[0].file.size {
			o.cuts, o.part = o.cuts[1:], 0
		}
	}
	if o.sent == len(o.bytes) && len(o.cuts) == 0 {
		o.drop(p)
	}
}

func (o *outbox) drop(p *Pool) {
	p.free(o.bytes)
	*o = outbox{}
}
