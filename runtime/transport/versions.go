package transport

import (
	"sync"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// versionsMax bounds the nodes whose version is remembered.
const versionsMax = 4096

// versions holds the minor version that each incarnation of a gate or a manager has said in its
// Hello: its datagrams do not say it.
type versions struct {
	mu   sync.Mutex
	said map[node.ID]version
	at   map[node.Addr]node.Peer // the last one with an address
}

type version struct {
	incarnation uint64
	minor       uint16
}

// learn notes what a Hello says. The newest one counts: a node with a new disk counts its incarnations from 1 again.
func (v *versions) learn(p node.Peer) {
	if p.Role != node.RoleGate && p.Role != node.RoleManager {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.said == nil {
		v.said, v.at = map[node.ID]version{}, map[node.Addr]node.Peer{}
	}
	if _, known := v.said[p.ID]; !known && len(v.said) >= versionsMax {
		return
	}
	v.said[p.ID] = version{p.Incarnation, p.Minor}
	if _, known := v.at[p.Addr]; p.Addr != "" && (known || len(v.at) < versionsMax) {
		v.at[p.Addr] = p
	}
}

// of returns what this incarnation of a peer has said; zero: nothing yet.
func (v *versions) of(p node.Peer) uint16 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if said := v.said[p.ID]; said.incarnation == p.Incarnation {
		return said.minor
	}
	return 0
}

// knows reports whether the node at an address knows a kind. While it has said nothing, it may: a
// node skips a datagram of a kind that it does not know.
func (v *versions) knows(to node.Addr, k node.Kind) (node.Peer, bool) {
	if message.Since(k) == 0 {
		return node.Peer{}, true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	p, heard := v.at[to]
	return p, !heard || message.Knows(p, k)
}

// unknownTo reports a message that is not sent, as its receiver does not know its kind.
func unknownTo(c *Config, to node.Peer, m node.Message) {
	c.Observe(event.ShedOf(m, c.Self.Role, event.ShedVersion, "message "+message.NameOf(m)+" to "+string(to.ID), message.Beyond(to, m)))
}
