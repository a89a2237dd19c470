package mongodb

import (
	"encoding/binary"
	"errors"
	"io"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Conn is the client's side of one connection behind its greeting. It carries operations, one at a time.
// Message comes once for each, when the server has done with all of it. Outcome then says how it ended.
type Conn struct {
	pool    *Pool
	most    int64  // bytes of an operation's answers
	object  int    // bytes of a command that the server takes
	out     []byte // of the pool
	sent    int    // of out
	count   *uint64
	held    []byte // of the pool: a message that is not whole
	number  int32  // of the message that was queued last
	asked   asked
	view    []byte // of the pool: the answer as JSON, if it is read
	outcome Outcome
	broken  *http1.Error
	left    bool
}

// asked is the operation under way.
type asked struct {
	of      *Operation // nil: there is none, or it is a ping
	stage   stage
	keeps   bool
	payload uint64 // of a ping
	size    int64  // of its answers up to now
	empty   int    // batches in a row that had no document
}

// stage is what the server answers next.
type stage uint8

const (
	stageNone stage = iota
	stagePing
	stageFirst // the operation
	stageMore  // getMore
	stageKill  // killCursors
)

var _ codec.Dialogue = (*Conn)(nil)

// Order is what an operation is sent with.
type Order struct {
	Values [][]byte
	Keeps  bool    // its answer is read
	Sent   *uint64 // counts the operation when the kernel has it; nil: nothing does
}

// Outcome is how an operation ended.
type Outcome struct {
	Documents uint64 // that it read
	Batches   uint64 // that they came in
	Affected  uint64 // documents that it inserted, changed or deleted
	Err       error  // of the kind "server CODE"; nil: none
}

// Outcome is that of the operation that ended last. It is valid during Message.
func (c *Conn) Outcome() *Outcome { return &c.outcome }

// Operate queues an operation. After an error nothing of it is queued, and the connection goes on.
func (c *Conn) Operate(o *Operation, with Order) error {
	switch {
	case !c.mayTalk():
		return errOver
	case c.asked.stage != stageNone:
		return errBusy
	}
	b := beginFrame(c.pool.take(), c.number+1)
	b, err := o.of.Append(b, with.Values)
	if err != nil {
		c.pool.free(b)
		return &http1.Error{Kind: http1.KindValue, Detail: err.Error()}
	}
	if size := len(b) - bodyAt; size > c.object {
		c.pool.free(b)
		return errObject(size, c.object)
	}
	c.queues(b)
	c.count = with.Sent
	c.asked = asked{of: o, stage: stageFirst, keeps: with.Keeps}
	c.outcome = Outcome{}
	return nil
}

// queues queues a message: what went before it is written, and answered.
func (c *Conn) queues(b []byte) {
	c.number++
	endFrame(b, 0)
	c.pool.free(c.out)
	c.out, c.sent = b, 0
}

// Ping asks whether the server is there.
func (c *Conn) Ping(payload uint64) {
	if c.mayTalk() && c.asked.stage == stageNone {
		c.queues(append(beginFrame(c.pool.take(), c.number+1), pings...))
		c.asked = asked{stage: stagePing, payload: payload}
	}
}

// pings is {"ping": 1, "$db": "admin"}.
var pings = []byte("\x1e\x00\x00\x00\x10ping\x00\x01\x00\x00\x00\x02$db\x00\x06\x00\x00\x00admin\x00\x00")

// asksMore queues getMore for a cursor.
func (c *Conn) asksMore(id int64, namespace []byte) {
	b := beginFrame(c.pool.take(), c.number+1)
	b = append(b, 0, 0, 0, 0)
	b = append(append(b, byte(bson.Long)), "getMore\x00"...)
	b = binary.LittleEndian.AppendUint64(b, uint64(id))
	database, collection := cutNamespace(namespace)
	b = appendTextField(b, "collection", collection)
	if n := c.asked.of.cursor.Batch; n > 0 {
		b = append(append(b, byte(bson.Int)), "batchSize\x00"...)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	c.ends(b, database)
	c.asked.stage = stageMore
}

// kills queues killCursors for a cursor.
func (c *Conn) kills(id int64, namespace []byte) {
	b := beginFrame(c.pool.take(), c.number+1)
	b = append(b, 0, 0, 0, 0)
	database, collection := cutNamespace(namespace)
	b = appendTextField(b, "killCursors", collection)
	b = append(append(b, byte(bson.Array)), "cursors\x00\x10\x00\x00\x00\x120\x00"...)
	b = append(binary.LittleEndian.AppendUint64(b, uint64(id)), 0)
	c.ends(b, database)
	c.asked.stage = stageKill
}

// ends ends a command of the codec's own, and queues it.
func (c *Conn) ends(b, database []byte) {
	b = append(appendTextField(b, "$db", database), 0)
	binary.LittleEndian.PutUint32(b[bodyAt:], uint32(len(b)-bodyAt))
	c.queues(b)
}

func appendTextField(b []byte, name string, text []byte) []byte {
	b = append(append(append(b, byte(bson.Text)), name...), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)+1))
	return append(append(b, text...), 0)
}

// Send implements codec.Dialogue: operations go by Operate.
func (c *Conn) Send(codec.MessageKind, []byte, *uint64) error { return errOperations }

// Leave ends the connection: MongoDB needs no goodbye.
func (c *Conn) Leave(uint16, string) { c.left = true }

func (c *Conn) mayTalk() bool { return !c.left && c.broken == nil }

// Over reports that the connection may be closed.
func (c *Conn) Over() bool { return c.broken != nil || c.left && c.asked.stage == stageNone }

// Output returns what to write next.
func (c *Conn) Output() []byte { return c.out[c.sent:] }

// Sent notes that so many bytes of the output are written.
func (c *Conn) Sent(n int) {
	if c.sent += n; c.sent < len(c.out) || n == 0 {
		return
	}
	c.pool.free(c.out)
	c.out, c.sent = nil, 0
	if c.count != nil {
		*c.count++
		c.count = nil
	}
}

// Unsent is how many bytes are not written.
func (c *Conn) Unsent() int { return len(c.out) - c.sent }

// Rest does nothing: each answer has been asked for, so none is a flood.
func (c *Conn) Rest() {}

// End says what the end of the connection means.
func (c *Conn) End(err error) error {
	switch {
	case c.broken != nil:
		return c.broken
	case !errors.Is(err, io.EOF):
		return err
	case len(c.held) > 0 || c.asked.stage > stageFirst:
		return errCut
	case c.asked.stage != stageNone:
		return errSilent
	}
	return nil
}

// Release gives the connection's memory back. It cannot be used any more.
func (c *Conn) Release() {
	c.left = true
	c.pool.free(c.out)
	c.pool.free(c.held)
	c.pool.free(c.view)
	c.out, c.sent, c.held, c.view = nil, 0, nil, nil
	c.asked = asked{}
}
