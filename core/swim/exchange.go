package swim

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// exchange is the exchange of lists that this node began.
type exchange struct {
	asked  node.Addr // the member whose comparison it awaits
	stream node.StreamID
	since  node.Instant
}

// Pages of a list: bytes of news, and their number.
const (
	pageBytes = 32 << 10
	pageNews  = 1024
	// exchangeIntervals of probes: this node gives up an exchange that takes longer, at its next
	// comparison with a random member or when it wants another exchange.
	exchangeIntervals = 10
)

// onPushPull compares lists with a random member.
func (g *Group) onPushPull(env node.Env) {
	env.SetTimer(node.Key(node.PartSwim, node.SwimPushPull), g.config.PushPullInterval)
	g.giveUp(env)
	for _, i := range g.some(env.Rand(node.PurposeProbe), 1, 0) {
		g.compare(env, g.table.records[i].who.Addr)
	}
}

// SetSeeds replaces the seeds, as far as they change. Those that remain keep what is known of them.
func (g *Group) SetSeeds(env node.Env, addrs []node.Addr) {
	var seeds []seed
	for _, a := range addrs {
		if a == env.Self().Addr || slices.ContainsFunc(seeds, func(s seed) bool { return s.addr == a }) {
			continue
		}
		s := seed{addr: a}
		if at := slices.IndexFunc(g.seeds, func(o seed) bool { return o.addr == a }); at >= 0 {
			s = g.seeds[at]
		}
		seeds = append(seeds, s)
	}
	g.seeds = seeds
	for i := range g.table.records {
		if r := &g.table.records[i]; r.who != nil && !r.state.Gone() {
			g.settle(uint32(i))
		}
	}
}

// join compares lists with seeds: with all of them while this node knows no other member, then
// with one that is dead or was never heard. So the group is one again after a cut has healed. A
// node that was put off compares with any member, too.
func (g *Group) join(env node.Env) {
	wait := g.config.SeedInterval
	if g.live == 1 || g.pace.behind {
		wait = g.config.JoinInterval
	}
	r := env.Rand(node.PurposeProbe)
	env.SetTimer(node.Key(node.PartSwim, node.SwimJoin), r.Duration(wait/2, wait))
	if g.leaving {
		return
	}
	var away []node.Addr
	for _, s := range g.seeds {
		if !s.known || g.table.records[s.place].state.Gone() {
			away = append(away, s.addr)
		}
	}
	if g.pace.behind {
		for _, i := range g.some(r, 1, 0) {
			away = append(away, g.table.records[i].who.Addr)
		}
	}
	if len(away) == 0 {
		return
	}
	if g.live > 1 {
		g.compare(env, away[r.Int(len(away))])
		return
	}
	for _, a := range away {
		g.compare(env, a)
	}
}

func (g *Group) comparison(answer bool) *message.SwimCompare {
	return &message.SwimCompare{
		Group: g.config.Group, Incarnation: g.Incarnation(), Members: uint32(g.live), View: g.view, Answer: answer,
	}
}

// compare sends a digest of this node's list. A different digest in the answer opens a stream;
// silence costs nothing.
func (g *Group) compare(env node.Env, to node.Addr) {
	g.exchange.asked = to
	env.Datagram(to, g.comparison(false))
}

// onCompare answers only if the digests differ. Both sides exchange lists only while their budgets
// last.
func (g *Group) onCompare(env node.Env, from node.Peer, i uint32, m *message.SwimCompare) {
	if m.View == g.view {
		g.pace.behind = false
		return
	}
	if !m.Answer {
		if !g.exchangeable(env, m.Members) {
			g.putOff(env, i)
			return
		}
		g.pace.promise(g.table.bytes, &g.config)
		env.Datagram(from.Addr, g.comparison(true))
		return
	}
	if g.giveUp(env); g.exchange.stream != 0 {
		return
	}
	if !g.exchangeable(env, m.Members) {
		g.pace.trail(m.Members, g.live)
		return
	}
	g.exchange.stream, g.exchange.since = env.Open(from.Addr), env.Now()
}

// giveUp closes the stream of an exchange that takes too long. A peer that crashed after it had
// acknowledged the list, and that this node cannot hear, leaves it open for ever.
func (g *Group) giveUp(env node.Env) {
	if x := &g.exchange; x.stream != 0 && env.Now().Sub(x.since) >= exchangeIntervals*g.config.ProbeInterval {
		env.Close(x.stream)
		x.stream = 0
	}
}

// Opened takes the stream of an exchange, and reports whether it was one. It does not recognize
// streams that others open for an exchange: their messages identify them.
func (g *Group) Opened(env node.Env, in *node.Input) bool {
	if in.Stream == 0 || in.Stream != g.exchange.stream {
		return false
	}
	g.pace.live, g.pace.more = g.live, false
	g.sendList(env, in.Stream, false)
	return true
}

// Broken takes the end of the stream of an exchange, and reports whether it was one.
func (g *Group) Broken(_ node.Env, in *node.Input) bool {
	if in.Stream == 0 || in.Stream != g.exchange.stream {
		return false
	}
	g.exchange.stream = 0
	return true
}

// sendList sends the whole list, with tombstones, one page at a time.
func (g *Group) sendList(env node.Env, on node.StreamID, answer bool) {
	var page []message.SwimNews
	size := 0
	send := func(more bool) {
		env.Send(on, &message.SwimList{Group: g.config.Group, Incarnation: g.Incarnation(), News: page, Answer: answer, More: more})
		page, size = nil, 0
	}
	for i := range g.table.records {
		if g.table.records[i].who == nil {
			continue
		}
		if page == nil {
			page = make([]message.SwimNews, 0, min(pageNews, len(g.table.records)-i))
		}
		n := g.newsOf(env.Now(), uint32(i), true)
		bytes := n.Bytes()
		if size+bytes > pageBytes || len(page) == pageNews {
			send(true)
		}
		page, size = append(page, n), size+bytes
	}
	send(false)
}

// onList merges a page. It answers the last page of the member that began the exchange.
func (g *Group) onList(env node.Env, in *node.Input, i uint32, m *message.SwimList) {
	g.doubted = 0
	g.hearAll(env, in.From, i, m.News, byList)
	own := m.Answer && in.Stream != 0 && in.Stream == g.exchange.stream
	if own {
		g.pace.more = g.pace.more || len(m.News) > 0
	}
	switch {
	case m.More:
	case own:
		env.Close(in.Stream)
		g.exchange.stream = 0
		g.pace.caught(g.live)
	case !m.Answer && in.Stream != 0 && g.pace.promised(env.Now(), g.table.bytes, &g.config):
		g.sendList(env, in.Stream, true)
	case !m.Answer && in.Stream != 0:
		// An empty page ends the exchange.
		env.Send(in.Stream, &message.SwimList{Group: g.config.Group, Incarnation: g.Incarnation(), Answer: true})
	}
}
