package mysql

import (
	"encoding/binary"
	"slices"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// stage is what the answer of a command has next.
type stage uint8

const (
	stageFirst      stage = iota
	stageParams           // the parameters of a prepared statement
	stageParamsEnd        // the packet that ends them
	stageFields           // its columns
	stageFieldsEnd        // the packet that ends them
	stageColumns          // the columns of rows
	stageColumnsEnd       // the packet that ends them
	stageRows             // rows, and the end of them
)

// onPacket takes a payload of the server, whole.
func (c *Conn) onPacket(b []byte, on codec.Listener) *http1.Error {
	failed := len(b) > 0 && b[0] == headError
	if !c.active {
		if !failed {
			return errUnasked
		}
		c.spent = true // the server says why it ends the connection
		return nil
	}
	c.op.began = true
	switch {
	case failed:
		return c.onError(b, on)
	case c.at == len(c.awaits)-1 && !c.left && len(c.out.left()) > 0:
		return errEarly
	case c.in.is(packetLone):
		return breach("a packet has the number 0, and %d was next", c.in.number-1)
	case len(b) == 0:
		return breach("a packet of an answer is empty")
	}
	switch in := &c.in; in.stage {
	case stageFirst:
		if c.awaits[c.at].kind == awaitPrepared {
			return c.onPrepared(b, on)
		}
		return c.onFirst(b, on)
	case stageParams, stageFields:
		if err := checkColumn(b); err != nil {
			return err
		}
		if in.count--; in.count == 0 {
			if in.stage++; in.brief {
				return c.described(on)
			}
		}
		return nil
	case stageColumns:
		if err := in.table.describe(b); err != nil {
			return err
		}
		if in.count--; in.count == 0 {
			if in.stage++; in.brief {
				in.stage = stageRows
			}
		}
		return nil
	case stageRows:
		return c.onRow(b, on)
	}
	if _, ok := readEnd(b[1:]); !ok || b[0] != headEnd {
		return breach("a description has no end")
	}
	if c.in.stage == stageColumnsEnd {
		c.in.stage = stageRows
		return nil
	}
	return c.described(on)
}

// onPrepared takes the beginning of a prepared statement's description.
func (c *Conn) onPrepared(b []byte, on codec.Listener) *http1.Error {
	if b[0] != headOK || len(b) < 9 {
		return breach("the answer to a preparation is not whole")
	}
	k := c.awaits[c.at].of
	number, columns, params := binary.LittleEndian.Uint32(b[1:]), int(binary.LittleEndian.Uint16(b[5:])), int(binary.LittleEndian.Uint16(b[7:]))
	if number == 0 {
		return breach("a prepared statement has the number 0")
	}
	c.op.handles[k] = handle{number, c.fits(k, params)}
	if c.op.of.mode == ModePrepared {
		c.known = append(c.known, prepared{c.op.of.each[k].id, number, uint16(params)})
	}
	c.in.columns = columns
	if params == 0 {
		c.in.stage = stageParamsEnd
		return c.described(on)
	}
	c.in.stage, c.in.count = stageParams, params
	return nil
}

// described goes on behind the parameters or the columns of a prepared statement.
func (c *Conn) described(on codec.Listener) *http1.Error {
	if in := &c.in; in.stage == stageParamsEnd && in.columns > 0 {
		in.stage, in.count = stageFields, in.columns
		return nil
	}
	c.done(on)
	return nil
}

// onFirst takes the first packet of a result.
func (c *Conn) onFirst(b []byte, on codec.Listener) *http1.Error {
	in := &c.in
	switch b[0] {
	case headOK:
		e, ok := readOK(b[1:])
		if !ok {
			return breach("an OK is not whole")
		}
		c.outcome.Affected += e.affected
		return c.resultIsOver(e, on)
	case headNull:
		return errFile
	}
	n, rest, ok := readLength(b)
	switch {
	case !ok || len(rest) > 0 || c.awaits[c.at].kind == awaitOK:
		return breach("an answer begins with %d, where the protocol has no such packet", b[0])
	case n > columnsMost:
		return errColumns
	}
	if in.table == nil {
		in.table = c.pool.table()
	}
	in.table.reset()
	in.table.typed, in.table.keeps = c.awaits[c.at].kind == awaitRowsTyped, c.op.keeps
	if c.op.keeps {
		if in.view == nil {
			in.view = c.pool.buffer()
		}
		in.view = append(in.view[:0], '[')
	}
	in.stage, in.count = stageColumns, int(n)
	return nil
}

// onRow takes a row that is read, or the end of rows.
func (c *Conn) onRow(b []byte, on codec.Listener) *http1.Error {
	in := &c.in
	if in.isRow(b[0]) {
		if err := in.walk.feed(in.table, b); err != nil {
			return err
		}
		if err := c.rowIsOver(); err != nil {
			return err
		}
		return c.show(b)
	}
	read := readEnd
	if in.brief {
		read = readOK
	}
	e, ok := read(b[1:])
	if !ok {
		return breach("the end of rows is not whole")
	}
	return c.resultIsOver(e, on)
}

// resultIsOver goes on behind a result.
func (c *Conn) resultIsOver(e ended, on codec.Listener) *http1.Error {
	c.status = e.status
	if e.status&statusMore == 0 {
		c.done(on)
		return nil
	}
	if c.in.results++; c.in.results > resultsMost {
		return errFlood
	}
	c.in.stage = stageFirst
	return nil
}

// done goes on behind the answer of a command.
func (c *Conn) done(on codec.Listener) {
	c.in.next()
	if c.at++; c.at < len(c.awaits) {
		c.in.number = c.awaits[c.at].packets
		return
	}
	c.awaits, c.at = c.awaits[:0], 0
	c.advance(on)
}

// onError takes an error that the server tells.
func (c *Conn) onError(b []byte, on codec.Listener) *http1.Error {
	t, err := readError(b)
	if err != nil {
		return err
	}
	if c.in.is(packetLone) && !t.fatal() {
		return breach("a packet has the number 0, and %d was next", c.in.number-1)
	}
	k := -1
	if now := c.awaits[c.at]; now.kind != awaitOK {
		k = now.of
	}
	c.failed(k, t.fault())
	if t.number == errorDeadlock {
		c.status &^= statusTransaction
	}
	if t.fatal() {
		c.spent = true
		c.answered(on)
		return nil
	}
	if t.number == errorUnknownStatement && k >= 0 {
		id := c.op.of.each[k].id
		c.known = slices.DeleteFunc(c.known, func(p prepared) bool { return p.id == id })
	}
	c.done(on)
	return nil
}
