package job

import (
	"slices"
	"time"

	"hyperscale/core/node"
)

// Round is who has been asked to take a subjob up.
type Round struct {
	Asked     []Asked      // managers that got it under this job epoch and did not refuse
	RefusedBy []node.ID    // in this round; empty outside Saving and Sent
	Look      node.Instant // when the gate looks for another manager, while none has answered
}

// Asked is a dispatch that a manager may still answer. A stream loses no message while it stands,
// so the gate does not repeat what the manager's stream has carried.
type Asked struct {
	Manager node.ID
	Stream  node.StreamID // that carried it last
	Until   node.Instant  // while the stream stands the gate does not repeat it before this
	Patience
}

// Patience is how long the gate waits before it repeats a dispatch on a stream that stands.
type Patience struct{ first, wait time.Duration }

// patienceMax bounds a patience, as a multiple of the first.
const patienceMax = 16

// next returns the next patience: the first, or twice the one before.
func (p *Patience) next() time.Duration {
	p.wait = min(max(p.first, 2*p.wait), patienceMax*p.first)
	return p.wait
}

// Note records that a manager's stream carries the dispatch. It reports whether the manager is asked
// for the first time. A repeat on this stream comes after a patience, of first or more, and up to a
// quarter of it later: spread draws how much.
func (r *Round) Note(manager node.ID, s node.StreamID, now node.Instant, first time.Duration, spread func(low, high time.Duration) time.Duration) (fresh bool) {
	i := r.asked(manager)
	if fresh = i < 0; fresh {
		r.Asked = append(r.Asked, Asked{Manager: manager})
		i = len(r.Asked) - 1
	}
	a := &r.Asked[i]
	if a.Stream != s || first < a.first {
		a.Stream, a.Patience = s, Patience{first: first}
	}
	wait := a.next()
	a.Until = now.Add(spread(wait, wait+wait/4))
	return fresh
}

// Has says that a manager has the dispatch, or will have it: the stream that carried it stands.
func (r *Round) Has(manager node.ID, s node.StreamID, now node.Instant) bool {
	i := r.asked(manager)
	return i >= 0 && r.Asked[i].Stream == s && now < r.Asked[i].Until
}

// Was says that a manager was asked, and did not refuse.
func (r *Round) Was(manager node.ID) bool { return r.asked(manager) >= 0 }

// Refused forgets that a manager was asked.
func (r *Round) Refused(manager node.ID) {
	r.Asked = slices.DeleteFunc(r.Asked, func(a Asked) bool { return a.Manager == manager })
}

func (r *Round) asked(manager node.ID) int {
	return slices.IndexFunc(r.Asked, func(a Asked) bool { return a.Manager == manager })
}
