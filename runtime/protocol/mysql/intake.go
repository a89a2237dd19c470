package mysql

import (
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// intake is how far the server's bytes are cut into packets, and what of them is kept.
type intake struct {
	packet
	most  int64  // bytes of an operation's answer
	size  int64  // of the answer so far
	brief bool   // no packet ends a description
	body  []byte // of the pool: what came of a payload that is taken whole
	walk  walk   // of a row

	stage   stage
	count   int // of descriptions to come
	columns int // of the statement that is prepared
	results int // in a row without a row
	table   *table
	view    []byte // of the pool: the rows of the last result as JSON, without its end
}

// packet is how far a packet has come.
type packet struct {
	head   [headLength]byte
	had    int  // bytes of the head
	left   int  // bytes of the payload to come
	length int  // of the first packet of the payload
	number byte // of the next packet
	state  packetState
}

// packetState says several things at once.
type packetState uint8

const (
	packetOpen  packetState = 1 << iota // a payload comes
	packetLong                          // it goes on in the next packet
	packetGoes                          // it has begun in an earlier one
	packetFresh                         // none of it has come
	packetLone                          // its number is that of an error that answers nothing
	packetRow                           // it is a row that is not read
)

func (p *packet) is(of packetState) bool { return p.state&of != 0 }

// begins notes a packet whose head is whole.
func (p *packet) begins(length int) {
	p.had, p.left = 0, length
	if p.state |= packetOpen; !p.is(packetGoes) {
		p.state = p.state&packetLone | packetOpen | packetFresh
		p.length = length
	}
	if length == packetMost {
		p.state |= packetLong
	} else {
		p.state &^= packetLong
	}
}

// ends notes the end of a packet, and reports whether its payload is whole.
func (p *packet) ends() bool {
	if p.state &^= packetOpen | packetGoes; p.is(packetLong) {
		p.state |= packetGoes
		return false
	}
	return true
}

// next expects the answer of the next command.
func (t *intake) next() { t.number, t.stage, t.results = 1, stageFirst, 0 }

// partial reports that a packet has begun and is not whole.
func (t *intake) partial() bool { return t.had > 0 || t.is(packetOpen|packetGoes) }

// Feed takes the next bytes from the server. The listener may call every method but Feed, Operate and
// Release. After an error the connection can only be closed.
func (c *Conn) Feed(b []byte, on codec.Listener) error {
	for len(b) > 0 && c.broken == nil && !(c.spent && !c.active) {
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
	if in.is(packetOpen) {
		return c.takeBody(b, on)
	}
	n := copy(in.head[in.had:], b)
	if in.had += n; in.had < headLength {
		return n, nil
	}
	length := int(in.head[0]) | int(in.head[1])<<8 | int(in.head[2])<<16
	if err := c.grows(length, in.head[3]); err != nil {
		return n, err
	}
	if in.begins(length); length == 0 {
		_, err := c.takeBody(nil, on)
		return n, err
	}
	return n, nil
}

// grows judges a packet by its head.
func (c *Conn) grows(length int, number byte) *http1.Error {
	in := &c.in
	in.state &^= packetLone
	if !c.active {
		if length > asideMost {
			return errUnasked
		}
		return nil
	}
	if number != in.number {
		if number != 0 || length > asideMost || in.is(packetGoes) {
			return breach("a packet has the number %d, and %d is next: is this a MySQL server?", number, in.number)
		}
		in.state |= packetLone
	}
	in.number++
	if in.size += headLength + int64(length); in.size > in.most {
		return errLarge(in.most)
	}
	return nil
}

// takeBody takes bytes of a packet's payload.
func (c *Conn) takeBody(b []byte, on codec.Listener) (int, *http1.Error) {
	in := &c.in
	n := min(in.left, len(b))
	if in.is(packetFresh) {
		in.state &^= packetFresh
		if c.active && !c.op.keeps && in.stage == stageRows && !in.is(packetLone) && n > 0 && in.isRow(b[0]) {
			in.state |= packetRow
		}
		in.walk = walk{}
	}
	if in.left -= n; in.is(packetRow) {
		return n, c.passRow(b[:n])
	}
	if in.body == nil && in.left == 0 && !in.is(packetLong) {
		in.ends()
		return n, c.onPacket(b[:n], on)
	}
	if in.body == nil {
		in.body = c.pool.buffer()
	}
	in.body = append(in.body, b[:n]...)
	if in.left > 0 || !in.ends() {
		return n, nil
	}
	body := in.body
	in.body = nil
	err := c.onPacket(body, on)
	c.pool.free(body)
	return n, err
}

// isRow says by its first byte whether a payload is a row, where rows come. What begins as their end
// and is too long for one is a row.
func (t *intake) isRow(first byte) bool {
	return first != headError && (first != headEnd || t.length >= 9 && (!t.brief || t.length == packetMost))
}

// passRow takes bytes of a row that is not read.
func (c *Conn) passRow(b []byte) *http1.Error {
	in := &c.in
	if err := in.walk.feed(in.table, b); err != nil {
		return err
	}
	if in.left > 0 || !in.ends() {
		return nil
	}
	return c.rowIsOver()
}

// rowIsOver counts a row that is checked.
func (c *Conn) rowIsOver() *http1.Error {
	c.op.began = true
	c.outcome.Rows++
	c.in.results = 0
	return c.in.walk.end(c.in.table)
}
