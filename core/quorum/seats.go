package quorum

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

const (
	// replaceMax is how long this member waits for the word of the others on a change of seats.
	replaceMax = 4 * time.Second
	// pledgeMax is how long a member keeps its word to one that waits for others, whose clock may be slower.
	pledgeMax = 5 * time.Second
)

// Seat is the end of a change of seats that the role asked for: the set that this member's disk has
// now, or why nothing changed.
type Seat struct {
	Tag   uint64
	Set   seats.Set
	Known int // of the set's members: they have it on disk, as far as this member knows
	Err   error
}

// change is the change of seats under way.
type change struct {
	tag, nonce uint64
	old, to    node.Addr
	waits      []node.Addr // members whose word is missing
	heard      string      // one of them, or this member, hears the one that leaves
	writes     bool        // all agreed
	until      node.Instant
	ended      []Seat
	pledge
}

// pledge is this member's word to another one that changes a seat: it agrees to no second change meanwhile.
type pledge struct {
	pledged node.Addr
	held    node.Instant // until then
}

// open returns the member to which this one is pledged.
func (p *pledge) open(now node.Instant) (to node.Addr, ok bool) {
	return p.pledged, p.pledged != "" && now < p.held
}

// ears are when this member last heard each other one.
type ears map[node.Addr]node.Instant

// noteLife notes a sign of life of another member.
func (m *Member) noteLife(now node.Instant, a node.Addr) {
	if _, ok := m.ears[a]; ok {
		m.ears[a] = now
	}
}

// Hears reports whether another member has sent anything of late, or has answered one of the last beats.
// A member that has just started hears all. It implements lease.Order.
func (m *Member) Hears(now node.Instant, a node.Addr) bool {
	l := m.Links.To(a)
	return l == nil || l.Answers() || now.Sub(m.ears[a]) < m.Links.Patience()
}

// Replace gives the seat of one address to another. The one that leaves must be silent. First each other
// member says that it hears nothing of it, too, and that the group can bear the loss of a disk: a change
// counts as one. Ready hands out the end, with tag.
func (m *Member) Replace(env node.Env, old, to node.Addr, tag uint64) {
	c := &m.change
	set := m.Leases.Set()
	switch {
	case slices.Contains(set.Retired, string(old)) && slices.Contains(m.config.Members, to):
		c.end(Seat{Tag: tag, Set: set, Known: m.Leases.Holders()}) // a change that was asked for twice
		return
	case c.nonce != 0:
		c.end(Seat{Tag: tag, Err: fmt.Errorf("%s is about to be replaced: one change at a time", c.old)})
		return
	}
	archive.MendAgain(env, m.Files)
	why := ""
	if old != m.config.Self {
		why = m.lacks(env.Now(), m.Leases.Set().Version)
	}
	if why == "" {
		why = c.promise(env.Now(), m.config.Self)
	}
	if why != "" {
		c.end(Seat{Tag: tag, Err: errors.New(why)})
		return
	}
	m.ask(env, old, to, tag)
}

// ask asks all others but the one that leaves.
func (m *Member) ask(env node.Env, old, to node.Addr, tag uint64) {
	c := &m.change
	c.tag, c.nonce, c.old, c.to, c.until = tag, env.Rand(node.PurposeLease).Uint64()|1, old, to, env.Now().Add(replaceMax)
	c.waits, c.heard = c.waits[:0], ""
	for _, a := range m.config.Members {
		if a != m.config.Self && a != old {
			c.waits = append(c.waits, a)
			m.Links.Send(env, a, &message.SeatAsk{Group: m.config.Group, Nonce: c.nonce, Version: m.Leases.Set().Version, Old: string(old)})
		}
	}
	m.decide(env)
}

// bears says why this member does not agree that another one leaves; empty: it agrees. It hears that member: all
// else is ready, so an operator may stop it.
func (m *Member) bears(now node.Instant, version uint64, old node.Addr) (why string, hears bool) {
	if old == m.config.Self {
		return "it is the one that leaves: ask another one", false
	}
	switch why = m.lacks(now, version); {
	case why != "":
	case m.Hears(now, old):
		why, hears = fmt.Sprintf("it hears %s: stop that node, and ask again after %v", old, m.Links.Patience()), true
	}
	return why, hears
}

