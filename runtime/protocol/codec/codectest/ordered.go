package codectest

import (
	"errors"
	"io"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Ordered is HTTP/1.1, one request at a time on each connection.
type Ordered struct{}

var _ codec.Protocol = Ordered{}

// Compile takes a request's bytes as they are.
func (Ordered) Compile(op *codec.Operation, from *http1.Call) {
	*op = codec.Operation{Head: append(op.Head[:0], from.Bytes[:from.HeadLen]...), Body: from.Bytes[from.HeadLen:], Inserts: from.Inserts, NoBody: from.Method == "HEAD"}
}

// Begin returns a new connection.
func (Ordered) Begin(_ codec.Conn, common *http1.Common) codec.Conn {
	c := &conn{}
	c.parser.Share(common)
	return c
}

var errSpent = &http1.Error{Kind: http1.KindClosed, Detail: "the connection was closed before the response began"}

// conn is one connection.
type conn struct {
	parser http1.Parser
	out    []byte
	ended  uint32 // the operation that ended last
	id     uint32 // the one that is open; ended: none is
	tag    uint64
	count  *uint64 // nil: counted
	heard  int64   // bytes of the answer
	body   int64   // of its body
	wrote  uint64
	part   part
	ready  bool
	spent  bool // no operation can open
}

// part is how far an answer is.
type part uint8

const (
	partNone part = iota
	partHead
	partBody
)

func (c *conn) CanOpen() bool { return !c.spent && c.id == c.ended }
func (c *conn) Usable() bool  { return !c.spent }
func (c *conn) Ready() bool   { return c.ready }
func (c *conn) Ping(uint64)   {}

func (c *conn) Count() int {
	if c.id == c.ended {
		return 0
	}
	return 1
}

func (c *conn) Open(op *codec.Operation, tag uint64, sent *uint64) uint32 {
	if !c.CanOpen() {
		return 0
	}
	c.id++
	c.tag, c.count, c.part, c.heard, c.body, c.wrote = tag, sent, partNone, 0, 0, 0
	c.out = op.AppendBody(append(c.out, op.Head...), 0, op.BodyLen())
	c.parser.Reset("GET")
	if op.NoBody {
		c.parser.Reset("HEAD")
	}
	return c.id
}

func (c *conn) Output() []byte { return c.out }
func (c *conn) Sent(n int)     { c.out, c.wrote = c.out[n:], c.wrote+uint64(n) }

func (c *conn) Taken() {
	if len(c.out) == 0 && c.count != nil {
		*c.count++
		c.count = nil
	}
}

func (c *conn) Sending(id uint32) bool { return id == c.id && c.Count() > 0 && len(c.out) > 0 }

func (c *conn) AppendTags(dst []codec.Tagged) []codec.Tagged {
	if c.Count() > 0 {
		dst = append(dst, codec.Tagged{ID: c.id, Tag: c.tag})
	}
	return dst
}

func (c *conn) Bytes() (in, out uint64) { return uint64(c.heard - c.body), c.wrote }

// Cancel spends the connection: the late answer would be taken for another's.
func (c *conn) Cancel(id uint32) bool {
	if id != c.id || c.Count() == 0 {
		return false
	}
	c.ended, c.spent = c.id, true
	return true
}

func (c *conn) Feed(b []byte, on codec.Handler) error {
	if c.Count() == 0 {
		if len(b) == 0 || c.spent {
			return nil
		}
		c.spent = true
		return errSpent
	}
	if c.part == partNone && len(b) > 0 {
		c.part, c.ready = partHead, true
		if kept := on.Begins(c.tag); kept != nil {
			c.parser.Collect(kept)
		}
	}
	n, done, err := c.parser.Feed(b)
	c.heard += int64(n)
	c.tell(b, done, on)
	switch {
	case err != nil:
		c.fail(err, on)
		return err
	case done:
		c.ended, c.spent = c.id, c.spent || !c.parser.Reusable() || n < len(b) || len(c.out) > 0
		on.Done(c.tag)
	}
	return nil
}

// tell hands over what of the answer is new.
func (c *conn) tell(b []byte, done bool, on codec.Handler) {
	more := c.parser.BytesBody() - c.body
	if c.part == partHead && (done || more > 0) {
		c.part = partBody
		on.Head(c.tag, c.parser.Status())
	}
	if more > 0 {
		c.body += more
		on.Body(c.tag, b[int64(len(b))-min(more, int64(len(b))):])
	}
}

func (c *conn) fail(err error, on codec.Handler) {
	c.ended, c.spent = c.id, true
	on.Failed(c.tag, err)
}

func (c *conn) Close(err error, on codec.Handler) {
	open := c.Count() > 0
	c.spent = true
	if !open {
		return
	}
	if err == nil || errors.Is(err, io.EOF) {
		var done bool
		if done, err = c.parser.FinishEOF(); done {
			c.tell(nil, true, on)
			c.ended = c.id
			on.Done(c.tag)
			return
		}
	}
	c.fail(err, on)
}
