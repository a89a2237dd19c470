package toy

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// The kinds of the toys. The catalogue reserves these numbers.
const (
	KindPing   node.Kind = 3
	KindAck    node.Kind = 4
	KindGossip node.Kind = 5
	KindOrder  node.Kind = 8
)

// New returns an empty toy with a name, or nil if there is none.
func New(name string) node.Message {
	for _, m := range []message.Copier{&Ping{}, &Ack{}, &Gossip{}, &Order{}} {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

// Ping is a message between test machines.
type Ping struct {
	Counter     uint64
	Incarnation uint64
	From        uint32
}

// Kind implements node.Message.
func (p *Ping) Kind() node.Kind { return KindPing }

// Priority implements node.Message.
func (p *Ping) Priority() node.Priority { return node.High }

// Full implements node.Message.
func (p *Ping) Full() node.Full { return node.Keep }

// Subject implements node.Message.
func (p *Ping) Subject() uint64 { return 0 }

// Size implements node.Message.
func (p *Ping) Size() int {
	return 26 + message.SizeUint(p.Counter) + message.SizeUint(p.Incarnation) + message.SizeUint(uint64(p.From))
}

// Digest implements node.Message.
func (p *Ping) Digest() uint64 { return p.digest(KindPing) }

func (p *Ping) digest(k node.Kind) uint64 {
	return node.Mix(node.Mix(node.Mix(uint64(k), p.Counter), p.Incarnation), uint64(p.From))
}

// Name implements message.Copier.
func (p *Ping) Name() string { return "Ping" }

// Copy implements message.Copier.
func (p *Ping) Copy() node.Message { c := *p; return &c }

// Ack answers a Ping.
type Ack struct {
	Counter     uint64
	Incarnation uint64
	From        uint32
}

// Kind implements node.Message.
func (a *Ack) Kind() node.Kind { return KindAck }

// Priority implements node.Message.
func (a *Ack) Priority() node.Priority { return node.High }

// Full implements node.Message.
func (a *Ack) Full() node.Full { return node.Keep }

// Subject implements node.Message.
func (a *Ack) Subject() uint64 { return 0 }

// Size implements node.Message.
func (a *Ack) Size() int { return (*Ping)(a).Size() }

// Digest implements node.Message.
func (a *Ack) Digest() uint64 { return (*Ping)(a).digest(KindAck) }

// Name implements message.Copier.
func (a *Ack) Name() string { return "Ack" }

// Copy implements message.Copier.
func (a *Ack) Copy() node.Message { c := *a; return &c }

// GossipUpdate is news of one toy member.
type GossipUpdate struct {
	Node        uint32
	Incarnation uint32
	State       uint8
}

// Gossip carries news between toy members.
type Gossip struct {
	Updates [8]GossipUpdate
}

// Kind implements node.Message.
func (g *Gossip) Kind() node.Kind { return KindGossip }

// Priority implements node.Message.
func (g *Gossip) Priority() node.Priority { return node.Low }

// Full implements node.Message.
func (g *Gossip) Full() node.Full { return node.Keep }

// Subject implements node.Message.
func (g *Gossip) Subject() uint64 { return 0 }

// Size implements node.Message.
func (g *Gossip) Size() int {
	n := 10
	for _, u := range &g.Updates {
		n += 7 + message.SizeUint(uint64(u.Node)) + message.SizeUint(uint64(u.Incarnation)) + message.SizeUint(uint64(u.State))
	}
	return n
}

// Digest implements node.Message.
func (g *Gossip) Digest() uint64 {
	h := node.Mix(uint64(KindGossip), uint64(len(g.Updates)))
	for _, u := range &g.Updates {
		h = node.Mix(node.Mix(node.Mix(h, uint64(u.Node)), uint64(u.Incarnation)), uint64(u.State))
	}
	return h
}

// Name implements message.Copier.
func (g *Gossip) Name() string { return "Gossip" }

// Copy implements message.Copier.
func (g *Gossip) Copy() node.Message { c := *g; return &c }

// Order is what the holder of a test world's register sends to the nodes that obey it.
type Order struct {
	Job   message.JobID
	Token message.LeaseToken
	Value uint64
}

// Kind implements node.Message.
func (o *Order) Kind() node.Kind { return KindOrder }

// Priority implements node.Message.
func (o *Order) Priority() node.Priority { return node.High }

// Full implements node.Message.
func (o *Order) Full() node.Full { return node.Keep }

// Subject implements node.Message.
func (o *Order) Subject() uint64 { return 0 }

// Size implements node.Message.
func (o *Order) Size() int {
	return 40 + message.SizeUint(o.Token.Epoch) + message.SizeUint(uint64(o.Token.Ordinal)) + message.SizeUint(o.Value)
}

// Digest implements node.Message.
func (o *Order) Digest() uint64 {
	h := node.MixBytes(uint64(KindOrder), o.Job[:])
	return node.Mix(node.Mix(node.Mix(h, o.Token.Epoch), uint64(o.Token.Ordinal)), o.Value)
}

// Name implements message.Copier.
func (o *Order) Name() string { return "Order" }

// Copy implements message.Copier.
func (o *Order) Copy() node.Message { c := *o; return &c }