// lacks says why the group cannot lose a disk now, as far as this member knows; empty: it can.
func (m *Member) lacks(now node.Instant, version uint64) string {
	silent, wait := m.Leases.Silent(now)
	switch lacks := m.Files.Lacks(); {
	case lacks > 0:
		return fmt.Sprintf("it still fetches %d files that its records name", lacks)
	case !m.Leases.Speaks():
		return "it is no member yet"
	case !m.Election.Votes():
		return "it does not vote yet"
	case version != m.Leases.Set().Version:
		return "it has another set"
	case m.Leases.Moving():
		return "it is about to change its set"
	case silent > 0:
		return fmt.Sprintf("the owner of %d of its jobs is silent: ask again in %v or more, once other members own them", silent, max(wait, time.Second).Round(time.Second))
	}
	return ""
}

// promise pledges this member to one that changes a seat. It returns why it does not: it agrees to one at a time.
func (c *change) promise(now node.Instant, to node.Addr) string {
	switch other, open := c.open(now); {
	case c.nonce != 0:
		return fmt.Sprintf("it is about to replace %s: one change at a time", c.old)
	case open && other != to:
		return fmt.Sprintf("it agreed to a change of %s a moment ago: one change at a time", other)
	}
	c.pledge = pledge{to, now.Add(pledgeMax)}
	return ""
}

// onSeatAsk answers a member that changes a seat.
func (m *Member) onSeatAsk(env node.Env, from node.Addr, ask *message.SeatAsk) {
	archive.MendAgain(env, m.Files)
	why, hears := m.bears(env.Now(), ask.Version, node.Addr(ask.Old))
	if why == "" {
		why = m.change.promise(env.Now(), from)
	}
	m.Links.Send(env, from, &message.SeatWord{Group: ask.Group, Nonce: ask.Nonce, Why: why, Hears: hears})
}

// decide writes the set once all other members have agreed.
func (m *Member) decide(env node.Env) {
	c := &m.change
	if len(c.waits) > 0 {
		return
	}
	err := error(nil)
	switch why, hears := m.bears(env.Now(), m.Leases.Set().Version, c.old); {
	case c.heard != "" && (hears || c.old == m.config.Self || why == ""):
		err = errors.New(c.heard)
	case why != "":
		err = errors.New(why)
	default:
		err = m.Leases.Replace(env, c.old, c.to)
	}
	if c.writes = err == nil; !c.writes {
		c.fail(err)
	}
}

func (c *change) end(s Seat) { c.ended = append(c.ended, s) }

func (c *change) fail(err error) {
	c.end(Seat{Tag: c.tag, Err: err})
	c.nonce, c.writes, c.pledge = 0, false, pledge{}
}

// hearSeats handles the messages of changes.
func (m *Member) hearSeats(env node.Env, from node.Peer, msg node.Message) bool {
	c := &m.change
	switch w := msg.(type) {
	case *message.SeatAsk:
		if w.Group == m.config.Group && slices.Contains(m.config.Members, from.Addr) {
			m.onSeatAsk(env, from.Addr, w)
		}
	case *message.SeatWord:
		at := slices.Index(c.waits, from.Addr)
		switch {
		case w.Nonce != c.nonce || w.Group != m.config.Group || at < 0:
		case w.Why != "" && !w.Hears:
			c.fail(fmt.Errorf("%s does not agree: %s", from.ID, cut(w.Why)))
		default:
			if w.Hears {
				c.heard = fmt.Sprintf("%s does not agree: %s", from.ID, cut(w.Why))
			}
			c.waits = slices.Delete(c.waits, at, at+1)
			m.decide(env)
		}
	default:
		return false
	}
	return true
}

// cut bounds another member's words.
func cut(s string) string { return s[:min(len(s), 200)] }

// tickSeats gives up a change that other members did not answer.
func (m *Member) tickSeats(env node.Env) {
	c := &m.change
	if c.nonce != 0 && env.Now() >= c.until {
		why := "the disk did not take the set"
		if !c.writes {
			why = fmt.Sprintf("%v did not answer within %v: all members but the one that leaves must be ready", c.waits, replaceMax)
		}
		c.fail(errors.New(why))
	}
}
