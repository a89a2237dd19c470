package sim

import (
	"math"
	"slices"
	"time"

	"hyperscale/core/node"
)

// roster finds the nodes of a world by name and by address.
type roster struct {
	nodes     []*process  // in the order of Add
	peers     []node.Peer // of the nodes, without their incarnations: each datagram reads its sender's
	byID      map[node.ID]*process
	addresses addresses
}

// add enters a node under its name.
func (r *roster) add(p *process) {
	r.nodes, r.peers = append(r.nodes, p), append(r.peers, p.peer)
	r.byID[p.peer.ID] = p
}

func (r *roster) find(id node.ID) *process {
	p := r.byID[id]
	if p == nil {
		node.Bug("sim: node %q is not in this world: Add it first", id)
	}
	return p
}

func (r *roster) has(id string) bool { return r.byID[node.ID(id)] != nil }

// at returns the index of the node that has an address, and whether any has.
func (r *roster) at(a node.Addr) (uint32, bool) {
	if len(a) != len(addressPrefix)+addressDigits || a[:len(addressPrefix)] != addressPrefix {
		return 0, false
	}
	n := number(a)
	return uint32(n), n < uint64(len(r.nodes))
}

// Nodes returns all names in the order of Add.
func (w *World) Nodes() []node.ID {
	all := make([]node.ID, len(w.nodes))
	for i, p := range w.nodes {
		all[i] = p.peer.ID
	}
	return all
}

// Addr returns a node's address, whether it runs or not; empty for a client.
func (w *World) Addr(id node.ID) node.Addr { return w.find(id).peer.Addr }

// Addresses have a fixed width, so that the world finds a node without a map.
const (
	addressPrefix = "sim-"
	addressDigits = 7
)

func address(index uint32) node.Addr {
	b := []byte(addressPrefix + "0000000")
	for i := len(b) - 1; index > 0; i-- {
		b[i] = byte('0' + index%10)
		index /= 10
	}
	return node.Addr(b)
}

// addressBatch is how many addresses share one string: each datagram reads one.
const addressBatch = 64

// addresses makes addresses in batches.
type addresses struct {
	batch uint32 // number of the last batch
	text  string
}

// of returns the address of a node.
func (a *addresses) of(index uint32) node.Addr {
	const size = len(addressPrefix) + addressDigits
	if a.text == "" || index/addressBatch != a.batch {
		a.batch = index / addressBatch
		var b []byte
		for i := range uint32(addressBatch) {
			b = append(b, address(a.batch*addressBatch+i)...)
		}
		a.text = string(b)
	}
	from := int(index%addressBatch) * size
	return node.Addr(a.text[from : from+size])
}

// number reads the last character of the prefix and the digits after it all at once: each as a
// byte, then pairs, then fours. It returns math.MaxUint64 for any other text.
func number(a node.Addr) uint64 {
	_ = a[10]
	d := uint64(a[3]) | uint64(a[4])<<8 | uint64(a[5])<<16 | uint64(a[6])<<24 |
		uint64(a[7])<<32 | uint64(a[8])<<40 | uint64(a[9])<<48 | uint64(a[10])<<56
	const each = 0x0101010101010101
	d ^= '0'*(each-1) | '-'
	if (d|(d+(0x7f-9)*each))&(0x80*each) != 0 { // a byte above 9
		return math.MaxUint64
	}
	d = d * (1 + 10<<8) >> 8 & 0x00ff00ff00ff00ff
	d = d * (1 + 100<<16) >> 16 & 0x0000ffff0000ffff
	return d * (1 + 10000<<32) >> 32
}

// Times of look-ups.
const (
	nameTakes = 20 * time.Millisecond // an answer
	nameLate  = 2 * time.Second       // until a node gives a dead resolver up
)

// names is the table of names that nodes look up. A scenario changes it.
type names struct {
	all  []node.Names
	dark bool
}

// Name makes a name stand for addresses, from now on; without any the name is absent.
func (w *World) Name(name node.Addr, ttl time.Duration, addrs ...node.Addr) {
	w.names.all = slices.DeleteFunc(w.names.all, func(n node.Names) bool { return n.Name == name })
	if len(addrs) > 0 {
		w.names.all = append(w.names.all, node.Names{Name: name, TTL: ttl, Addrs: slices.Clone(addrs)})
	}
}

// Darken kills the resolver, or revives it.
func (w *World) Darken(dark bool) {
	w.faults.harmed = true
	w.names.dark = dark
}

// find returns the outcome of a look-up that begins now, and how long it takes.
func (n *names) find(name node.Addr) (node.Names, time.Duration) {
	if n.dark {
		return node.Names{Name: name, Err: "no server has answered in time"}, nameLate
	}
	for _, is := range n.all {
		if is.Name == name {
			is.Addrs = slices.Clone(is.Addrs)
			return is, nameTakes
		}
	}
	return node.Names{Name: name, Absent: true}, nameTakes
}
