package mysql

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection behind its greeting. It is a dialogue whose messages
// are operations, one at a time: Message comes once for each, when the server has done with all of
// it. Outcome then says how it ended.
type Conn struct {
	pool    *Pool
	out     outbox
	in      intake
	known   []prepared // statements that the server keeps, the oldest first
	op      asked
	active  bool      // an operation waits for its answer
	awaits  []command // that are queued, in order
	at      int       // of awaits: the one that is answered
	outcome Outcome
	broken  *http1.Error // what ended the connection
	left    bool         // Leave or Release was called
	spent   bool         // the server ends it
	transaction
}

var (
	_ codec.Phased        = (*Conn)(nil)
	_ codec.Transactional = (*Conn)(nil)
)

// Order is what an operation is sent with.
type Order struct {
	Tag    uint64
	Values [][]byte // of its open arguments
	Keeps  bool     // its rows are read
}

// asked is the operation that waits for its answer.
type asked struct {
	tag     uint64
	of      *Operation // nil: a ping
	payload uint64     // of a ping
	values  [][]byte   // copies, in text, unless all of it is queued at once
	text    []byte     // of the pool
	handles []handle   // of its statements
	phase   phase
	stands  int  // the statement that is under way
	keeps   bool // its rows are read
	began   bool // some of its answer has come
	wrong   bool // a statement failed
}

// hold copies the values for the parts that are queued later: others may change them meanwhile.
func (a *asked) hold(p *Pool, values [][]byte) {
	if len(values) == 0 {
		return
	}
	text := p.buffer()
	for _, v := range values {
		text = append(text, v...)
	}
	a.text = text
	for _, v := range values {
		a.values = append(a.values, text[:len(v)])
		text = text[len(v):]
	}
}

// handle is a prepared statement of the operation under way.
type handle struct {
	number uint32
	ready  bool // the server has prepared it
}

// prepared is a statement that the server keeps.
type prepared struct {
	id     uint64 // of its text
	number uint32
	params uint16
}

// phase is what of an operation is queued. The next phase is queued when the last one is answered.
type phase uint8

const (
	phaseBegin   phase = iota // the beginning of a transaction
	phaseEach                 // a statement
	phasePrepare              // what prepares it
	phaseLast                 // all of it
)

// command is a command whose answer is awaited.
type command struct {
	kind    commandKind
	of      int  // statement
	packets byte // that it has: the answer's numbers go on behind theirs
}

type commandKind uint8

const (
	awaitPrepared  commandKind = iota
	awaitRows                  // of a text
	awaitRowsTyped             // of a prepared statement
	awaitOK                    // of a transaction's beginning or end, or a ping
)

