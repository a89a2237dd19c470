package ftp

import (
	"errors"
	"io"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/reply"
)

// Conn is the client's side of one control connection behind its greeting. It carries operations, one at a
// time. Message comes once for each that is over; Outcome then says how it ended.
type Conn struct {
	protocol *Protocol
	out      []byte
	sent     int // of out
	in       reply.Reader
	op       asked
	data     data
	outcome  Outcome
	broken   error // what ended it
	early    bool  // the reply that is read began before what it seems to answer was said
	end      ending
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
	endTold         // the server has said that it closes
	endLeft         // QUIT is said
	endAgree        // and answered, or was never to be said
)

var (
	_ codec.Branching = (*Conn)(nil)
	_ codec.Named     = (*Conn)(nil)
	_ codec.Learner   = (*Conn)(nil)
	_ codec.Sized     = (*Conn)(nil)
	_ codec.Lingering = (*Conn)(nil)
)

// Order is what an operation is sent with. Its values stay as they are until the operation is over.
type Order struct {
	Values [][]byte
	Keeps  bool // what it downloads is read
}

// step is what an operation waits for.
type step uint8

const (
	stepNone    step = iota
	stepEPSV         // the answer to EPSV
	stepPASV         // the answer to PASV
	stepConnect      // the data connection
	stepBegins       // 150, or the answer of a command without data
	stepRuns         // the data, and what the server says behind it
	stepRenames      // the answer to RNTO
)

// asked is the operation under way.
type asked struct {
	of      *Operation // nil: there is none
	with    Order
	command []byte // what is said once the data connection stands
	step    step
	said    int // the code of the last reply; 0: the transfer has none
	err     *http1.Error
	goes    bool // all of it is queued, and of an upload written
}

// Outcome is how an operation ended. Body is valid during Message.
type Outcome struct {
	Err   error // of the kind "server CODE", or what ended the data connection; nil: none
	Code  int   // of the reply that ended it; 0: none did
	Bytes uint64
	Up    bool   // they were uploaded
	Body  []byte // what was downloaded, if it is read
}

// Outcome is that of the operation that ended last.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Size implements codec.Sized: of what was downloaded.
func (c *Conn) Size() int64 {
	if c.outcome.Up {
		return 0
	}
	return int64(c.outcome.Bytes)
}

// Operate queues an operation. After an error nothing of it is queued, and the connection goes on.
func (c *Conn) Operate(o *Operation, with Order) error {
	if c.broken != nil || c.end != endNone || c.op.of != nil || c.pinged {
		return reply.ErrOver
	}
	if o.verb == verbRename { // both names are looked at before the first one goes out
		if _, err := appendCommand(nil, "RNTO", o.to, with.Values); err != nil {
			return err
		}
	}
	command, err := appendCommand(c.op.command[:0], o.verb.command(), o.path, with.Values)
	if err != nil {
		return err
	}
	c.op = asked{of: o, with: with, command: command}
	c.data = data{kept: c.data.kept[:0], limit: c.protocol.config.KeepMax}
	if !o.verb.transfers() {
		c.op.step, c.op.goes = stepBegins, o.verb != verbRename
		c.out = append(c.out, command...)
		return nil
	}
	c.passive()
	return nil
}

// passive asks for a port.
func (c *Conn) passive() {
	if c.protocol.passive {
		c.asksPASV()
	} else {
		c.op.step, c.out = stepEPSV, append(c.out, "EPSV\r\n"...)
	}
}

func (c *Conn) asksPASV() { c.op.step, c.out = stepPASV, append(c.out, "PASV\r\n"...) }

// Owes implements codec.Phased: some of the operation is not queued.
func (c *Conn) Owes() bool { return !c.op.goes }

// Learnt implements codec.Learner: the server has refused the operation before all of it went out.
func (c *Conn) Learnt() bool { return c.op.of == nil && !c.op.goes && len(c.Output()) == 0 }

// Send implements codec.Dialogue: operations go by Operate.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return reply.ErrSends }

// Ping asks whether the server is there, where no operation is under way.
func (c *Conn) Ping(payload uint64) {
	if c.broken == nil && c.end == endNone && c.op.of == nil && !c.pinged {
		c.ping = ping{payload, true}
		c.out = append(c.out, "NOOP\r\n"...)
	}
}

// Leave says goodbye, unless an operation is under way: then only closing both connections ends it.
func (c *Conn) Leave(uint16, string) {
	switch {
	case c.end >= endLeft:
	case c.op.of != nil || c.broken != nil || c.end == endTold:
		c.end = endAgree
		c.drop()
	default:
		c.out = append(c.out, "QUIT\r\n"...)
		c.end = endLeft
	}
}

// Lingers implements codec.Lingering.
func (c *Conn) Lingers() bool { return c.end == endLeft && c.broken == nil }

// Forget implements codec.Named: replies carry no name, so only closing the connection gives an operation up.
func (c *Conn) Forget() bool { return false }

// Over reports that the connection carries no further operation.
func (c *Conn) Over() bool { return c.broken != nil || c.end == endTold || c.end == endAgree }

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out[c.sent:] }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) {
	if c.sent += n; c.sent == len(c.out) {
		c.early = c.in.Partial()
		c.drop()
	}
}

// drop forgets what is not written.
func (c *Conn) drop() {
	if c.out, c.sent = c.out[:0], 0; cap(c.out) > bufferKept {
		c.out = nil
	}
}

const bufferKept = 512 // bytes of a buffer that an idle connection keeps

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.Output()) }

// Rest implements codec.Dialogue: a server that answers more than it is asked is cut off at once.
func (c *Conn) Rest() {}

// End says what the end of the control connection means.
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
	c.out, c.sent, c.op, c.data, c.in = nil, 0, asked{}, data{}, reply.Reader{}
}
