package election

import (
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// An epoch has 1<<32 terms, and a voter that has used them up stands no more. So no voter's word
// raises another's term at will. Honest terms rise one by one: each voter stands at most once in a
// TimeoutMin. docs/ownership.md, "A member that lies", has the arithmetic.

// termSlack is how many terms a voter that starts may have missed, as far as it believes one other
// voter. It learns of more from a majority.
const termSlack = 1 << 24

// trust bounds how far the word of single voters raises this one's term.
type trust struct {
	started node.Instant
	spent   uint64               // terms that single voters' words have raised
	said    map[node.Addr]uint64 // by voter: the highest term beyond the bound
}

// room returns how many terms a single voter's word may still raise.
func (e *Election) room(now node.Instant) uint64 {
	elections := uint64(max(0, now.Sub(e.started))/e.config.TimeoutMin+1) * uint64(len(e.others)+1)
	return termSlack + elections - min(e.trust.spent, termSlack+elections)
}

// believes reports whether this voter takes a term from a message that it would raise its own term
// for. Beyond the room of single voters it takes what a majority of all voters has said.
func (e *Election) believes(env node.Env, from node.Peer, m node.Message, term uint64) bool {
	if term <= e.term || term-e.term <= e.room(env.Now()) {
		return true
	}
	if e.said == nil {
		e.said = map[node.Addr]uint64{}
	}
	e.said[from.Addr] = max(e.said[from.Addr], term)
	if known := e.proven(); known > e.term {
		e.raise(env, known, "a majority has a higher term")
		e.save(env, put{})
	}
	if term <= e.term {
		return true
	}
	env.Emit(event.Implausible{Peer: from.ID, Message: message.Name(m.Kind()), What: "term", Said: term, Held: e.term})
	return false
}

// proven returns the highest term that a majority of all voters has said, 0 for none.
func (e *Election) proven() uint64 {
	said := make([]uint64, 0, len(e.others))
	for _, a := range e.others {
		said = append(said, e.said[a])
	}
	slices.Sort(said)
	if len(said) < e.majority() {
		return 0
	}
	return said[len(said)-e.majority()]
}

// heighten adopts a higher term from one voter's word.
func (e *Election) heighten(env node.Env, term uint64, why string) {
	if term > e.term {
		e.trust.spent += term - e.term
		e.raise(env, term, why)
	}
}

// termOf returns the term that a message would raise this voter to, 0 for none.
func termOf(m node.Message, term uint64) uint64 {
	switch m := m.(type) {
	case *message.VoteAsk:
		if m.Pre {
			return 0
		}
	case *message.VoterJoined, *message.LeaderHandOver:
		return 0
	}
	return term
}

// exceeds reports whether the highest of the terms that voters remember is a step above all others:
// its voter lies, or the others have to hear of that term first. One that answers alone is believed up to
// the middle of its epoch.
func (e *Election) exceeds(env node.Env) bool {
	var top, next uint64
	var by node.Addr
	for _, a := range e.others {
		j, answered := e.round.joined[a]
		switch {
		case !answered || j.blank:
		case by == "" || j.term > top:
			top, next, by = j.term, top, a
		default:
			next = max(next, j.term)
		}
	}
	if next == 0 {
		next = firstTerm(e.epoch) | 1<<(epochBits-1)
	}
	if top <= max(next, e.term)+termSlack {
		return false
	}
	env.Emit(event.Implausible{Peer: node.ID(by), Message: message.Name(message.KindVoterJoined), What: "term", Said: top, Held: next})
	return true
}
