package swim

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// tracker moves members from state to state, and reports that to the others and the role.
type tracker struct {
	gossiper
	doubted int // deaths in this page of a list that were sent to their subjects
	hold    hold
	driven  node.Instant // when this node last refuted an incarnation that it never had; 0: never
	changes []Change
	spare   []Change // the result of the last Take
}

// source says how news arrived.
type source uint8

const (
	byItself source = iota // a message of the member itself
	byGossip
	byList // an exchange of lists
)

// becauseOf returns the reason for a change.
func (s source) becauseOf() string {
	return [...]string{"heard", "gossip", "exchange of lists"}[s]
}

// hearAll merges the news that a member sends. If this node distrusts the member, it sends the
// reason instead.
func (g *tracker) hearAll(env node.Env, from node.Peer, i uint32, news []message.SwimNews, how source) {
	if g.config.Distrust && g.table.records[i].state == Dead {
		if how == byList || len(news) > 0 {
			g.confront(env, i)
		}
		for k := range news {
			if news[k].Node == string(g.table.records[0].who.ID) {
				g.hear(env, from, &news[k], how) // of this node itself: it can refute that
			}
		}
		return
	}
	behind := uint32(0)
	var found lookup
	for at := range news {
		if at%batch == 0 {
			g.table.findAll(news[at:min(at+batch, len(news))], &found)
		}
		place, known := found[at%batch]-1, true
		if found[at%batch] == 0 { // an earlier piece may have added it
			place, known = g.table.find(node.ID(news[at].Node))
		}
		if known && how == byGossip && g.refuted(&news[at], place) {
			behind = place
		}
		g.hearOf(env, from, &news[at], subject{place, known}, how)
	}
	if behind != 0 {
		g.correct(env, from.Addr, behind)
	}
}

// subject is the member of a piece of news.
type subject struct {
	place uint32
	known bool
}

// refuted reports that a suspicion was refuted long ago, so that its sender has missed that.
// Fresh refutations are on their way.
func (g *tracker) refuted(n *message.SwimNews, i uint32) bool {
	if !g.config.Appeal || n.State != uint8(Suspect) || i == 0 {
		return false
	}
	r := &g.table.records[i]
	return r.state == Alive && !r.queued && n.Incarnation < r.incarnation
}

// Only a member itself raises its incarnation, and its run rises by one at each start. News of others
// raise it by bounded steps, so that the member can always refute them: docs/ownership.md, "A member
// that lies", has the arithmetic.
const (
	runMax    = 1 << 31 // no node starts so often: news of such a run are forged
	runFar    = 1 << 21 // above a node's own run, as it may have lost the count of its starts
	runStep   = 1 << 8  // above the run that this node knows
	aheadMax  = 4       // such steps until the member itself is heard
	refutesUp = 1 << 28 // refutations of one run that this node has not heard of
)

// leaps reports whether news raise a member's run further than others than itself may.
func (g *tracker) leaps(env node.Env, n *message.SwimNews, about subject, how source) bool {
	run, refutations := n.Incarnation>>32, n.Incarnation&(1<<32-1)
	if run >= runMax {
		return true
	}
	if how == byItself {
		return false
	}
	if !about.known {
		return run > runFar/2 || refutations > refutesUp
	}
	r := &g.table.records[about.place]
	known := r.incarnation >> 32
	switch {
	case run < known:
		return false
	case run == known:
		return refutations > r.incarnation&(1<<32-1)+refutesUp
	case about.place == 0 && run <= env.Self().Incarnation+runFar:
		return refutations > refutesUp
	case about.place == 0:
		return run > known+runStep*aheadMax || refutations > refutesUp || !g.refutes(env.Now())
	}
	return run > known+runStep || r.ahead >= aheadMax || refutations > refutesUp
}

// implausible reports news that raise a member's run too far.
func (g *tracker) implausible(env node.Env, from node.Peer, n *message.SwimNews, about subject, how source) {
	held, name := uint64(0), message.Name(message.KindSwimGossip)
	if about.known {
		held = g.table.records[about.place].incarnation
	}
	if how == byList {
		name = message.Name(message.KindSwimList)
	}
	env.Emit(event.Implausible{Peer: from.ID, Message: name, What: "incarnation", Said: n.Incarnation, Held: held})
}

// hear merges one piece of news: the higher incarnation wins, and at equal ones the worse
// state, so that the order of news does not matter.
func (g *tracker) hear(env node.Env, from node.Peer, n *message.SwimNews, how source) {
	i, known := g.table.find(node.ID(n.Node))
	g.hearOf(env, from, n, subject{i, known}, how)
}

