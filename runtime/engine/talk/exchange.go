package talk

import (
	"slices"

	"strings"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk/consumer"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Exchange is an exchange of messages that is under way. The time of a message is that of the read
// which brought its last byte.
type Exchange struct {
	stock   *Stock
	plan    *Plan
	account *measure.Account
	values  [][]byte     // of its user
	due     int64        // the intended start
	said    int64        // when its messages were queued
	got     int          // messages
	last    []byte       // the last one, if keeps
	head    codec.Fields // of that message; nil: it has none
	keeps   bool
	enough  bool
	with    codec.Dialogue
	wrong   *http1.Error // an error that the server told; nil: none
	user    uint64       // its number
	opens   int64        // when it began a new connection; 0: it did not
	branch  branch       // of its second connection
	trip    trip         // of a cluster
	hops    hops         // of a Redis cluster
	goes    goes         // of a Kafka cluster
	replied uint16       // the status that a custom program told; 0: none
}

var (
	_ pool.Talk     = (*Exchange)(nil)
	_ pool.Brancher = (*Exchange)(nil)
)

// Stock has the memory of the exchanges of one loop.
type Stock struct {
	clock *measure.Clock
	show  func(way string, payload []byte)
	idle  []*Exchange
	text  []byte  // the message under construction
	turns []int32 // slots of exchanges whose turn has come

	groups   []*consumer.Member // that were asked
	carriers []*Exchange        // that have not begun
	stamps   stamper
}

// NewStock returns an empty stock. Show takes each message, behind > or <; nil: nothing does.
func NewStock(clock *measure.Clock, show func(way string, payload []byte)) Stock {
	return Stock{clock: clock, show: show}
}

// Begin returns an exchange that is due then. Keeps says that its last message is read.
func (k *Stock) Begin(p *Plan, a *measure.Account, values [][]byte, due int64, keeps bool) *Exchange {
	var x *Exchange
	if last := len(k.idle) - 1; last >= 0 {
		x, k.idle = k.idle[last], k.idle[:last]
	} else {
		x = new(Exchange)
	}
	*x = Exchange{stock: k, plan: p, account: a, values: values, due: due, last: x.last[:0], keeps: keeps || k.show != nil, goes: goes{reads: reads{asks: x.goes.reads.asks[:0]}}}
	return x
}

// asks notes that users of the loop ask a group.
func (k *Stock) asks(g *consumer.Member) {
	if !slices.Contains(k.groups, g) {
		k.groups = append(k.groups, g)
	}
}

// Cut says that all exchanges are about to be given up: the members of groups leave with their connections.
func (k *Stock) Cut() {
	for _, g := range k.groups {
		g.Asked(false)
	}
}

// Turns returns the slots of the exchanges whose turn has come, once.
func (k *Stock) Turns() []int32 {
	out := k.turns
	k.turns = nil
	return out
}

// Owed tells what groups do not remember of what they gave to read, a line a group, once the connections are closed.
func (k *Stock) Owed() (lines []string) {
	for _, g := range k.groups {
		if line := g.Owes(); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// End takes back the memory of an exchange.
func (k *Stock) End(x *Exchange) {
	if of, is := x.plan.verb.(keeper); is {
		of.parts(x)
	}
	k.idle = append(k.idle, x)
}

// As says whose exchange it is.
func (x *Exchange) As(user uint64) *Exchange {
	x.user = user
	return x
}

// Last returns the last message, until the exchange ends.
func (x *Exchange) Last() []byte { return x.last }

// Head returns the header of the last message; nil: it has none.
func (x *Exchange) Head() codec.Fields { return x.head }

// Open implements pool.Talk.
func (x *Exchange) Open() codec.Opening {
	x.opens = max(1, x.stock.clock.Now)
	if of, is := x.plan.verb.(personal); is {
		return of.openFor(x)
	}
	return x.plan.verb.open()
}

// Say implements pool.Talk.
func (x *Exchange) Say(d codec.Dialogue) error {
	x.said, x.with = x.stock.clock.Now, d
	return x.plan.verb.say(x, d)
}

// filled returns a message with the user's values in it, until the next one is filled.
func (x *Exchange) filled(m *said) []byte {
	text := x.stock.text[:0]
	for _, p := range m.pieces {
		if text = append(text, p.text...); p.value >= 0 {
			text = append(text, x.values[p.value]...)
		}
	}
	x.stock.text = text
	return text
}

// shows shows a message that goes out, if anything does.
func (x *Exchange) shows(payload []byte) {
	if x.stock.show != nil {
		x.stock.show("> ", payload)
	}
}

// Hear implements pool.Talk.
func (x *Exchange) Hear(kind codec.MessageKind, payload []byte) {
	x.got++
	x.enough = x.plan.verb.hear(x, kind, payload)
}

// received measures a message that came, and keeps it.
func (x *Exchange) received(payload []byte) {
	now := x.stock.clock.Now
	m := x.account.Messages()
	if x.got == 1 {
		m.First(now - x.due)
	}
	m.Received(now - x.said)
	x.keep(payload)
}

// keep shows a message that came, if anything does, and keeps it if anything reads it.
func (x *Exchange) keep(payload []byte) {
	if x.stock.show != nil {
		x.stock.show("< ", payload)
	}
	if x.keeps {
		x.last = append(x.last[:0], payload...)
	}
}

// Deaf implements pool.Talk.
func (x *Exchange) Deaf() bool {
	if x.plan.routed != nil && x.trip != tripRouted {
		return false // it learns first where it must go
	}
	return x.plan.verb.deaf()
}

// Enough implements pool.Talk.
func (x *Exchange) Enough() bool { return x.enough || x.Deaf() }

// Stays implements pool.Talk.
func (x *Exchange) Stays() bool { return x.plan.stays }

// Status implements pool.Talk: that of the protocol, or 500 for an error that the server told.
func (x *Exchange) Status() uint16 {
	if x.replied != 0 {
		return x.replied
	}
	if x.wrong != nil {
		return statusTold
	}
	return x.plan.verb.status()
}

const statusTold = 500

// Wrong returns the error that the server told; its kind is empty if it told none.
func (x *Exchange) Wrong() (http1.Kind, string) {
	if x.wrong == nil {
		return http1.KindNone, ""
	}
	return x.wrong.Kind, x.wrong.Detail
}

// Code is that of a database's answer: OK, or the code of the error that it told. Others have none.
func (x *Exchange) Code() string {
	if !x.plan.coded || !x.enough {
		return ""
	}
	if x.wrong == nil {
		return "OK"
	}
	code, told := strings.CutPrefix(string(x.wrong.Kind), "server ")
	if !told {
		return ""
	}
	return code
}

// Protocol names what carries the exchange, for people.
func (x *Exchange) Protocol() string { return x.plan.verb.protocol() }

// Left implements pool.Talk.
func (x *Exchange) Left(code uint16, reason string) error { return x.plan.verb.left(code, reason) }
