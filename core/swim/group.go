package swim

import (
	"math"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ChangeKind is the kind of a Change.
type ChangeKind uint8

// The kinds of change, with the fields that are set.
const (
	ChangeMember ChangeKind = iota // Member, From, To, By, Reason
	ChangeHold                     // Hold: more than half of the group fails at once, or no longer does
	ChangeSample                   // Member, Sample: for comparing clocks
)

// Change is one outcome for the role.
type Change struct {
	Kind     ChangeKind
	Member   Member
	From, To State
	By       node.ID
	Reason   string
	Hold     bool
	Sample   Sample
}

// Sample compares two clocks without reading another's instant: the times of a probe and its
// answer, and the uptime in the answer.
type Sample struct {
	Sent, Received node.Instant
	Uptime         time.Duration
}

// Group is one node's view of its group. The role calls its methods from Step.
type Group struct {
	tracker
	started node.Instant

	app      app // of this node itself
	fresh    int // rounds in which probes carry it: until all members were probed since it changed
	sequence uint64
	round    round
	relays   map[uint64]*relay
	exchange exchange
	pace     pace
}

// New returns a group that knows its seeds and its roster.
func New(c Config) *Group {
	if err := c.Validate(); err != nil {
		node.Bug("%v", err)
	}
	g := &Group{relays: map[uint64]*relay{}}
	g.config, g.health.c = c, &g.config
	if g.table.names = c.Names; c.Names == nil {
		g.table.names = &Names{}
	}
	return g
}

// Start begins, within InputStart.
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

// firstOf returns the first incarnation of a node's incarnation in the group.
func firstOf(run uint64) uint64 { return min(run, math.MaxUint32) << 32 }

// roster adds the members that are known without having been heard.
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
	g.shuffle(env.Rand(node.PurposeProbe))
}

// Receive takes a message of the group, and reports whether it was one.
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
			g.pace.trail(m.Members, g.live)
		}
	case *message.SwimCompare:
		if i, ok := g.heard(env, in, m.Group, m.Incarnation); ok {
			g.onCompare(env, in.From, i, m)
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

// heard counts every message as a sign of life of its sender, and returns the sender's place.
// False: the message is not one of this group.
func (g *Group) heard(env node.Env, in *node.Input, group string, incarnation uint64) (uint32, bool) {
	from := &in.From
	if group != g.config.Group {
		return 0, g.ignore(env, in, "it is of the group "+group+", this is "+g.config.Group)
	}
	i, known := g.table.find(from.ID)
	if known && g.table.records[i].incarnation == incarnation && i != 0 {
		g.table.records[i].ahead = 0
		return i, true
	}
	if i == 0 && known || incarnation < firstOf(from.Incarnation) {
		return 0, g.ignore(env, in, "its sender is not who it says")
	}
	g.hear(env, *from, &message.SwimNews{
		Node: string(from.ID), Addr: string(from.Addr), Role: uint8(from.Role), Incarnation: incarnation, State: uint8(Alive),
	}, byItself)
	i, known = g.table.find(from.ID)
	return i, known // it is unknown if there was no room
}

// ignore reports a message that makes no sense; it always returns false.
func (g *Group) ignore(env node.Env, in *node.Input, why string) bool {
	env.Emit(event.Ignored{Peer: in.From.ID, Message: message.Name(in.Message.Kind()), Why: why})
	return false
}

// Fire handles a timer, and reports whether it was the group's.
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