// hearOf is hear with the result of the look-up.
func (g *tracker) hearOf(env node.Env, from node.Peer, n *message.SwimNews, about subject, how source) {
	state := State(n.State)
	switch {
	case n.Node == "" || len(n.Node) > idMax || len(n.Addr) > addrMax || len(n.By) > idMax || state > Left || n.Incarnation == 0 || n.Age < 0:
		return
	case g.leaps(env, n, about, how):
		g.implausible(env, from, n, about, how)
		return
	}
	i := about.place
	switch {
	case !about.known:
		g.meet(env, n, how)
	case i == 0:
		g.accused(env, from, n)
	case n.Incarnation > g.table.records[i].incarnation:
		if r := &g.table.records[i]; how == byItself {
			r.ahead = 0
		} else if n.Incarnation>>32 > r.incarnation>>32 {
			r.ahead++
		}
		g.merge(env, i, n, how)
	case n.Incarnation == g.table.records[i].incarnation:
		g.buffer.echo(&g.table.records[i], i, state)
		g.merge(env, i, n, how)
	}
}

// merge takes news of a known member that are at least as new as its record.
func (g *tracker) merge(env node.Env, i uint32, n *message.SwimNews, how source) {
	r := &g.table.records[i]
	state, by := State(n.State), node.ID(n.By)
	newer := n.Incarnation > r.incarnation
	if state.Gone() {
		switch {
		case r.state.Gone() && newer:
			g.set(i, n.Incarnation, r.state)
			g.tell(env, i, classOf(r.state))
		case r.state.Gone():
		case how == byList && state == Dead && g.config.Distrust:
			g.doubt(env, i, n)
		case how == byList && state == Dead:
			// A living member gets the time of a suspicion to refute this.
			g.merge(env, i, &message.SwimNews{
				Node: n.Node, Addr: n.Addr, Role: n.Role, Incarnation: n.Incarnation, State: uint8(Suspect), By: n.By,
			}, how)
		default:
			g.becomeGone(env, i, state, n.Incarnation, ending{by: by, reason: how.becauseOf(), since: env.Now().Add(-n.Age)})
		}
		return
	}
	if newer {
		if n.Addr == "" && n.Incarnation>>32 != r.incarnation>>32 {
			return // another incarnation may be at another address: a list has the address
		}
		g.becomeAlive(env, i, n, how)
	}
	if state == Suspect {
		if r = &g.table.records[i]; r.state == Alive {
			g.becomeSuspect(env, i, by, how.becauseOf())
		} else if r.state == Suspect {
			g.confirm(env, i, by)
		}
	}
}

// meet adds an unknown name. It keeps a death of an unknown member without reporting it, so
// that older news do not make it a member.
func (g *tracker) meet(env node.Env, n *message.SwimNews, how source) {
	state := State(n.State)
	if state.Gone() && n.Age >= g.config.ReapAge || n.Addr == "" {
		return
	}
	if g.table.size() >= g.config.MembersMax {
		env.Emit(event.Shed{Reason: event.ShedBound, What: "member " + n.Node, Why: "the group is as large as it may be: raise swim.members_max"})
		return
	}
	who := g.table.names.keep(Identity{node.ID(n.Node), node.Addr(n.Addr), node.Role(n.Role)})
	if state.Gone() {
		i := g.insert(who, n.Incarnation, state)
		g.bury(env, i, &end{since: env.Now().Add(-n.Age), by: node.ID(n.By), silent: true})
		// A list also contains deaths that its owner does not gossip.
		if how != byList || state == Left || !g.config.Distrust {
			g.tell(env, i, classOf(state))
		}
		return
	}
	i := g.insert(who, n.Incarnation, Alive)
	g.list(env.Rand(node.PurposeProbe), i)
	g.settle(i)
	g.tell(env, i, classJoin)
	g.changed(env, i, Unknown, Alive, "", how.becauseOf())
	if state == Suspect {
		g.becomeSuspect(env, i, node.ID(n.By), how.becauseOf())
	}
}

// becomeAlive takes a strictly higher incarnation, from any state.
func (g *tracker) becomeAlive(env node.Env, i uint32, n *message.SwimNews, how source) {
	r := &g.table.records[i]
	was := r.state
	from := was
	restarted := n.Incarnation>>32 != r.incarnation>>32
	if was == Suspect {
		g.acquit(env, i)
	}
	if was.Gone() {
		if g.end(i).silent {
			from = Unknown
		}
		g.unbury(i)
	}
	g.set(i, n.Incarnation, Alive)
	if n.Addr != "" && (r.who.Addr != node.Addr(n.Addr) || r.who.Role != node.Role(n.Role)) {
		g.table.bytes -= listed(r.who)
		r.who = g.table.names.keep(Identity{r.who.ID, node.Addr(n.Addr), node.Role(n.Role)})
		g.table.bytes += listed(r.who)
	}
	g.settle(i)
	switch {
	case was.Gone():
		g.list(env.Rand(node.PurposeProbe), i)
		g.tell(env, i, classJoin)
	case restarted:
		g.tell(env, i, classRestart)
	default:
		g.tell(env, i, classAlive)
	}
	if was != Alive {
		g.changed(env, i, from, Alive, "", how.becauseOf())
	}
	g.weigh(env)
}