// Outcome is how an operation ended.
type Outcome struct {
	Tag      uint64
	Rows     uint64 // of all its results
	Affected uint64 // rows that its statements inserted, changed or deleted
	Err      error  // the first error, of the kind "server NUMBER"; nil: none
	Body     []byte // the rows of the last result as JSON, if they are read: a list of objects
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Operate queues an operation, or the first part of it: see Owes. One is under way at a time.
func (c *Conn) Operate(o *Operation, with Order) error {
	if !c.mayTalk() {
		return errOver
	}
	c.start(asked{tag: with.Tag, of: o, keeps: with.Keeps, handles: c.op.handles[:0], values: c.op.values[:0]})
	c.op.phase = phaseEach
	ready := true
	for k := range o.each {
		if o.mode == ModeSimple {
			break
		}
		h := c.find(k)
		c.op.handles = append(c.op.handles, h)
		ready = ready && h.number != 0
	}
	switch {
	case o.whole && c.outcome.Err == nil:
		c.op.hold(c.pool, with.Values)
		c.op.phase = phaseBegin
		c.say("START TRANSACTION")
	case o.whole: // a statement does not fit its arguments
	case ready:
		c.op.phase = phaseLast
		for k := range o.each {
			c.use(k, with.Values)
		}
	default:
		c.op.hold(c.pool, with.Values)
		c.next()
	}
	if len(c.awaits) > 0 {
		c.in.number = c.awaits[0].packets
		return nil
	}
	err := c.outcome.Err // no statement fits its arguments
	c.outcome, c.active = Outcome{}, false
	c.quiet()
	return err
}

// start begins an operation whose answer comes next.
func (c *Conn) start(a asked) {
	c.op, c.active = a, true
	c.awaits, c.at = c.awaits[:0], 0
	c.in.size = 0
	c.in.next()
}

// find returns what the server knows a statement by; number 0: it does not.
func (c *Conn) find(k int) handle {
	if c.op.of.mode != ModePrepared {
		return handle{}
	}
	for i := range c.known {
		if c.known[i].id == c.op.of.each[k].id {
			return handle{c.known[i].number, c.fits(k, int(c.known[i].params))}
		}
	}
	return handle{}
}

// fits compares the arguments of a statement with those that the server wants.
func (c *Conn) fits(k, wants int) bool {
	if has := len(c.op.of.each[k].args); has != wants {
		c.failed(k, &http1.Error{Kind: http1.KindValue, Detail: "the statement has " + strconv.Itoa(wants) + " question marks, and " + strconv.Itoa(has) + " arguments are given: give each one value"})
		return false
	}
	return true
}

// use queues a statement, unless the server has not prepared it.
func (c *Conn) use(k int, values [][]byte) {
	o := c.op.of
	if o.mode == ModeSimple {
		c.out.bytes = append(c.out.own(c.pool), o.each[k].ask...)
		c.awaits = append(c.awaits, command{awaitRows, k, packetsOf(len(o.each[k].ask))})
		return
	}
	if h := c.op.handles[k]; h.ready {
		b := c.out.own(c.pool)
		before := len(b)
		c.out.bytes = o.each[k].appendUse(b, h.number, values)
		c.awaits = append(c.awaits, command{awaitRowsTyped, k, packetsOf(len(c.out.bytes) - before)})
	}
}

// say queues a text whose answer is an OK.
func (c *Conn) say(text string) {
	c.out.bytes = appendCommand(c.out.own(c.pool), commandQuery, text)
	c.awaits = append(c.awaits, command{kind: awaitOK, packets: 1})
}

// packetsOf is how many packets a command has that takes so many bytes with their heads.
func packetsOf(n int) byte { return byte(n/(packetMost+headLength) + 1) }

// next queues the next statement of the operation, or what prepares it, or the end of the
// transaction.
func (c *Conn) next() {
	a := &c.op
	for ; a.stands < len(a.of.each) && !(a.of.whole && a.wrong); a.stands++ {
		if a.of.mode != ModeSimple {
			h := &a.handles[a.stands]
			if h.number == 0 {
				*h = c.find(a.stands) // another one of the same text has prepared it
			}
			if h.number == 0 {
				c.out.bytes = append(c.out.own(c.pool), a.of.each[a.stands].ask...)
				c.awaits = append(c.awaits, command{awaitPrepared, a.stands, packetsOf(len(a.of.each[a.stands].ask))})
				a.phase = phasePrepare
				return
			}
			if !h.ready {
				continue
			}
		}
		if !a.of.whole && a.stands == len(a.of.each)-1 {
			a.phase = phaseLast
		}
		c.use(a.stands, a.values)
		return
	}
	a.phase = phaseLast
	switch {
	case a.of.whole && a.wrong:
		c.say("ROLLBACK")
	case a.of.whole:
		c.say("COMMIT")
	}
}

// advance queues the next part of the operation, whose parts so far are answered, or ends it.
func (c *Conn) advance(on codec.Listener) {
	a := &c.op
	switch {
	case c.left || a.of == nil || a.phase == phaseLast:
	case a.phase == phaseBegin && c.outcome.Err == nil:
		a.phase = phaseEach
		c.next()
	case a.phase == phasePrepare && a.handles[a.stands].number != 0:
		a.phase = phaseEach
		c.next()
	case a.phase != phaseBegin:
		a.phase = phaseEach
		a.stands++
		c.next()
	}
	if len(c.awaits) == 0 {
		c.answered(on)
		return
	}
	c.in.number = c.awaits[0].packets
}

// Owes implements codec.Phased.
func (c *Conn) Owes() bool { return c.active && c.op.of != nil && c.op.phase != phaseLast }

// Send refuses: a statement is an operation.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return errSend }

// Ping asks whether the server is there, unless an operation is under way: its answer says so.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() {
		c.start(asked{payload: payload, handles: c.op.handles[:0], values: c.op.values[:0]})
		c.out.bytes = appendCommand(c.out.own(c.pool), commandPing, "")
		c.awaits = append(c.awaits, command{kind: awaitOK, packets: 1})
	}
}

