package postgres

import (
	"bytes"
	"slices"
	"strconv"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// stage is what an operation waits for.
type stage uint8

const (
	stageNone   stage = iota
	stageClose        // CloseComplete of the statement that made room
	stageParse        // ParseComplete
	stageBind         // BindComplete
	stageTable        // RowDescription or NoData
	stageRows         // rows, and the statement's end
	stageSync         // ReadyForQuery
	stageSkip         // the same, behind an error
	stageSimple       // whatever answers a text
	stageText         // the same, behind RowDescription
	stageTakes        // the end of a statement that takes rows
	stageGives        // copied rows, and their end
	stageGave         // the end of the statement that gave them
)

// begin says what the statement of an operation waits for first.
func (c *Conn) begin(a *asked) {
	c.in.columns, a.came = -1, min(a.came, cameSome)
	if a.of == nil {
		return
	}
	switch number := a.first + uint64(a.at); {
	case a.of.mode == ModeSimple:
		a.stage = stageSimple
	case a.of.mode == ModeUnnamed:
		a.stage = stageParse
	case len(c.fresh) > 0 && c.fresh[0].number == number && c.fresh[0].closes != 0:
		a.stage = stageClose
	case len(c.fresh) > 0 && c.fresh[0].number == number:
		a.stage = stageParse
	default:
		a.stage = stageBind
	}
}

// onMessage takes a message of the server, whole.
func (c *Conn) onMessage(kind byte, b []byte, on codec.Listener) *http1.Error {
	switch kind {
	case 'N', 'S', 'A':
		return nil
	case 'E':
		return c.onError(b, on)
	}
	a := &c.open[0]
	a.came = max(a.came, cameSome)
	c.in.idle = 0
	switch kind {
	case '3', '1', '2', 'n', 'I':
		if len(b) > 0 {
			return breach("%s has a body", messageName(kind))
		}
		return c.onStep(a, kind)
	case 'T':
		return c.onTable(a, b)
	case 'D':
		return c.onRow(a, b)
	case 'C':
		return c.onComplete(a, b)
	case 'Z':
		return c.onReady(a, b, on)
	case 'G', 'H', 'W', 'd', 'c':
		return c.onCopy(a, kind, b)
	}
	return errOrder(kind)
}

// onCopy takes a message of a statement that copies.
func (c *Conn) onCopy(a *asked, kind byte, b []byte) *http1.Error {
	of := a.of
	switch {
	case kind == 'G' && a.stage == stageSimple && of != nil && of.takes:
		a.stage = stageTakes
	case kind == 'H' && a.stage == stageSimple && of != nil && of.gives:
		a.stage = stageGives
	case kind == 'd' && a.stage == stageGives:
		c.outcome.Rows++
		if a.keeps {
			if c.in.view == nil {
				c.in.view = c.pool.buffer()
			}
			c.in.view = append(c.in.view, b...) // AnswerMax bounds it
		}
	case kind == 'c' && a.stage == stageGives && len(b) == 0:
		a.stage = stageGave
	case kind == 'G' && of != nil && of.gives, kind == 'H' && of != nil && of.takes:
		return errOtherWay
	case kind == 'd', kind == 'c', kind != 'W' && of != nil && (of.takes || of.gives): // twice, or elsewhere
		return errOrder(kind)
	default:
		return errCopy
	}
	return nil
}

// onStep takes a message without a body.
func (c *Conn) onStep(a *asked, kind byte) *http1.Error {
	switch {
	case kind == '3' && a.stage == stageClose:
		c.fresh[0].closes, a.stage = 0, stageParse
	case kind == '1' && a.stage == stageParse:
		if a.of.mode == ModePrepared {
			c.fresh = slices.Delete(c.fresh, 0, 1)
		}
		a.stage = stageBind
	case kind == '2' && a.stage == stageBind:
		if a.stage = stageRows; a.keeps {
			a.stage = stageTable
		}
	case kind == 'n' && a.stage == stageTable:
		c.in.columns = 0
		a.stage = stageRows
	case kind == 'I' && (a.stage == stageRows || a.stage == stageSimple && !a.copies()):
		c.completed(a)
	default:
		return errOrder(kind)
	}
	return nil
}

// onTable takes the description of rows.
func (c *Conn) onTable(a *asked, b []byte) *http1.Error {
	switch a.stage {
	case stageTable:
		a.stage = stageRows
	case stageSimple:
		a.stage = stageText
	default:
		return errOrder('T')
	}
	return c.describes(b, a.keeps)
}

// onRow takes a row that is read.
func (c *Conn) onRow(a *asked, b []byte) *http1.Error {
	if a.stage != stageRows && a.stage != stageText {
		return errOrder('D')
	}
	var w walk
	if err := w.feed(&c.in, b); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	c.outcome.Rows++
	return c.show(b)
}

// onComplete takes the end of a statement.
func (c *Conn) onComplete(a *asked, b []byte) *http1.Error {
	switch a.stage {
	case stageRows, stageTakes, stageGave:
	case stageSimple, stageText:
		if a.copies() {
			return errOrder('C')
		}
	default:
		return errOrder('C')
	}
	if len(b) == 0 || b[len(b)-1] != 0 {
		return breach("the end of a statement names nothing")
	}
	if a.stage != stageGave {
		c.outcome.Affected += affected(b[:len(b)-1])
		c.outcome.Undone = c.outcome.Undone || string(b) == "ROLLBACK\x00"
	}
	c.completed(a)
	return nil
}

// affected reads how many rows a statement changed: "INSERT 0 5", "UPDATE 3".
func affected(tag []byte) uint64 {
	verb, _, found := bytes.Cut(tag, []byte(" "))
	if !found {
		return 0
	}
	switch string(verb) {
	case "INSERT", "UPDATE", "DELETE", "MERGE", "COPY":
		n, err := strconv.ParseUint(string(tag[bytes.LastIndexByte(tag, ' ')+1:]), 10, 32)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}

// copies says that the statement moves data: its answer begins with what says so.
func (a *asked) copies() bool { return a.of != nil && (a.of.takes || a.of.gives) }

// completed goes on behind a statement's end.
func (c *Conn) completed(a *asked) {
	switch a.came = cameEnd; {
	case a.stage == stageTakes || a.stage == stageGave:
		a.stage = stageSync
	case a.stage == stageSimple || a.stage == stageText:
		a.stage = stageSimple
		c.in.columns = -1
	case a.of.whole && a.at < len(a.of.each)-1:
		a.at++
		c.begin(a)
	default:
		a.stage = stageSync
	}
}

// onReady takes the end of a transaction, or of what stands for one.
func (c *Conn) onReady(a *asked, b []byte, on codec.Listener) *http1.Error {
	if len(b) != 1 || b[0] != 'I' && b[0] != 'T' && b[0] != 'E' {
		return breach("ReadyForQuery says %q", b)
	}
	if a.stage != stageSync && a.stage != stageSkip && (a.stage != stageSimple || a.came < cameEnd) {
		return errOrder('Z')
	}
	last := a.of == nil || a.of.whole || a.at == len(a.of.each)-1
	if last && len(c.open) == 1 && c.outcome.Err == nil && !c.left && len(c.out.left()) > 0 {
		return errEarly
	}
	c.status = b[0]
	if a.of != nil && !a.of.whole && a.at < len(a.of.each)-1 {
		a.at++
		c.begin(a)
		return nil
	}
	c.answered(on)
	return nil
}

// onError takes an error that the server tells.
func (c *Conn) onError(b []byte, on codec.Listener) *http1.Error {
	t, err := readError(b)
	if err != nil {
		return err
	}
	if len(c.open) == 0 {
		if c.spent = t.fatal(); !c.spent {
			return errUnasked
		}
		return nil
	}
	a := &c.open[0]
	a.came = cameEnd
	c.in.idle = 0
	c.failed(&t)
	if t.fatal() {
		c.spent = true
		c.answered(on)
		return nil
	}
	if a.of != nil && a.of.mode == ModePrepared && a.stage != stageSkip {
		c.skips(a, &t)
	}
	if a.stage != stageSimple && a.stage != stageText {
		a.stage = stageSkip
	} else {
		a.stage = stageSimple
	}
	return nil
}

// skips forgets what the server does not prepare behind an error.
func (c *Conn) skips(a *asked, t *told) {
	last := a.first + uint64(a.at)
	switch {
	case t.code == "26000": // the server has no such statement any more
		c.forget(a.of.each[a.at].id)
	case t.code == "0A000" && a.stage == stageBind: // its plan has changed
		c.spent = true
	}
	if a.of.whole {
		last = a.first + uint64(len(a.of.each)-1)
	}
	for len(c.fresh) > 0 && c.fresh[0].number <= last {
		p := c.fresh[0]
		if c.forget(p.id); p.closes != 0 {
			c.known = append(c.known, p.closes)
		}
		c.fresh = slices.Delete(c.fresh, 0, 1)
	}
}

// forget notes that the server has not prepared a statement.
func (c *Conn) forget(id uint64) {
	if at := slices.Index(c.known, id); at >= 0 {
		c.known = slices.Delete(c.known, at, at+1)
	}
}
