package swim

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// pace bounds the bytes of lists that a node exchanges. Ten thousand members that join at once
// request ten thousand lists of ten thousand names of one seed, and answers to heartbeats would
// wait behind gigabytes. Who exceeds the budget learns some names, and asks one of those members.
type pace struct {
	spent  int          // bytes above what the rate has paid for: at most ListBurst, and one list
	at     node.Instant // when spent was counted
	paid   int          // bytes of own lists that this node promised, and that the budget has paid for
	behind bool         // this node was put off by a member that knows far more: it asks another one soon
	live   int          // members that this node knew when its own exchange began
	more   bool         // its exchange has brought a page of news
}

// overhead is what a name costs in a list beside its bytes.
const overhead = 10

// listed returns about how many bytes an identity takes in a list.
func listed(who *Identity) int { return len(who.ID) + len(who.Addr) + overhead }

// afford takes bytes from the budget. A list is sent whole, so the last one may exceed it.
func (p *pace) afford(now node.Instant, bytes int, c *Config) bool {
	elapsed := now.Sub(p.at).Truncate(time.Millisecond)
	p.at = p.at.Add(elapsed)
	p.spent = max(0, p.spent-int(int64(min(elapsed, time.Hour)/time.Millisecond)*int64(c.ListRate)/1000))
	if p.spent >= c.ListBurst {
		return false
	}
	p.spent += bytes
	return true
}

// promise remembers that the budget has paid for a list of so many bytes, which the peer will request.
func (p *pace) promise(bytes int, c *Config) { p.paid = min(p.paid+bytes, c.ListBurst) }

// promised reports that this node may answer with its list: it promised so, or the budget pays. A
// peer that requests lists without a comparison gets no more of them.
func (p *pace) promised(now node.Instant, bytes int, c *Config) bool {
	if p.paid > 0 {
		p.paid = max(0, p.paid-bytes)
		return true
	}
	return p.afford(now, bytes, c)
}

// trail decides whether this node, which knows so many live members, asks another one soon: one of so many
// members put it off.
func (p *pace) trail(members uint32, live int) {
	if members > 0 {
		p.behind = 2*int64(members) > 3*int64(live)
	}
}

// caught decides the same at the end of an exchange: a list that brought many names comes from a
// member that still learns, and the next one has more.
func (p *pace) caught(live int) {
	if p.more && 2*live <= 3*p.live {
		p.behind = false
	}
}

// exchangeable takes an exchange of lists with a member that knows so many from the budget.
func (g *Group) exchangeable(env node.Env, members uint32) bool {
	theirs := g.table.bytes / max(1, g.table.size()) * min(int(members), g.config.MembersMax)
	return g.pace.afford(env.Now(), g.table.bytes+theirs, &g.config)
}

// referrals is how many members a node names to one that it puts off.
const referrals = 8

// putOff answers a comparison for which the budget has no bytes: with names of members that the
// sender can ask, and with waiting news.
func (g *Group) putOff(env node.Env, i uint32) {
	env.Emit(event.Reached{What: "swim/put-off"})
	m := &message.SwimGossip{Group: g.config.Group, Incarnation: g.Incarnation(), Members: uint32(g.live)}
	for _, k := range g.some(env.Rand(node.PurposeProbe), referrals, i) {
		if n := g.newsOf(env.Now(), k, true); m.Size()+n.Bytes()+2 <= bodyMax {
			m.News = append(m.News, n)
		}
	}
	m.News = append(m.News, g.letter(env, i, g.config.Buddy, m)...)
	env.Datagram(g.table.records[i].who.Addr, m)
}
