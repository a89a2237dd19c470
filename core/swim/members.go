package swim

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// members is what this node knows of its group, as values: no method sends anything.
type members struct {
	config  Config
	table   table
	live    int    // alive and suspect, this node included
	view    uint64 // a sum over them
	rare           // what few members have
	seeds   []seed
	leaving bool

	order  []uint32 // in which probes visit them
	cursor int
}

// rare is kept beside the records.
type rare struct {
	suspicions slab[suspicion] // of those that are suspect
	ends       slab[end]       // of those that are gone
	apps       []app           // by place, as far as any has said something
}

// suspicion returns what runs against a place; nil for nothing.
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

// said returns what the member of a place said of itself; version 0 for nothing.
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
	recent bool // it counts among those that failed lately
	silent bool // it was never a member here: the role was told nothing
}

// app is what a member says of itself.
type app struct {
	incarnation, version uint64
	bytes                []byte
}

type seed struct {
	addr  node.Addr
	place uint32 // of the member that was heard at it
	known bool
}

// set moves a record, and the group's sums with it.
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

// insert takes in a name at an incarnation.
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

// member tells all that is known of a place.
func (g *members) member(i uint32) Member {
	r := &g.table.records[i]
	m := Member{ID: r.who.ID, Addr: r.who.Addr, Role: r.who.Role, Incarnation: r.incarnation, State: r.state}
	// A restart forgets what the member said before.
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

// newsOf is what there is to tell of a place; whole to whoever may not know it, and
// of whoever is gone, as tombstones are for those, too.
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

// settle marks the seed that a member was heard at.
func (g *members) settle(i uint32) {
	for at := range g.seeds {
		if s := &g.seeds[at]; s.addr == g.table.records[i].who.Addr {
			s.place, s.known = i, true
		}
	}
}

// Live is how many members are alive or suspect, this node included.
func (g *members) Live() int { return g.live }

// Incarnation is this node's own.
func (g *members) Incarnation() uint64 { return g.table.records[0].incarnation }

// Find returns the member of a name.
func (g *members) Find(id node.ID) (Member, bool) {
	i, ok := g.table.find(id)
	if !ok {
		return Member{}, false
	}
	return g.member(i), true
}

// FindAddr returns who was heard last at an address, and is not gone if anybody
// there is not.
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

// Members returns all that are known, tombstones and this node included, by name.
func (g *members) Members() []Member {
	return pick(g, make([]Member, 0, g.table.size()), func(State) bool { return true })
}

// Doubted returns those that are not alive, by name.
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

// Size returns how many members are known, those that are gone included.
func (g *members) Size() int { return g.table.size() }
