package journey

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// Journey is one message on its way.
type Journey struct {
	Message  node.Message
	From     node.ID
	To       node.ID // empty while it is unknown; see Tracker.Whom
	Sent     time.Duration
	Arrived  time.Duration // negative: it has not arrived
	Datagram bool

	number  uint64 // of its sending
	address node.Addr
	conn    netsim.ConnID
	side    uint8
}

// Copy says that this is a second copy of a datagram, without a sending of its own.
func (j *Journey) Copy() bool { return j.Sent < 0 }

// Lost says that it has not arrived.
func (j *Journey) Lost() bool { return j.Arrived < 0 }

// way is the key of equal messages on their way.
type way struct {
	from   node.ID // of a datagram
	conn   netsim.ConnID
	side   uint8
	digest uint64
}

// Tracker follows messages; its caller passes on what an observer sees.
type Tracker struct {
	sent  uint64
	open  map[way][]*Journey
	names map[node.Addr]node.ID
	ends  map[netsim.ConnID][2]node.ID
	calls map[netsim.ConnID]node.Addr // the address that the first side called
}

// NewTracker returns an empty tracker.
func NewTracker() *Tracker {
	return &Tracker{
		open: map[way][]*Journey{}, names: map[node.Addr]node.ID{},
		ends: map[netsim.ConnID][2]node.ID{}, calls: map[netsim.ConnID]node.Addr{},
	}
}

// Sent records an effect and returns the journey that it begins, or nil.
func (t *Tracker) Sent(at time.Duration, id node.ID, e *sim.Effect) *Journey {
	switch e.Kind {
	case sim.EffectOpen:
		conn, side := netsim.End(e.Stream)
		t.end(conn, side, id)
		t.calls[conn] = e.To
	case sim.EffectDatagram:
		j := &Journey{Message: e.Message, From: id, Sent: at, Arrived: -1, Datagram: true, address: e.To}
		t.begin(way{from: id, digest: e.Message.Digest()}, j)
		return j
	case sim.EffectSend:
		conn, side := netsim.End(e.Stream)
		t.end(conn, side, id)
		j := &Journey{Message: e.Message, From: id, Sent: at, Arrived: -1, conn: conn, side: side}
		t.begin(way{conn: conn, side: side, digest: e.Message.Digest()}, j)
		return j
	}
	return nil
}

func (t *Tracker) begin(w way, j *Journey) {
	t.sent++
	j.number = t.sent
	t.open[w] = append(t.open[w], j)
}

func (t *Tracker) end(c netsim.ConnID, side uint8, id node.ID) {
	ends := t.ends[c]
	ends[side] = id
	t.ends[c] = ends
}

// Got records an input and returns the journey that it ends, or nil.
func (t *Tracker) Got(at time.Duration, id node.ID, in *node.Input) *Journey {
	if in.From.Addr != "" {
		t.names[in.From.Addr] = in.From.ID
	}
	w := way{}
	if in.Stream != 0 {
		conn, side := netsim.End(in.Stream)
		t.end(conn, side, id)
		if in.From.ID != "" {
			t.end(conn, 1-side, in.From.ID)
		}
		w.conn, w.side = conn, 1-side
	} else {
		w.from = in.From.ID
	}
	if in.Kind != node.InputMessage {
		return nil
	}
	w.digest = in.Message.Digest()
	return t.arrive(w, at, id, in)
}

func (t *Tracker) arrive(w way, at time.Duration, id node.ID, in *node.Input) *Journey {
	waiting := t.open[w]
	for i, j := range waiting {
		if to := t.Whom(j); to != "" && to != id {
			continue
		}
		if len(waiting) == 1 {
			delete(t.open, w)
		} else {
			t.open[w] = append(waiting[:i:i], waiting[i+1:]...)
		}
		j.To, j.Arrived = id, at
		return j
	}
	return &Journey{Message: in.Message, From: in.From.ID, To: id, Sent: -1, Arrived: at, Datagram: in.Stream == 0}
}

// Whom returns the receiver: its ID, or its address, or "" while the tracker does not know it.
func (t *Tracker) Whom(j *Journey) node.ID {
	if j.To != "" {
		return j.To
	}
	address := j.address
	if !j.Datagram {
		if id := t.ends[j.conn][1-j.side]; id != "" {
			return id
		}
		address = t.calls[j.conn]
	}
	return t.names[address]
}

// Called returns the address that a node called when the tracker does not know the ID.
func (t *Tracker) Called(j *Journey) string {
	switch to := t.Whom(j); {
	case to != "":
		return string(to)
	case j.address != "":
		return string(j.address)
	case t.calls[j.conn] != "":
		return string(t.calls[j.conn])
	}
	return "somebody"
}

// Lost returns the journeys that have not arrived, in the order of their sending.
func (t *Tracker) Lost() []*Journey {
	var lost []*Journey
	//lint:orderfree sorted below
	for _, waiting := range t.open {
		lost = append(lost, waiting...)
	}
	slices.SortFunc(lost, func(a, b *Journey) int { return cmp.Compare(a.number, b.number) })
	return lost
}
