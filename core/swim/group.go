package swim

import (
	"math"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ChangeKind tells the outcomes apart.
type ChangeKind uint8

// The outcomes. Only the fields named at each are set.
const (
	ChangeMember ChangeKind = iota // Member, From, To, By, Reason
	ChangeHold                     // Hold: more than half of the group fails at once, or does so no more
	ChangeSample                   // Member, Sample: for comparing clocks
)

// Change is an outcome for the role.
type Change struct {
	Kind     ChangeKind
	Member   Member
	From, To State
	By       node.ID
	Reason   string
	Hold     bool
	Sample   Sample
}

// Sample compares two clocks without reading an instant of another's: a probe
// was sent and answered, and the answer says how long the peer has been up.
type Sample struct {
	Sent, Received node.Instant
	Uptime         time.Duration
}

// Group is one node's view of its group. Its methods are called from Step.
type Group struct {
	config  Config
	table   table
	live    int    // alive and suspect, this node included
	view    uint64 // a sum over them
	order   []uint32
	cursor  int
	rare    // what few members have
	seeds   []seed
	started node.Instant

	buffer     buffer
	multiplier int
	lag        time.Duration
	leaving    bool
	app        app // this node's own
	fresh      int // rounds in which probes tell it: until all were probed since it changed
	sequence   uint64
	round      round
	silence    int // rounds in a row without an answer or a nack
	doubted    int // deaths of this page of a list that were put to their subjects
	relays     map[uint64]*relay
	exchange   exchange
	hold       hold
	changes    []Change
	spare      []Change // what Take returned last
}

// rare is kept beside the records, by place.
type rare struct {
	suspicions map[uint32]*suspicion
	ends       map[uint32]*end
	apps       map[uint32]app
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

// New returns a group that knows its seeds and its roster.
func New(c Config) *Group {
	if err := c.Validate(); err != nil {
		node.Bug("%v", err)
	}
	return &Group{
		config: c, relays: map[uint64]*relay{},
		rare: rare{map[uint32]*suspicion{}, map[uint32]*end{}, map[uint32]app{}},
	}
}

// Start begins: within InputStart.
func (g *Group) Start(env node.Env) {
	self := env.Self()
	g.started = env.Now()
	g.insert(&Identity{self.ID, self.Addr, self.Role}, firstOf(self.Incarnation), Alive)
	for _, a := range g.config.Seeds {
		if a != self.Addr && !slices.ContainsFunc(g.seeds, func(s seed) bool { return s.addr == a }) {
			g.seeds = append(g.seeds, seed{addr: a})
		}
	}
	g.roster(env)
	r := env.Rand(node.PurposeProbe)
	env.SetTimer(node.Key(node.PartSwim, node.SwimProbe), r.Duration(0, g.config.ProbeInterval))
	env.SetTimer(node.Key(node.PartSwim, node.SwimPushPull), r.Duration(0, g.config.PushPullInterval))
	g.round.due = env.Now().Add(g.config.ProbeInterval)
	g.join(env)
}

// firstOf is a run's first incarnation in the group.
func firstOf(run uint64) uint64 { return min(run, math.MaxUint32) << 32 }

// roster takes in who is known without having been heard.
func (g *Group) roster(env node.Env) {
	if n := len(g.config.Known); n > 0 {
		g.table.reserve(n)
		g.order = make([]uint32, 0, n)
	}
	for _, who := range g.config.Known {
		if _, known := g.table.find(who.ID); known || g.table.size() >= g.config.MembersMax {
			continue
		}
		i := g.insert(who, firstOf(1), Alive)
		g.table.records[i].listed = true
		g.order = append(g.order, i)
		g.settle(i)
	}
	g.shuffle(env)
}

// Receive takes what is the group's, and says whether it was.
func (g *Group) Receive(env node.Env, in *node.Input) bool {
	switch m := in.Message.(type) {
	case *message.SwimProbe:
		if i, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.onProbe(env, in.From, i, m)
		}
	case *message.SwimAck:
		if i, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.onAck(env, in.From, i, m)
		}
	case *message.SwimAsk:
		if i, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.onAsk(env, in.From, i, m)
		}
	case *message.SwimNack:
		if _, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.onNack(in.From, m)
		}
	case *message.SwimGossip:
		if i, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.hearAll(env, in.From, i, m.News, byGossip)
		}
	case *message.SwimCompare:
		if _, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.onCompare(env, in.From, m)
		}
	case *message.SwimList:
		if i, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.onList(env, in, i, m)
		}
	default:
		return false
	}
	return true
}

