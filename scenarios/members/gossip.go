package members

import (
	"fmt"
	"time"

	"hyperscale/core/message/toy"
	"hyperscale/core/node"
	"hyperscale/netsim"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// The rates of the toy: a probe a second, news to three others five times a second. The program
// against which the simulator's speed is measured has the same rates.
const (
	gossipProbe   = time.Second
	gossipTimeout = 500 * time.Millisecond
	gossipEvery   = 200 * time.Millisecond
	gossipFanout  = 3
	gossipLoss    = 10_000 // parts per million
	gossipNews    = 64     // after so much news a member makes some of its own
)

// Timer kinds of the toy.
const (
	gossipTimerProbe uint8 = iota + 1
	gossipTimerTimeout
	GossipTimerSpread
)

// gossips are the worlds of toy machines: they measure the simulator itself.
func gossips() []stage.Scenario {
	return []stage.Scenario{{
		Name:    "gossip",
		Doc:     "A thousand toy members probe and gossip by datagrams, of which one in a hundred is lost, and do nothing else: the simulator's own speed. Nothing can go wrong in it.",
		Virtual: time.Minute,
		Least:   time.Second,
		Network: gossipNetwork,
		Build:   func(s *stage.Stage) { AddGossip(s.World, 1000) },
	}}
}

func gossipNetwork() netsim.Config {
	network := netsim.Default()
	network.Near.Loss, network.Far.Loss = gossipLoss, gossipLoss
	return network
}

// GossipConfig configures a world of members that only exchange datagrams.
type GossipConfig struct {
	Seed     uint64
	Members  int
	Wire     bool
	Observer sim.Observer
}

// NewGossip returns that world with all members started.
func NewGossip(c GossipConfig) *sim.World {
	w := sim.New(sim.Config{Seed: c.Seed, Wire: c.Wire, Network: gossipNetwork(), Observer: c.Observer})
	AddGossip(w, c.Members)
	return w
}

// AddGossip puts members into a world, spread over four places, and starts them.
func AddGossip(w *sim.World, members int) {
	addresses := make([]node.Addr, members)
	for i := range members {
		id := node.ID(fmt.Sprintf("member-%04d", i))
		w.Add(sim.Spec{ID: id, Role: node.RoleToy, Place: stage.Datacenter(i % 4), New: func() node.Machine {
			return newMember(uint32(i), addresses)
		}})
		addresses[i] = w.Addr(id)
		w.Start(id)
	}
}

// member is the toy: it believes the higher incarnation.
type member struct {
	self         uint32
	addresses    []node.Addr
	incarnations []uint32 // of all members
	probe        uint64   // counter of the last probe
	target       uint32
	news         toy.Gossip // the newest at told % len
	told         int
}

func newMember(self uint32, addresses []node.Addr) *member {
	return &member{self: self, addresses: addresses, incarnations: make([]uint32, len(addresses))}
}

// Step implements node.Machine.
func (m *member) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		r := env.Rand(node.PurposeToy)
		env.SetTimer(node.Key(node.PartGossip, gossipTimerProbe), r.Duration(0, gossipProbe))
		env.SetTimer(node.Key(node.PartGossip, GossipTimerSpread), r.Duration(0, gossipEvery))
	case node.InputTimer:
		m.onTimer(env, in.Timer.Kind)
	case node.InputMessage:
		m.onMessage(env, in)
	case node.InputStop:
		env.Halt("")
	}
}

func (m *member) any(env node.Env) uint32 {
	return uint32(env.Rand(node.PurposeToy).N(uint64(len(m.addresses))))
}

func (m *member) onTimer(env node.Env, kind uint8) {
	switch kind {
	case gossipTimerProbe:
		m.probe++
		m.target = m.any(env)
		env.Datagram(m.addresses[m.target], m.ping())
		env.SetTimer(node.Key(node.PartGossip, gossipTimerTimeout), gossipTimeout)
		env.SetTimer(node.Key(node.PartGossip, gossipTimerProbe), gossipProbe)
	case gossipTimerTimeout:
		env.Datagram(m.addresses[m.target], m.ping())
	case GossipTimerSpread:
		news := m.news // a copy: a sent message never changes
		for range gossipFanout {
			env.Datagram(m.addresses[m.any(env)], &news)
		}
		env.SetTimer(node.Key(node.PartGossip, GossipTimerSpread), gossipEvery)
	}
}

func (m *member) ping() *toy.Ping {
	return &toy.Ping{Counter: m.probe, Incarnation: uint64(m.incarnations[m.self]), From: m.self}
}

func (m *member) onMessage(env node.Env, in *node.Input) {
	switch p := in.Message.(type) {
	case *toy.Ping:
		env.Datagram(in.From.Addr, &toy.Ack{Counter: p.Counter, Incarnation: uint64(m.incarnations[m.self]), From: m.self})
	case *toy.Ack:
		if p.Counter == m.probe && int(p.From) < len(m.incarnations) {
			env.CancelTimer(node.Key(node.PartGossip, gossipTimerTimeout))
			m.incarnations[p.From] = uint32(p.Incarnation)
		}
	case *toy.Gossip:
		m.onGossip(p)
	}
}

// onGossip keeps news and passes it on. Now and then it makes some, so that there is always
// some to send.
func (m *member) onGossip(g *toy.Gossip) {
	for i := range g.Updates {
		u := &g.Updates[i]
		if int(u.Node) < len(m.incarnations) && u.Incarnation > m.incarnations[u.Node] {
			m.incarnations[u.Node] = u.Incarnation
			m.tell(*u)
		}
	}
	if m.told%gossipNews == 0 {
		m.incarnations[m.self]++
		m.tell(toy.GossipUpdate{Node: m.self, Incarnation: m.incarnations[m.self]})
	}
}

func (m *member) tell(u toy.GossipUpdate) {
	m.news.Updates[m.told%len(m.news.Updates)] = u
	m.told++
}
