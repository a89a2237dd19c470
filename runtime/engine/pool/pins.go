package pool

import (
	"slices"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Pin keeps a connection for the exchanges of one transaction: others of its user find another one. The
// connection is its user's again as soon as its server says that no transaction is open.
type Pin struct {
	of     *Connections
	ticket       // its connection
	given  bool  // it has had a connection: no other one can go on
	began  int64 // when BEGIN was queued; meaningful if given
	over   bool  // the transaction is
	beside bool  // a function beside the steps began it
}

// Held reports that the connection is there, with the transaction open.
func (p *Pin) Held() bool {
	if !p.given || p.over {
		return false
	}
	c := p.of.Sockets.Conns.At(p.index)
	return c.Generation == p.serial && c.fd >= 0
}

// take keeps a connection whose exchange has ended. Asked is when that was queued.
func (p *Pin) take(at int32, asked int64) {
	c := p.of.Sockets.Conns.At(at)
	if !p.given {
		p.began = asked
	}
	c.slot = None // it is in no list
	p.ticket, p.given = ticket{at, c.Generation}, true
}

// keeps reports, of a connection whose exchange has ended, whether a transaction is open that keeps it.
func (p *Pin) keeps(d codec.Dialogue) bool {
	if p == nil {
		return false
	}
	t, ok := d.(codec.Transactional)
	p.over = !ok || !t.InTransaction()
	return !p.over
}

// measures counts the transaction of an exchange that the server has answered, if it is over by that answer. One
// that a timeout, a lost connection or the end of the run cuts has no such answer.
func (p *Pin) measures(d codec.Dialogue, a *measure.Account, now int64) {
	if p == nil || !p.given || p.over {
		return
	}
	if t, ok := d.(codec.Transactional); ok && !t.InTransaction() {
		a.Results().Transacted(now - p.began)
	}
}

// pins are the connections that transactions keep.
type pins struct {
	*Connections
	open map[int32][]*Pin // by user
}

// Begin returns a pin for a transaction that begins; nil: its user has as many as it may. Beside says that
// a function beside the steps begins it.
func (o *pins) Begin(vu int32, beside bool, most int) *Pin {
	if len(o.open[vu]) >= most {
		return nil
	}
	p := &Pin{of: o.Connections, beside: beside}
	o.open[vu] = append(o.open[vu], p)
	return p
}

// Shift moves the beginnings of transactions to a clock that began so much later.
func (o *pins) Shift(by int64) {
	//lint:orderfree each by itself
	for _, all := range o.open {
		for _, p := range all {
			p.began -= by
		}
	}
}

// Answered takes the end of an exchange of a transaction.
func (o *pins) Answered(vu int32, p *Pin) {
	if p.Held() {
		return
	}
	p.over = true
	if left := slices.DeleteFunc(o.open[vu], func(other *Pin) bool { return other == p }); len(left) > 0 {
		o.open[vu] = left
	} else {
		delete(o.open, vu)
	}
}

var errParted = &http1.Error{Kind: http1.KindClosed, Detail: "the connection of the transaction is lost: its server rolls it back"}

// use gives an exchange the connection of its transaction, and no other one.
func (o *pins) use(index int32) {
	n := o.Slots.At(index)
	if at := n.Pin.index; n.Pin.Held() {
		c := o.Sockets.Conns.At(at)
		if o.Sockets.serves(c) {
			c.slot, c.used, n.Conn = index, true, at
			if c.pool != nil {
				c.pool.moved = o.Clock.Now
			}
			o.talks.resume(at)
			return
		}
		o.Sockets.HangUp(at)
	}
	o.Slots.Breaks(index, errParted)
}

// errOpened: a statement began a transaction on a connection that all users share.
var errOpened = &http1.Error{Kind: http1.KindOther, Detail: "it leaves a transaction open on a connection that virtual users share, and its end rolls that back: write vu.sql.begin, or take connections out of the client"}

// holds reports whether a transaction of a user keeps a connection, of whatever pool: others may wait for it,
// and their connections for them.
func (o *pins) holds(vu int32) bool { return slices.ContainsFunc(o.open[vu], (*Pin).Held) }

// kept counts the connections of a pool that transactions keep and that carry nothing now.
func (o *pins) kept(p *pool) (n int) {
	//lint:orderfree a sum
	for _, all := range o.open {
		for _, pin := range all {
			if !pin.Held() {
				continue
			}
			if c := o.Sockets.Conns.At(pin.index); c.pool == p && c.slot == None {
				n++
			}
		}
	}
	return n
}

// Finish closes the connections that transactions of a user keep, which rolls them back: of all, or of
// those that its steps' functions began. It returns how many there were.
func (o *pins) Finish(vu int32, all bool) (ended int) {
	for _, p := range slices.Clone(o.open[vu]) {
		if p.beside && !all {
			continue
		}
		if p.Held() {
			o.Sockets.HangUp(p.index)
			ended++
		}
		o.Answered(vu, p)
	}
	return ended
}
