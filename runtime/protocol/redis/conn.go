package redis

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection behind its greeting. It is a dialogue whose messages
// are operations: Message comes once for each, when all of its answers are there or the server
// has answered with an error. Outcome then says how it ended.
type Conn struct {
	pool    *Pool
	most    int64 // bytes of an operation's answers
	out     outbox
	open    []asked // operations without all of their answers, the oldest first
	in      intake
	view    []byte // of the pool: the answers of the oldest one as JSON, if they are read
	outcome Outcome
	broken  *http1.Error // what ended the connection
	left    bool         // Leave or Release was called
	preparing
}

var _ codec.Phased = (*Conn)(nil)

// Order is what an operation is sent with.
type Order struct {
	Tag    uint64
	Values [][]byte // of its open arguments
	Keeps  bool     // its answers are read
	Sent   *uint64  // counts each command that the kernel takes; nil: nothing does
}

// asked is an operation that waits for answers.
type asked struct {
	tag     uint64
	of      *Operation // nil: commands that Send or Ping queued
	payload uint64     // of a ping
	total   int        // commands
	done    int        // of them have their answers
	keeps   bool
	list    bool
	ping    bool
}

// Outcome is how an operation ended.
type Outcome struct {
	Tag     uint64
	Answers int    // of its commands; errors are some
	Hits    uint64 // values that commands read
	Misses  uint64 // and those that were missing
	Err     error  // the first error among the answers, of the kind "server CODE"; nil: none
	Body    []byte // the answers as JSON, if they are read: a list unless it is one command
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Operate queues an operation.
func (c *Conn) Operate(o *Operation, with Order) error {
	if !c.mayTalk() {
		return errOver
	}
	start := len(c.out.bytes)
	if ready := o.ready(); ready != nil {
		c.out.lend(c.pool, ready)
	} else {
		c.out.bytes = o.Append(c.out.own(c.pool), with.Values)
	}
	c.ask(asked{tag: with.Tag, of: o, total: len(o.each), keeps: with.Keeps, list: o.list}, start, with.Sent)
	return nil
}

// ask notes an operation whose bytes are queued.
func (c *Conn) ask(a asked, start int, sent *uint64) {
	if sent != nil {
		c.out.departs = append(c.out.departs, departure{start, len(c.out.bytes), a.total, sent})
	}
	c.open = append(c.open, a)
	c.in.idle = 0
}

// Send queues whole commands, each as an array of texts, as one operation whose answers are read.
func (c *Conn) Send(_ codec.MessageKind, payload []byte, sent *uint64) error {
	if !c.mayTalk() {
		return errOver
	}
	n, rest := countCommands(payload)
	if n == 0 || len(rest) > 0 {
		return errCommands
	}
	start := len(c.out.bytes)
	c.out.bytes = append(c.out.own(c.pool), payload...)
	c.ask(asked{total: n, keeps: true, list: n > 1}, start, sent)
	return nil
}

// Ping asks whether the server is there.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() {
		start := len(c.out.bytes)
		c.out.bytes = append(c.out.own(c.pool), "*1\r\n$4\r\nPING\r\n"...)
		c.ask(asked{total: 1, payload: payload, ping: true}, start, nil)
	}
}

// Leave says goodbye: Redis needs none, and its command QUIT is deprecated. What is queued is
// still written, and what comes is still read.
func (c *Conn) Leave(uint16, string) { c.left = true }

func (c *Conn) mayTalk() bool { return !c.left && c.broken == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool { return c.broken != nil || c.left && len(c.open) == 0 }

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(c.pool, n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out.left()) }

// Open is how many operations wait for answers.
func (c *Conn) Open() int { return len(c.open) }

// Rest says that time has passed: pushes from before it are no flood.
func (c *Conn) Rest() { c.in.idle = 0 }

// End says what the end of the connection means for the operations that are open; nil: nothing.
func (c *Conn) End(err error) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !errors.Is(err, io.EOF):
		return err
	case len(c.open) == 0:
		return nil
	case c.in.partial() || c.open[0].done > 0:
		return errCut
	}
	return errSilent
}

// Release gives the memory of operations under way back. The connection cannot be used any more.
func (c *Conn) Release() {
	c.left = true
	c.out.drop(c.pool)
	c.quiet()
	c.open, c.in.stack = nil, nil
}

// quiet gives the memory of an answer back.
func (c *Conn) quiet() {
	c.pool.free(c.in.line)
	c.pool.free(c.in.text)
	c.pool.free(c.view)
	c.in.line, c.in.text, c.view = nil, nil, nil
}

// oldest is the operation that the next answer belongs to.
func (c *Conn) oldest() *asked { return &c.open[0] }

// failed notes an error that the server answered. The first one is the operation's.
func (c *Conn) failed(text []byte) {
	a := c.oldest()
	if c.outcome.Err != nil || a.ping {
		return
	}
	prefix, secret := "", ""
	if a.of != nil {
		secret = a.of.secret
		prefix = a.of.each[a.done].name + ": "
	}
	if a.total > 1 {
		prefix = "command " + strconv.Itoa(a.done+1) + " of " + strconv.Itoa(a.total) + ": " + prefix
	}
	c.outcome.Err = serverError(prefix, string(text), secret)
}

// reads is what the answer under way tells of hits.
func (c *Conn) reads() reads {
	if a := c.oldest(); a.of != nil && a.of.hits {
		return a.of.each[a.done].reads
	}
	return readsNothing
}

// answered notes that an answer is whole.
func (c *Conn) answered(on codec.Listener) {
	a := c.oldest()
	if a.done++; a.done < a.total {
		return
	}
	ended := *a
	if len(c.open) == 1 {
		c.open = c.open[:0]
	} else {
		c.open = slices.Delete(c.open, 0, 1)
	}
	if ended.keeps && ended.list {
		c.view = append(c.view, ']')
	}
	body := c.view
	c.view, c.in.size, c.in.idle = nil, 0, 0
	if cap(c.in.stack) > stackKept {
		c.in.stack = nil
	}
	if ended.ping {
		on.Pong(ended.payload)
		c.outcome = Outcome{}
		return
	}
	c.outcome.Tag, c.outcome.Answers, c.outcome.Body = ended.tag, ended.total, body
	on.Message(codec.MessageText, body)
	c.outcome = Outcome{}
	c.pool.free(body)
}
