package quorum

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// replaceMax is how long this member waits for the word of the others on a change of seats.
const replaceMax = 5 * time.Second

// Seat is the end of a change of seats that the role asked for: the set that this member's disk has
// now, or why nothing changed.
type Seat struct {
	Tag uint64
	Set seats.Set
	Err error
}

// change is the change of seats under way.
type change struct {
	tag, nonce uint64
	old, to    node.Addr
	waits      []node.Addr // members whose word is missing
	writes     bool        // all agreed
	until      node.Instant
	ended      []Seat
}

// Replace gives the seat of one address to another. First each other member says that the group can
// bear the loss of a disk: a change counts as one. Ready hands out the end, with tag.
func (m *Member) Replace(env node.Env, old, to node.Addr, tag uint64) {
	c := &m.change
	switch {
	case !slices.Contains(m.config.Members, old) && slices.Contains(m.config.Members, to):
		c.end(Seat{Tag: tag, Set: m.Leases.Set()}) // a change that was asked for twice
		return
	case old == m.config.Self:
		c.end(Seat{Tag: tag, Err: errors.New("this member is the one that leaves: ask another one")})
		return
	case c.nonce != 0:
		c.end(Seat{Tag: tag, Err: fmt.Errorf("%s is about to be replaced: one change at a time", c.old)})
		return
	}
	c.tag, c.nonce, c.old, c.to, c.until = tag, env.Rand(node.PurposeLease).Uint64()|1, old, to, env.Now().Add(replaceMax)
	c.waits = c.waits[:0]
	for _, a := range m.config.Members {
		if a != m.config.Self && a != old {
			c.waits = append(c.waits, a)
			m.Links.Send(env, a, &message.SeatAsk{Group: m.config.Group, Nonce: c.nonce, Version: m.Leases.Set().Version})
		}
	}
	m.decide(env)
}

// bears says why this member's group cannot lose a disk now; empty: it can.
func (m *Member) bears(version uint64) string {
	switch lacks := m.Files.Lacks(); {
	case lacks > 0:
		return fmt.Sprintf("it still fetches %d files that its records name", lacks)
	case !m.Leases.Speaks():
		return "it is no member yet"
	case !m.Election.Votes():
		return "it does not vote yet"
	case version != m.Leases.Set().Version:
		return "it has another set"
	case m.change.writes:
		return "it is about to change its set"
	}
	return ""
}

// decide writes the set once all other members have agreed.
func (m *Member) decide(env node.Env) {
	c := &m.change
	if len(c.waits) > 0 {
		return
	}
	err := error(nil)
	if why := m.bears(m.Leases.Set().Version); why != "" {
		err = errors.New(why)
	} else {
		err = m.Leases.Replace(env, c.old, c.to)
	}
	if c.writes = err == nil; !c.writes {
		c.fail(err)
	}
}

func (c *change) end(s Seat) { c.ended = append(c.ended, s) }

func (c *change) fail(err error) {
	c.end(Seat{Tag: c.tag, Err: err})
	c.nonce, c.writes = 0, false
}

// hearSeats handles the messages of changes.
func (m *Member) hearSeats(env node.Env, from node.Peer, msg node.Message) bool {
	c := &m.change
	switch w := msg.(type) {
	case *message.SeatAsk:
		if w.Group == m.config.Group && slices.Contains(m.config.Members, from.Addr) {
			m.Links.Send(env, from.Addr, &message.SeatWord{Group: w.Group, Nonce: w.Nonce, Why: m.bears(w.Version)})
		}
	case *message.SeatWord:
		at := slices.Index(c.waits, from.Addr)
		switch {
		case w.Nonce != c.nonce || w.Group != m.config.Group || at < 0:
		case w.Why != "":
			c.fail(fmt.Errorf("%s cannot bear it: %s", from.ID, cut(w.Why)))
		default:
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
