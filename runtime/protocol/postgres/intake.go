package postgres

import (
	"encoding/binary"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// intake is how far the server's bytes are cut into messages, and what of them is kept.
type intake struct {
	most    int64 // bytes of an operation's answer
	size    int64 // of the oldest operation's answer
	head    [headLength]byte
	had     int    // bytes of the head
	kind    byte   // of the message whose body comes; 0: a head comes
	left    int    // bytes of its body to come
	body    []byte // of the pool: what came of a body that is taken whole
	walk    walk   // of a row that is not read
	columns int    // of the rows under way; below 0: no row has told
	idle    int    // messages in a row that answered nothing
	table   *table // of the pool: the columns of rows that are read
	view    []byte // of the pool: the rows of the last result as JSON, without its end
}

const headLength = 5

// partial reports that a message has begun and is not whole.
func (t *intake) partial() bool { return t.had > 0 || t.kind != 0 }

// Feed takes the next bytes from the server. The listener may call every method but Feed and
// Release. After an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	for len(b) > 0 && c.broken == nil && !(c.spent && len(c.open) == 0) {
		n, err := c.step(b, on)
		if err != nil {
			c.broken = err
			c.quiet()
		}
		b = b[n:]
	}
	if c.broken != nil {
		return c.broken
	}
	return nil
}

// step takes some of the bytes and returns how many.
func (c *Conn) step(b []byte, on codec.Listener) (int, *http1.Error) {
	in := &c.in
	if in.kind != 0 {
		return c.takeBody(b, on)
	}
	n := copy(in.head[in.had:], b)
	if in.had == 0 {
		if err := c.judge(b[0]); err != nil {
			return 0, err
		}
	}
	if in.had += n; in.had < headLength {
		return n, nil
	}
	in.had = 0
	length := int64(binary.BigEndian.Uint32(in.head[1:])) - 4
	if err := c.grows(in.head[0], length); err != nil {
		return n, err
	}
	in.kind, in.left = in.head[0], int(length)
	in.walk = walk{}
	if in.left == 0 {
		_, err := c.takeBody(nil, on)
		return n, err
	}
	return n, nil
}

// judge judges a message by its first byte.
func (c *Conn) judge(kind byte) *http1.Error {
	switch kind {
	case 'N', 'S', 'A':
		if c.in.idle++; c.in.idle > idleMost {
			return errFlood
		}
		return nil
	case 'E':
		return nil
	}
	switch {
	case messageName(kind) == "":
		return breach("a message begins with %q, which is none of PostgreSQL's: is this a PostgreSQL server?", kind)
	case len(c.open) == 0:
		return errUnasked
	}
	return nil
}

// grows judges a message by its length.
func (c *Conn) grows(kind byte, length int64) *http1.Error {
	if length < 0 || length > 1<<31-1-4 {
		return breach("%s says that it has %d bytes", messageName(kind), length+4)
	}
	if kind == 'N' || kind == 'S' || kind == 'A' || len(c.open) == 0 {
		if length > asideMost {
			return errAside
		}
		return nil
	}
	switch kind {
	case 'D', 'd', 'T', 't', 'E':
	default:
		if length > asideMost { // another protocol, most likely: 'H' begins HTTP/1.1
			return breach("%s says that it has %d bytes: is this a PostgreSQL server?", messageName(kind), length+4)
		}
	}
	if c.in.size += headLength + length; c.in.size > c.in.most {
		return errLarge(c.in.most)
	}
	return nil
}

// takeBody takes bytes of a message's body.
func (c *Conn) takeBody(b []byte, on codec.Listener) (int, *http1.Error) {
	in := &c.in
	n := min(in.left, len(b))
	if in.kind == 'D' && !c.open[0].keeps {
		return n, c.passRow(b[:n])
	}
	if in.kind == 'd' && c.open[0].stage == stageGives && !c.open[0].keeps && n < in.left { // a copied row is not looked into
		in.left -= n
		return n, nil
	}
	if in.body == nil && n == in.left {
		kind := in.kind
		in.kind, in.left = 0, 0
		return n, c.onMessage(kind, b[:n], on)
	}
	if in.body == nil {
		in.body = c.pool.buffer()
	}
	in.body = append(in.body, b[:n]...)
	if in.left -= n; in.left > 0 {
		return n, nil
	}
	kind, body := in.kind, in.body
	in.kind, in.body = 0, nil
	err := c.onMessage(kind, body, on)
	c.pool.free(body)
	return n, err
}

// passRow takes bytes of a row that is not read.
func (c *Conn) passRow(b []byte) *http1.Error {
	in, a := &c.in, &c.open[0]
	if a.stage != stageRows && a.stage != stageText {
		return errOrder('D')
	}
	a.came, in.idle = max(a.came, cameSome), 0
	if err := in.walk.feed(in, b); err != nil {
		return err
	}
	if in.left -= len(b); in.left > 0 {
		return nil
	}
	in.kind = 0
	c.outcome.Rows++
	return in.walk.end()
}
