package swim

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// relay is a probe on behalf of another member.
type relay struct {
	origin   node.Peer
	sequence uint64 // of the origin
	target   node.ID
	nack     bool
	told     bool // the nack is sent; a late answer is still forwarded
}

func relayKey(sequence uint64) node.TimerKey {
	return node.KeyN(node.PartSwim, node.SwimRelay, sequence)
}

// onAsk probes for another member. It probes only known members, at their known address, so
// that no member can make this node send to an address of its choice.
func (g *Group) onAsk(env node.Env, from node.Peer, i uint32, m *message.SwimAsk) {
	g.hearAll(env, from, i, m.News, byGossip)
	if m.Target == string(env.Self().ID) {
		g.ack(env, from.Addr, i, g.ackTo(env, m.Sequence, m.Target))
		return
	}
	place, known := g.table.find(node.ID(m.Target))
	if !known || len(g.relays) >= relaysMax {
		g.nack(env, &relay{origin: from, sequence: m.Sequence, target: node.ID(m.Target), nack: m.Nack})
		return
	}
	if g.config.Appeal && g.table.records[place].state == Left {
		g.correct(env, from.Addr, place) // and probe nevertheless: the member may have returned, and the origin knows that
	}
	g.sequence++
	g.relays[g.sequence] = &relay{origin: from, sequence: m.Sequence, target: node.ID(m.Target), nack: m.Nack}
	// Four fifths of the time that the origin leaves: the nack arrives within it.
	env.SetTimer(relayKey(g.sequence), g.config.ProbeTimeout*4/5)
	g.sendProbe(env, place, g.sequence)
}

// onRelay reports to the origin that the target is silent, and later drops the relay.
func (g *Group) onRelay(env node.Env, sequence uint64) {
	r := g.relays[sequence]
	if r == nil {
		return
	}
	if r.told {
		delete(g.relays, sequence)
		return
	}
	r.told = true
	g.nack(env, r)
	env.SetTimer(relayKey(sequence), g.config.ProbeInterval)
}

func (g *Group) nack(env node.Env, r *relay) {
	if r.nack {
		env.Datagram(r.origin.Addr, &message.SwimNack{
			Group: g.config.Group, Sequence: r.sequence, Target: string(r.target), Incarnation: g.Incarnation(),
		})
	}
}

// passOn forwards the target's answer to the origin, as an answer of the target. It reports
// whether the answer was to a relay.
func (g *Group) passOn(env node.Env, m *message.SwimAck) bool {
	r := g.relays[m.Sequence]
	if r == nil || m.Target != string(r.target) {
		return false
	}
	delete(g.relays, m.Sequence)
	env.CancelTimer(relayKey(m.Sequence))
	i, _ := g.table.find(r.origin.ID)
	g.ack(env, r.origin.Addr, i, g.ackTo(env, r.sequence, m.Target))
	return true
}
