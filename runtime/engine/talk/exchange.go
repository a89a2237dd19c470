package talk

import (
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/websocket"
)

// Exchange is an exchange of messages that is under way. The time of a message is that of the read
// which brought its last byte.
type Exchange struct {
	stock   *Stock
	plan    *Plan
	account *measure.Account
	values  [][]byte // of its user
	due     int64    // the intended start
	said    int64    // when its messages were queued
	got     int      // messages
	last    []byte   // the last one, if keeps
	keeps   bool
	enough  bool
}

var _ pool.Talk = (*Exchange)(nil)

// Stock has the memory of the exchanges of one loop.
type Stock struct {
	clock *measure.Clock
	show  func(way string, payload []byte)
	idle  []*Exchange
	text  []byte // the message under construction
}

// NewStock returns an empty stock. Show takes each message, behind > or <; nil: nothing does.
func NewStock(clock *measure.Clock, show func(way string, payload []byte)) Stock {
	return Stock{clock: clock, show: show}
}

// Begin returns an exchange that is due then. Keeps says that its last message is read.
func (k *Stock) Begin(p *Plan, a *measure.Account, values [][]byte, due int64, keeps bool) *Exchange {
	x := new(Exchange)
	if last := len(k.idle) - 1; last >= 0 {
		x, k.idle = k.idle[last], k.idle[:last]
	}
	*x = Exchange{stock: k, plan: p, account: a, values: values, due: due, last: x.last[:0], keeps: keeps || k.show != nil}
	return x
}

// End takes back the memory of an exchange.
func (k *Stock) End(x *Exchange) { k.idle = append(k.idle, x) }

// Last returns the last message, until the exchange ends.
func (x *Exchange) Last() []byte { return x.last }

// Upgrade implements pool.Talk.
func (x *Exchange) Upgrade() codec.Upgrade { return x.plan.protocol.Upgrade() }

// Say implements pool.Talk.
func (x *Exchange) Say(d codec.Dialogue) error {
	x.said = x.stock.clock.Now
	sent := x.account.Messages().Sent()
	for i := range x.plan.says {
		if err := x.say(d, &x.plan.says[i], x.plan.of.Send[i].Data, sent); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exchange) say(d codec.Dialogue, m *said, text []byte, sent *uint64) error {
	if m.prepared == nil {
		text = x.stock.text[:0]
		for _, p := range m.pieces {
			if text = append(text, p.text...); p.value >= 0 {
				text = append(text, x.values[p.value]...)
			}
		}
		x.stock.text = text
	}
	if x.stock.show != nil {
		x.stock.show("> ", text)
	}
	if m.prepared != nil {
		return d.(*websocket.Conn).SendPrepared(m.prepared, sent)
	}
	return d.Send(codec.MessageText, text, sent)
}

// Hear implements pool.Talk.
func (x *Exchange) Hear(_ codec.MessageKind, payload []byte) {
	now := x.stock.clock.Now
	x.got++
	m := x.account.Messages()
	if x.got == 1 {
		m.First(now - x.due)
	}
	m.Received(now - x.said)
	if x.stock.show != nil {
		x.stock.show("< ", payload)
	}
	if x.keeps {
		x.last = append(x.last[:0], payload...)
	}
	x.enough = x.got == x.plan.of.Receive || x.plan.of.Until != nil && x.plan.of.Until.Holds(payload)
}

// Deaf implements pool.Talk.
func (x *Exchange) Deaf() bool { return x.plan.of.Receive == 0 && x.plan.of.Until == nil }

// Enough implements pool.Talk.
func (x *Exchange) Enough() bool { return x.enough || x.Deaf() }

// Stays implements pool.Talk.
func (x *Exchange) Stays() bool { return x.plan.stays }

// Left implements pool.Talk.
func (x *Exchange) Left(code uint16, reason string) error { return websocket.Left(code, reason) }
