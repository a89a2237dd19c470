package swim

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// members is this node's knowledge of its group, as values: no method sends anything.
type members struct {
	config  Config
	table   table
	live    int    // alive and suspect, this node included
	view    uint64 // a sum over these
	rare           // what only few members have
	seeds   []seed
	leaving bool

	order  []uint32 // in which probes visit the members
	cursor int
}

// rare holds data beside the records.
type rare struct {
	suspicions slab[suspicion] // of suspect members
	ends       slab[end]       // of members that are gone
	apps       []app           // by place, up to the last one with a state
}

// suspicion returns the suspicion against a place; nil for none.
func (g *members) suspicion(i uint32) *suspicion {
	if r := &g.table.records[i]; r.state == Suspect {
		return g.suspicions.of(r)
	}
	return nil
}

// end returns the tombstone of a place; nil for none.
func (g *members) end(i uint32) *end {
	if r := &g.table.records[i]; r.state.Gone() {
		return g.ends.of(r)
	}
	return nil
}

// said returns the application state of a place's member; version 0 for none.
func (g *members) said(i uint32) app {
	if int(i) < len(g.apps) {
		return g.apps[i]
	}
	return app{}
}

// end is a tombstone.
type end struct {
	since  node.Instant
	by     node.ID
	recent bool // it counts as a recent failure
	silent bool // it was never a member here, and the role learnt nothing of it
}

// app is a member's state for the application.
type app struct {
	incarnation, version uint64
	bytes                []byte
}

type seed struct {
	addr  node.Addr
	place uint32 // of the member that was heard at its address
	known bool
}

// set changes a record, and the group's sums with it.
func (g *members) set(i uint32, incarnation uint64, state State) {
	r := &g.table.records[i]
	g.view ^= r.portion()
	if !r.state.Gone() {
		g.live--
	}
	r.incarnation, r.state = incarnation, state
	if !state.Gone() {
		g.live++
	}
	g.view ^= r.portion()
}

// insert adds a name at an incarnation.
func (g *members) insert(who *Identity, incarnation uint64, state State) uint32 {
	i := g.table.add(who)
	r := &g.table.records[i]
	r.incarnation, r.state = incarnation, state
	if !state.Gone() {
		g.live++
		g.view ^= r.portion()
	}
	return i
}

// member returns what this node knows of a place.
func (g *members) member(i uint32) Member {
	r := &g.table.records[i]
	m := Member{ID: r.who.ID, Addr: r.who.Addr, Role: r.who.Role, Incarnation: r.incarnation, State: r.state}
	// A restart resets the member's application state.
	if a := g.said(i); a.incarnation>>32 == r.incarnation>>32 {
		m.App = a.bytes
	}
	switch {
	case r.state == Suspect:
		m.By = g.suspicion(i).by
	case r.state.Gone():
		m.By = g.end(i).by
	}
	return m
}

// newsOf returns the current news of a place. With whole, or for a gone member, it contains
// address and role for receivers that may not know the member; tombstones need them, too.
func (g *members) newsOf(now node.Instant, i uint32, whole bool) message.SwimNews {
	r := &g.table.records[i]
	n := message.SwimNews{Node: string(r.who.ID), Incarnation: r.incarnation, State: uint8(r.state)}
	if whole || r.state.Gone() {
		n.Addr, n.Role = string(r.who.Addr), uint8(r.who.Role)
	}
	switch {
	case r.state == Suspect:
		n.By = string(g.suspicion(i).latest)
	case r.state.Gone():
		e := g.end(i)
		n.By, n.Age = string(e.by), now.Sub(e.since).Truncate(time.Millisecond)
	case i == 0 && g.leaving:
		n.State = uint8(Left)
	}
	return n
}

// settle marks the seed at whose address a member was heard.
func (g *members) settle(i uint32) {
	for at := range g.seeds {
		if s := &g.seeds[at]; s.addr == g.table.records[i].who.Addr {
			s.place, s.known = i, true
		}
	}
}

// Live returns the number of alive and suspect members, this node included.
func (g *members) Live() int { return g.live }

// Incarnation returns this node's own.
func (g *members) Incarnation() uint64 { return g.table.records[0].incarnation }

// Find returns the member with a name.
func (g *members) Find(id node.ID) (Member, bool) {
	i, ok := g.table.find(id)
	if !ok {
		return Member{}, false
	}
	return g.member(i), true
}

// FindAddr returns the member that was last heard at an address. It prefers a member that is
// not gone.
func (g *members) FindAddr(a node.Addr) (Member, bool) {
	best, found := uint32(0), false
	for i := range g.table.records {
		r := &g.table.records[i]
		if r.who == nil || r.who.Addr != a {
			continue
		}
		if !found || g.table.records[best].state.Gone() {
			best, found = uint32(i), true
		}
	}
	if !found {
		return Member{}, false
	}
	return g.member(best), true
}

// Members returns all known members by name, with tombstones and this node.
func (g *members) Members() []Member {
	return pick(g, make([]Member, 0, g.table.size()), func(State) bool { return true })
}

// Doubted returns the members that are not alive, by name.
func (g *members) Doubted() []Member {
	return pick(g, nil, func(s State) bool { return s != Alive })
}

func pick(g *members, all []Member, of func(State) bool) []Member {
	for i := range g.table.records {
		if r := &g.table.records[i]; r.who != nil && of(r.state) {
			all = append(all, g.member(uint32(i)))
		}
	}
	slices.SortFunc(all, func(a, b Member) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all
}

// Unconfirmed returns the seeds that were never heard, in the order given.
func (g *members) Unconfirmed() []node.Addr {
	var all []node.Addr
	for _, s := range g.seeds {
		if !s.known {
			all = append(all, s.addr)
		}
	}
	return all
}

// Size returns the number of known members, including those that are gone.
func (g *members) Size() int { return g.table.size() }
