package postgres

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection behind its greeting. It is a dialogue whose messages
// are operations: Message comes once for each, when the server has done with all of it. Outcome
// then says how it ended.
type Conn struct {
	pool    *Pool
	out     outbox
	open    []asked // operations without all of their answer, the oldest first
	in      intake
	known   []uint64 // statements that are prepared, or will be by what is queued
	fresh   []parsed // those of them that the server has not acknowledged, in order
	queued  uint64   // statements, since the connection began
	outcome Outcome
	broken  *http1.Error // what ended the connection
	left    bool         // Leave or Release was called
	spent   bool         // the server ends it, or it cannot be used any more
	transaction
	backend
}

var (
	_ codec.Transactional = (*Conn)(nil)
	_ codec.Cancellable   = (*Conn)(nil)
)

// Order is what an operation is sent with.
type Order struct {
	Tag    uint64
	Values [][]byte // of its open arguments
	Keeps  bool     // its rows are read
	Sent   *uint64  // counts the operation when the kernel has it; nil: nothing does
}

// asked is an operation that waits for its answer.
type asked struct {
	tag     uint64
	of      *Operation // nil: a text that Send queued, or a ping
	payload uint64     // of a ping
	first   uint64     // the number of its first statement on the connection
	at      int        // the statement that is answered
	stage   stage
	keeps   bool
	ping    bool
	came    progress
}

// progress is how much of an answer has come.
type progress uint8

const (
	cameNothing progress = iota
	cameSome
	cameEnd // of the statement at hand, or of a text: an end or an error
)

// parsed is a statement whose preparation is under way.
type parsed struct {
	number uint64 // of the statement on the connection
	id     uint64
	closes uint64 // the statement that makes room for it; 0: none
}

// Outcome is how an operation ended.
type Outcome struct {
	Tag      uint64
	Rows     uint64 // of all its results
	Affected uint64 // rows that its statements inserted, updated, deleted or merged
	Err      error  // the first error, of the kind "server SQLSTATE"; nil: none
	Body     []byte // the rows of the last result as JSON, if they are read: a list of objects
	Undone   bool   // a statement has rolled a transaction back, whatever it asked for
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Operate queues an operation. One that is queued before the preparation of its statement, by another
// one, has failed fails with it.
func (c *Conn) Operate(o *Operation, with Order) error {
	if !c.mayTalk() {
		return errOver
	}
	for _, v := range with.Values {
		if bytes.IndexByte(v, 0) >= 0 {
			return errNUL
		}
	}
	a := asked{tag: with.Tag, of: o, keeps: with.Keeps, first: c.queued}
	variant := 0
	if with.Keeps {
		variant = 1
	}
	if ready := o.ready[variant]; ready != nil && c.prepares(o) == 0 {
		c.out.lend(c.pool, ready)
	} else {
		b := c.out.own(c.pool)
		for k := range o.each {
			if b = c.appendParse(b, o, k); o.mode == ModeSimple {
				continue
			}
			b = o.appendUse(b, k, with.Values, with.Keeps)
		}
		c.out.bytes = b
	}
	c.queued += uint64(len(o.each))
	c.ask(a, with.Sent)
	return nil
}

// prepares counts the statements of an operation that the connection has to prepare.
func (c *Conn) prepares(o *Operation) (n int) {
	if o.mode != ModePrepared {
		return 0
	}
	for k := range o.each {
		if !slices.Contains(c.known, o.each[k].id) {
			n++
		}
	}
	return n
}

// appendParse appends the preparation of a statement, if it needs one.
func (c *Conn) appendParse(dst []byte, o *Operation, k int) []byte {
	s := &o.each[k]
	if o.mode == ModeUnnamed {
		return append(dst, s.parse...)
	}
	if slices.Contains(c.known, s.id) {
		return dst
	}
	p := parsed{number: c.queued + uint64(k), id: s.id}
	if len(c.known) == preparedMost {
		p.closes = c.known[0]
		c.known = slices.Delete(c.known, 0, 1)
		dst = appendClose(dst, p.closes)
	}
	c.known, c.fresh = append(c.known, s.id), append(c.fresh, p)
	return append(dst, s.parse...)
}

// ask notes an operation whose bytes are queued.
func (c *Conn) ask(a asked, sent *uint64) {
	c.out.counts(sent)
	if a.stage == stageNone {
		c.begin(&a)
	}
	c.open = append(c.open, a)
	c.in.idle = 0
}

// Send queues a text as one simple operation whose rows are read.
func (c *Conn) Send(_ codec.MessageKind, payload []byte, sent *uint64) error {
	switch {
	case !c.mayTalk():
		return errOver
	case bytes.IndexByte(payload, 0) >= 0:
		return errNUL
	}
	c.out.bytes = appendMessage(c.out.own(c.pool), 'Q', string(payload)+"\x00")
	c.ask(asked{keeps: true, stage: stageSimple}, sent)
	return nil
}

// Ping asks whether the server is there.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() {
		c.out.bytes = append(c.out.own(c.pool), syncs...)
		c.ask(asked{payload: payload, ping: true, stage: stageSync}, nil)
	}
}

