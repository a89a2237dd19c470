package swim

import (
	"math"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// round is one probe: direct, then indirect, then judged when the next one begins.
type round struct {
	active   bool
	acked    bool
	sequence uint64
	place    uint32
	target   node.ID
	sent     node.Instant
	due      node.Instant // when the next round begins
	asked    []node.ID    // members that must probe indirectly
	nacks    []node.ID    // those of them that answered that the target is silent
}

// onRound judges the last round and begins the next.
func (g *Group) onRound(env node.Env) {
	late := env.Now().Sub(g.round.due)
	if g.stopped(late) {
		// The answer may have arrived while this node did not run: that proves nothing against
		// the target, and something against this node.
		g.bump(1)
		if late > lagSevere {
			g.bump(1)
		}
		env.Emit(event.Reached{What: "swim/late-round"})
	} else if g.round.active && !g.round.acked {
		g.fail(env)
	}
	g.round = round{asked: g.round.asked[:0], nacks: g.round.nacks[:0]}
	g.fresh = max(0, g.fresh-1)
	wait := g.scaled(g.config.ProbeInterval)
	g.round.due = env.Now().Add(wait)
	env.SetTimer(node.Key(node.PartSwim, node.SwimProbe), wait)
	if i, ok := g.next(env.Rand(node.PurposeProbe)); ok && !g.leaving {
		g.probe(env, i)
	}
}

// fail ends a round without an answer.
func (g *Group) fail(env node.Env) {
	r := &g.round
	if n := len(r.asked); n > 0 && g.config.HealthProbe {
		g.bump(n - len(r.nacks)) // some helpers did not answer either: the fault may be here
	} else {
		g.bump(1)
	}
	if len(r.nacks) == 0 {
		g.silence++
	}
	i, known := g.table.find(r.target)
	if !known {
		return
	}
	switch g.table.records[i].state {
	case Alive:
		g.becomeSuspect(env, i, env.Self().ID, "no answer to a probe")
	case Suspect:
		g.confirm(env, i, env.Self().ID)
	}
}

func (g *Group) probe(env node.Env, i uint32) {
	r := &g.table.records[i]
	g.sequence++
	g.round.active, g.round.sequence, g.round.place, g.round.target, g.round.sent = true, g.sequence, i, r.who.ID, env.Now()
	env.SetTimer(node.Key(node.PartSwim, node.SwimAck), g.scaled(g.config.ProbeTimeout))
	g.sendProbe(env, i, g.sequence)
}

func (g *Group) sendProbe(env node.Env, i uint32, sequence uint64) {
	who := g.table.records[i].who
	m := &message.SwimProbe{Group: g.config.Group, Sequence: sequence, Target: string(who.ID), Incarnation: g.Incarnation()}
	if a := g.said(i); a.incarnation>>32 == g.table.records[i].incarnation>>32 {
		m.Known = a.version
	}
	if g.fresh > 0 {
		m.Version, m.State = g.app.version, g.app.bytes
	}
	m.News = g.letter(env, i, g.config.Buddy, m)
	env.Datagram(who.Addr, m)
}

// onProbe answers a probe of this node.
func (g *Group) onProbe(env node.Env, from node.Peer, i uint32, m *message.SwimProbe) {
	if m.Target != string(env.Self().ID) {
		env.Emit(event.Ignored{Peer: from.ID, Message: message.Name(m.Kind()), Why: "it is for " + m.Target})
		return
	}
	g.hearAll(env, from, i, m.News, byGossip)
	g.learn(i, m.Incarnation, m.Version, m.State)
	a := g.ackTo(env, m.Sequence, m.Target)
	if g.app.version != m.Known {
		a.Version, a.State = g.app.version, g.app.bytes
	}
	g.ack(env, from.Addr, i, a)
}

// ackTo returns the answer that a target is alive: this node itself, or one that it probed for
// the receiver.
func (g *Group) ackTo(env node.Env, sequence uint64, target string) *message.SwimAck {
	return &message.SwimAck{
		Group: g.config.Group, Sequence: sequence, Target: target, Incarnation: g.Incarnation(),
		Uptime: uint64(env.Now().Sub(g.started) / time.Millisecond),
	}
}

// ack answers, and tells a suspect of the suspicion: it may have just woken up, and its own
// probe can be the first message between the two.
func (g *Group) ack(env node.Env, to node.Addr, i uint32, m *message.SwimAck) {
	m.News = g.letter(env, i, g.config.Buddy && g.config.Appeal, m)
	env.Datagram(to, m)
}

// onAck counts an answer with this round's sequence and target, from the target or from a
// member that was asked to probe; or it forwards the answer. A suspect that answers too late
// hears of the suspicion.
func (g *Group) onAck(env node.Env, from node.Peer, i uint32, m *message.SwimAck) {
	g.hearAll(env, from, i, m.News, byGossip)
	g.learn(i, m.Incarnation, m.Version, m.State)
	direct := m.Target == string(from.ID)
	r := &g.round
	if r.active && !r.acked && m.Sequence == r.sequence && m.Target == string(r.target) && (direct || slices.Contains(r.asked, from.ID)) {
		r.acked = true
		alone := g.alone()
		g.silence = 0
		if alone {
			g.recant(env)
		}
		env.CancelTimer(node.Key(node.PartSwim, node.SwimAck))
		g.bump(-1)
		if direct && !g.config.Untold {
			g.changes = append(g.changes, Change{Kind: ChangeSample, Member: g.member(i), Sample: Sample{r.sent, env.Now(), uptimeOf(m)}})
		}
		return
	}
	if direct && !g.passOn(env, m) && g.config.Appeal && g.table.records[i].state == Suspect {
		g.confront(env, i) // it answers late, so it has just woken up, and no other message may reach it before the verdict
	}
}

// uptimeOf returns the uptime in an answer, within what a clock can count.
func uptimeOf(m *message.SwimAck) time.Duration {
	return time.Duration(min(m.Uptime, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
}

// onSilent asks others to probe when the direct probe got no answer in time.
func (g *Group) onSilent(env node.Env) {
	r := &g.round
	if !r.active || r.acked {
		return
	}
	for _, i := range g.some(env.Rand(node.PurposeProbe), g.config.IndirectCount, r.place) {
		who := g.table.records[i].who
		m := &message.SwimAsk{
			Group: g.config.Group, Sequence: r.sequence, Target: string(r.target), Incarnation: g.Incarnation(), Nack: g.config.HealthProbe,
		}
		m.News = g.letter(env, i, false, m)
		r.asked = append(r.asked, who.ID)
		env.Datagram(who.Addr, m)
	}
}

// onNack notes that one of the helpers is alive, and did not hear the target.
func (g *Group) onNack(from node.Peer, m *message.SwimNack) {
	r := &g.round
	if r.active && m.Sequence == r.sequence && m.Target == string(r.target) &&
		slices.Contains(r.asked, from.ID) && !slices.Contains(r.nacks, from.ID) {
		r.nacks = append(r.nacks, from.ID)
	}
}

// learn stores a member's application state, unless it has a later version.
func (g *Group) learn(i uint32, incarnation, version uint64, b []byte) {
	if version == 0 {
		return
	}
	old := g.said(i)
	if old.version != 0 && (incarnation < old.incarnation || incarnation>>32 == old.incarnation>>32 && version <= old.version) || len(b) > stateMax {
		return
	}
	if int(i) >= len(g.apps) {
		g.apps = append(g.apps, make([]app, int(i)+1-len(g.apps))...)
	}
	g.apps[i] = app{incarnation, version, b}
}

// Leave announces the departure at once, to as many members as a piece of news is sent to,
// since the node may stop a moment later. Until then it answers, and probes no member.
func (g *Group) Leave(env node.Env) {
	if g.leaving {
		return
	}
	g.leaving = true
	g.round.active = false
	env.CancelTimer(node.Key(node.PartSwim, node.SwimAck))
	m := &message.SwimGossip{Group: g.config.Group, Incarnation: g.Incarnation(), News: []message.SwimNews{g.newsOf(env.Now(), 0, true)}}
	for _, i := range g.some(env.Rand(node.PurposeProbe), sendsMax(g.config.GossipFactor, g.live), 0) {
		env.Datagram(g.table.records[i].who.Addr, m)
	}
	// A member that probes this node meanwhile learns it with the answer: letter.
}

// SetState sets this node's application state. It goes with probes until all members were
// probed, and with answers to members that lack it.
func (g *Group) SetState(b []byte) {
	if len(b) > stateMax {
		node.Bug("swim: a state of %d bytes, at most %d ride on a probe", len(b), stateMax)
	}
	if g.app.version == 0 || !slices.Equal(b, g.app.bytes) {
		g.app.version, g.app.bytes = g.app.version+1, slices.Clone(b)
		g.fresh = len(g.order) + 1
	}
}