// heard takes every message for word that its sender lives, and returns the
// sender's place. False: the message is not one of this group.
func (g *Group) heard(env node.Env, in *node.Input, group string, incarnation uint64) (uint32, bool) {
	from := &in.From
	if group != g.config.Group {
		return 0, g.ignore(env, in, "it is of the group "+group+", this is "+g.config.Group)
	}
	i, known := g.table.find(from.ID)
	if known && g.table.records[i].incarnation == incarnation && i != 0 {
		return i, true
	}
	if i == 0 && known || incarnation < firstOf(from.Incarnation) {
		return 0, g.ignore(env, in, "its sender is not who it says")
	}
	g.hear(env, *from, &message.SwimNews{
		Node: string(from.ID), Addr: string(from.Addr), Role: uint8(from.Role), Incarnation: incarnation, State: uint8(Alive),
	}, byItself)
	i, known = g.table.find(from.ID)
	return i, known // it is not, where there is no room
}

// ignore tells observers of a message that makes no sense; it is always false.
func (g *Group) ignore(env node.Env, in *node.Input, why string) bool {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
	return false
}

// Fire takes a timer that is the group's, and says whether it was.
func (g *Group) Fire(env node.Env, k node.TimerKey) bool {
	if k.Part != node.PartSwim {
		return false
	}
	switch k.Kind {
	case node.SwimProbe:
		g.onRound(env)
	case node.SwimAck:
		g.onSilent(env)
	case node.SwimRelay:
		g.onRelay(env, k.N())
	case node.SwimSuspect:
		g.onSuspicion(env, uint32(k.N()))
	case node.SwimGossip:
		g.onGossip(env)
	case node.SwimPushPull:
		g.onPushPull(env)
	case node.SwimReap:
		g.onReap(env)
	case node.SwimJoin:
		g.join(env)
	case node.SwimHold:
		g.onHold(env)
	}
	return true
}

// Take returns what came about since the last call; it holds until the next one.
func (g *Group) Take() []Change {
	g.changes, g.spare = g.spare[:0], g.changes
	return g.spare
}

// SetState says what this node tells of itself: with probes until all were probed,
// and with answers to those who do not have it.
func (g *Group) SetState(b []byte) {
	if len(b) > stateMax {
		node.Bug("swim: a state of %d bytes, at most %d ride on a probe", len(b), stateMax)
	}
	if g.app.version == 0 || !slices.Equal(b, g.app.bytes) {
		g.app.version, g.app.bytes = g.app.version+1, slices.Clone(b)
		g.fresh = len(g.order) + 1
	}
}

// SetLag says how late this node's loop is; the role calls it as often as it
// measures.
func (g *Group) SetLag(d time.Duration) {
	was := g.lag
	g.lag = d
	switch {
	case d >= lagSevere:
		g.bump(2)
	case d >= lagMild:
		g.bump(1)
	case was >= lagMild:
		g.bump(-1)
	}
}

// Lags that count against local health: once, or twice.
const (
	lagMild   = 500 * time.Millisecond
	lagSevere = 2 * time.Second
)

// bump moves local health, 0 at best.
func (g *Group) bump(by int) {
	if g.config.HealthProbe {
		g.multiplier = max(0, min(g.config.MultiplierMax, g.multiplier+by))
	}
}

// Multiplier is local health: 0 at best.
func (g *Group) Multiplier() int { return g.multiplier }

// Waiting is how many pieces of news wait to be told.
func (g *Group) Waiting() int { return len(g.buffer.pieces) }

// Live is how many members are alive or suspect, this node included.
func (g *Group) Live() int { return g.live }

// Incarnation is this node's own.
func (g *Group) Incarnation() uint64 { return g.table.records[0].incarnation }

// EvictionHold says that more than half of the group failed at once, HoldMax ago
// at most: whoever evicts for other reasons than death should wait.
func (g *Group) EvictionHold() bool { return g.hold.on }

// Find returns the member of a name.
func (g *Group) Find(id node.ID) (Member, bool) {
	i, ok := g.table.find(id)
	if !ok {
		return Member{}, false
	}
	return g.member(i), true
}

// FindAddr returns who was heard last at an address, and is not gone if anybody
// there is not.
func (g *Group) FindAddr(a node.Addr) (Member, bool) {
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
func (g *Group) Members() []Member {
	return pick(g, make([]Member, 0, g.table.size()), func(State) bool { return true })
}

// Doubted returns those that are not alive, by name.
func (g *Group) Doubted() []Member {
	return pick(g, nil, func(s State) bool { return s != Alive })
}

func pick(g *Group, all []Member, of func(State) bool) []Member {
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
func (g *Group) Unconfirmed() []node.Addr {
	var all []node.Addr
	for _, s := range g.seeds {
		if !s.known {
			all = append(all, s.addr)
		}
	}
	return all
}