// ending is how a member ended.
type ending struct {
	by     node.ID
	reason string
	since  node.Instant
	untold bool // no other member confirmed the suspicion, and the node keeps the verdict to itself
}

// becomeGone ends a member that was alive or suspect. The outcome is the same whether this node
// detected that or learnt it.
func (g *tracker) becomeGone(env node.Env, i uint32, to State, incarnation uint64, e ending) {
	was := g.table.records[i].state
	if was.Gone() || i == 0 {
		node.Bug("swim: %s is %v and becomes %v", g.table.records[i].who.ID, was, to)
	}
	if was == Suspect {
		g.acquit(env, i)
	}
	g.set(i, incarnation, to)
	g.bury(env, i, &end{since: e.since, by: e.by})
	if e.untold {
		g.hush(i)
	} else {
		g.tell(env, i, classOf(to))
	}
	g.changed(env, i, was, to, e.by, e.reason)
	if to == Dead {
		g.mourn(env, i)
	}
	g.weigh(env)
}

// accused answers news of this node itself: it refutes any accusation of its current
// incarnation with a higher one.
func (g *tracker) accused(env node.Env, from node.Peer, n *message.SwimNews) {
	self := &g.table.records[0]
	if g.config.Appeal && !g.leaving && n.State != uint8(Alive) && n.Incarnation < self.incarnation && from.Addr != "" {
		// The sender has missed the refutation, and may be asking for it.
		env.Datagram(from.Addr, &message.SwimGossip{Group: g.config.Group, Incarnation: g.Incarnation()})
	}
	if g.leaving || n.Incarnation < self.incarnation || n.State == uint8(Alive) && n.Incarnation == self.incarnation {
		return
	}
	g.set(0, n.Incarnation+1, Alive)
	if n.State != uint8(Alive) {
		g.bump(1)
	}
	env.Emit(event.Reached{What: "swim/refuted"})
	if g.config.Distrust && n.State == uint8(Dead) {
		g.recant(env)
	}
	g.tell(env, 0, classAlive)
	if from.Addr != "" {
		env.Datagram(from.Addr, &message.SwimGossip{Group: g.config.Group, Incarnation: g.Incarnation()})
	}
}

// refutes reports whether this node may refute a run that it can never have had: once an interval of
// probes, so that forged news drive it up slowly.
func (g *tracker) refutes(now node.Instant) bool {
	if g.driven != 0 && now.Sub(g.driven) < g.config.ProbeInterval {
		return false
	}
	g.driven = now
	return true
}

// doubt handles a death in another's list that this node does not know: after a cut has healed,
// each side considers the other dead. It tells the member itself, which refutes that and recants:
// its own verdicts are from the time of the cut. If the member is dead, the next probe shows it.
func (g *tracker) doubt(env node.Env, i uint32, n *message.SwimNews) {
	if g.doubted >= recantMax {
		return
	}
	g.doubted++
	env.Datagram(g.table.records[i].who.Addr, &message.SwimGossip{
		Group: g.config.Group, Incarnation: g.Incarnation(), News: []message.SwimNews{*n},
	})
}

// recantMax bounds how many members this node asks at once; other nodes ask others.
const recantMax = 32

// recant is for a node that was cut off: its verdicts from that time prove nothing. It drops
// them from its news, and asks the doubted members.
func (g *tracker) recant(env node.Env) {
	g.buffer.pieces = slices.DeleteFunc(g.buffer.pieces, func(p piece) bool {
		bad := p.class == classSuspect || p.class == classDead
		if bad {
			g.table.records[p.place].queued = false
		}
		return bad
	})
	var doubted []uint32
	for i := range g.table.records {
		if r := &g.table.records[i]; r.who != nil && (r.state == Suspect || r.state == Dead) {
			doubted = append(doubted, uint32(i))
		}
	}
	env.Rand(node.PurposeProbe).Shuffle(len(doubted), func(a, b int) { doubted[a], doubted[b] = doubted[b], doubted[a] })
	for _, i := range doubted[:min(recantMax, len(doubted))] {
		g.confront(env, i)
	}
}

// changed reports a change to the role and the observers.
func (g *tracker) changed(env node.Env, i uint32, from, to State, by node.ID, reason string) {
	if !g.config.Untold {
		m := g.member(i)
		m.State = to
		g.changes = append(g.changes, Change{Kind: ChangeMember, Member: m, From: from, To: to, By: by, Reason: reason})
	}
	r := &g.table.records[i]
	env.Emit(event.MemberChanged{
		Group: g.config.Group, Member: r.who.ID, Incarnation: r.incarnation, From: from.String(), To: to.String(), By: by, Reason: reason,
	})
}

// spareMax bounds the memory kept for the next changes: a whole list makes many at once.
const spareMax = 16

// Take returns the changes since the last call; they are valid until the next one.
func (g *tracker) Take() []Change {
	g.changes, g.spare = g.spare[:0], g.changes
	if cap(g.changes) > spareMax {
		g.changes = nil
	}
	return g.spare
}