// Leave says goodbye. What is queued is still written, and what comes is still read.
func (c *Conn) Leave(uint16, string) {
	if !c.left && !c.spent && c.broken == nil {
		b := c.out.own(c.pool)
		if c.InTransaction() && !c.active {
			b = appendCommand(b, commandQuery, "ROLLBACK") // its answer is not awaited
		}
		c.out.bytes = appendCommand(b, commandQuit, "")
	}
	c.left = true
}

// transaction is what the server says of one.
type transaction struct {
	status uint16 // as the last answer says it
}

// InTransaction implements codec.Transactional. An error says nothing of it: a deadlock, which ends the
// transaction, is known by its number.
func (t *transaction) InTransaction() bool { return t.status&statusTransaction != 0 }

func (c *Conn) mayTalk() bool { return !c.left && !c.spent && c.broken == nil && !c.active }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool { return c.broken != nil || c.spent || c.left && !c.active }

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out.left() }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) { c.out.wrote(c.pool, n) }

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out.left()) }

// Rest implements codec.Dialogue: results without rows are counted for each operation.
func (c *Conn) Rest() {}

// End says what the end of the connection means for the operation that is under way; nil: nothing.
func (c *Conn) End(err error) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !errors.Is(err, io.EOF):
		return err
	case !c.active:
		return nil
	case c.op.began || c.in.partial():
		return errCut
	}
	return errSilent
}

// Release gives the memory of an operation under way back. The connection cannot be used any more.
func (c *Conn) Release() {
	c.left = true
	c.out.drop(c.pool)
	c.quiet()
	c.op, c.active = asked{}, false
	c.known, c.awaits = nil, nil
}

// quiet gives the memory of an answer back.
func (c *Conn) quiet() {
	c.pool.free(c.in.body)
	c.pool.free(c.in.view)
	c.pool.free(c.op.text)
	c.pool.freeTable(c.in.table)
	c.in.body, c.in.view, c.in.table, c.op.text = nil, nil, nil, nil
}

// failed notes an error of a statement. The first one is the operation's.
func (c *Conn) failed(k int, err *http1.Error) {
	c.op.wrong = true
	if c.outcome.Err != nil || c.op.of == nil {
		return
	}
	if n := len(c.op.of.each); n > 1 && k >= 0 {
		err.Detail = "statement " + strconv.Itoa(k+1) + " of " + strconv.Itoa(n) + ": " + err.Detail
	}
	c.outcome.Err = err
}

// answered ends the operation.
func (c *Conn) answered(on codec.Listener) {
	a, in := &c.op, &c.in
	body := in.view
	switch {
	case !a.keeps:
	case body == nil:
		body = append(c.pool.buffer(), "[]"...)
	default:
		body = append(body, ']')
	}
	in.view = nil
	if a.of != nil && a.of.whole && c.InTransaction() { // its end failed: what the server does with it is not known
		c.spent, c.status = true, c.status&^statusTransaction
	}
	c.tidy()
	c.quiet()
	if c.active = false; cap(c.awaits) > awaitsKept {
		c.awaits, a.handles = nil, nil
	}
	if a.of == nil {
		c.outcome = Outcome{}
		on.Pong(a.payload)
		return
	}
	a.of = nil
	c.outcome.Tag, c.outcome.Body = a.tag, body
	on.Message(codec.MessageText, body)
	c.outcome = Outcome{}
	c.pool.free(body)
}

const awaitsKept = 64 // of a batch, in the memory of an idle connection

// tidy makes the server forget statements that are not used again, or that are too many.
func (c *Conn) tidy() {
	if c.spent || c.left || c.op.of == nil {
		return
	}
	if c.op.of.mode == ModeUnnamed {
		for _, h := range c.op.handles {
			if h.number != 0 {
				c.out.bytes = appendClose(c.out.own(c.pool), h.number)
			}
		}
	}
	for n := len(c.known) - preparedMost; n > 0; n-- {
		c.out.bytes = appendClose(c.out.own(c.pool), c.known[0].number)
		c.known = slices.Delete(c.known, 0, 1)
	}
}