// Leave says goodbye. What is queued is still written, and what comes is still read.
func (c *Conn) Leave(uint16, string) {
	if c.mayTalk() {
		b := c.out.own(c.pool)
		if c.InTransaction() && len(c.open) == 0 {
			b = append(b, undoes...)
		}
		c.out.bytes = append(b, leaves...)
	}
	c.left = true
}

// undoes rolls a transaction back, and its answer is not awaited.
var undoes = appendMessage(nil, 'Q', "ROLLBACK\x00")

// backend names the server's end of a connection.
type backend struct {
	key    [keyLength]byte // its process, and a secret
	has    bool            // the server has told it, and Cancel may use it
	direct bool            // TLS begins at once
}

const keyLength = 8

// Cancel implements codec.Cancellable.
func (b *backend) Cancel() codec.Cancel {
	if !b.has {
		return codec.Cancel{}
	}
	c := codec.Cancel{AskTLS: asksTLS, Agrees: agreesTLS, Request: append([]byte("\x00\x00\x00\x10\x04\xd2\x16\x2e"), b.key[:]...)}
	if b.direct {
		c.AskTLS = nil
	}
	return c
}

// transaction is what the server says of one.
type transaction struct {
	status byte // as ReadyForQuery said it last; 0: it has not
}

// InTransaction implements codec.Transactional.
func (t *transaction) InTransaction() bool { return t.status == 'T' || t.status == 'E' }

func (c *Conn) mayTalk() bool { return !c.left && !c.spent && c.broken == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool { return c.broken != nil || c.spent || c.left && len(c.open) == 0 }

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(c.pool, n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out.left()) }

// Open is how many operations wait for answers.
func (c *Conn) Open() int { return len(c.open) }

// Rest says that time has passed: notices from before it are no flood.
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
	case c.in.partial() || c.open[0].came > cameNothing:
		return errCut
	}
	return errSilent
}

// Release gives the memory of operations under way back. The connection cannot be used any more.
func (c *Conn) Release() {
	c.left = true
	c.out.drop(c.pool)
	c.quiet()
	c.open, c.known, c.fresh = nil, nil, nil
}

// quiet gives the memory of an answer back.
func (c *Conn) quiet() {
	c.pool.free(c.in.body)
	c.pool.free(c.in.view)
	c.pool.freeTable(c.in.table)
	c.in.body, c.in.view, c.in.table = nil, nil, nil
}

// failed notes an error that the server told. The first one is the operation's.
func (c *Conn) failed(t *told) {
	a := &c.open[0]
	if c.outcome.Err != nil || a.ping {
		return
	}
	prefix := ""
	if a.of != nil && len(a.of.each) > 1 && a.stage != stageSimple {
		prefix = "statement " + strconv.Itoa(a.at+1) + " of " + strconv.Itoa(len(a.of.each)) + ": "
	}
	c.outcome.Err = t.fault(prefix)
}

// answered ends the oldest operation.
func (c *Conn) answered(on codec.Listener) {
	ended := c.open[0]
	c.open = slices.Delete(c.open, 0, 1)
	in := &c.in
	body := in.view
	switch {
	case !ended.keeps, body != nil && ended.of != nil && ended.of.gives:
	case body == nil && ended.of != nil && ended.of.gives:
		body = c.pool.buffer()
	case body == nil:
		body = append(c.pool.buffer(), "[]"...)
	default:
		body = append(body, ']')
	}
	c.pool.freeTable(in.table)
	in.view, in.table, in.size, in.idle = nil, nil, 0, 0
	if len(c.open) > 0 {
		c.begin(&c.open[0]) // what it prepares is known now
	}
	if ended.ping {
		on.Pong(ended.payload)
		c.outcome = Outcome{}
		return
	}
	c.outcome.Tag, c.outcome.Body = ended.tag, body
	on.Message(codec.MessageText, body)
	c.outcome = Outcome{}
	c.pool.free(body)
}
