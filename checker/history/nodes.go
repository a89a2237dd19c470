package history

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Assumptions are what an observer knows of the world in which a history happens.
// The zero value is that of real processes on good clocks.
type Assumptions struct {
	// DriftBeyondBound says that clocks may drift faster than the bound. What depends on
	// them (T2, T13, the order of grants that overlapped) is not judged then.
	DriftBeyondBound bool
	// DriftPPM is the bound, 10,000 when it is not set.
	DriftPPM int64
	// Clock reads the clock of an incarnation as it is now, exactly; false: that
	// incarnation is over. Without it only what holds for any clock within the bound
	// is judged, from Record.Local.
	Clock func(id node.ID, incarnation uint64) (node.Instant, bool)
	// Sends says whether a worker's executors run an attempt now; without it they do
	// from ShardStarted to ShardEnded, or until their time is over.
	Sends func(worker node.ID, s message.ShardID, f message.Fence) bool
	// Quiet is how long before the end the last fault ended. Zero: at least as long as Finish's bound.
	Quiet time.Duration
	// Paused says that a node is paused now, though it is not down; without it none is.
	Paused func(id node.ID) bool
	// NeverHealed says that a node stays broken to the end: it may lose one lease after
	// the other. Without it all nodes are healed.
	NeverHealed func(id node.ID) bool
}

// Nodes is what a history tells of its nodes: their incarnations, deaths and clocks.
type Nodes struct {
	Assume Assumptions

	lives  map[node.ID]*life
	lastID node.ID // the node that spoke last,
	last   *life   // so that its next event costs no search
}

// life is the latest incarnation of a node.
type life struct {
	incarnation uint64
	died        bool
	heard       time.Duration // its last event
}

// NewNodes returns what an empty history tells.
func NewNodes() *Nodes { return &Nodes{lives: map[node.ID]*life{}} }

// Observe notes that an incarnation speaks. It returns true when an older one of the
// same node is over.
func (n *Nodes) Observe(r Record) (restarted bool) {
	l := n.last
	if l == nil || n.lastID != r.Node {
		if l = n.lives[r.Node]; l == nil {
			l = &life{incarnation: r.Incarnation}
			n.lives[r.Node] = l
		}
		n.last, n.lastID = l, r.Node
	}
	l.heard = r.At
	if r.Incarnation > l.incarnation {
		l.incarnation, l.died = r.Incarnation, false
		return true
	}
	return false
}

// Die notes that a node's process is gone. It returns false for an unknown node, and
// for one whose death is known.
func (n *Nodes) Die(id node.ID) bool {
	l := n.lives[id]
	if l == nil || l.died {
		return false
	}
	l.died = true
	return true
}

// LastHeard returns when a node told its last event.
func (n *Nodes) LastHeard(id node.ID) time.Duration {
	if l := n.lives[id]; l != nil {
		return l.heard
	}
	return 0
}

// Clock reads a node's clock as it is now. running is false for an incarnation that
// is over; known is false if the history cannot tell.
func (n *Nodes) Clock(id node.ID, incarnation uint64) (now node.Instant, running, known bool) {
	if l := n.lives[id]; l != nil && (l.incarnation > incarnation || l.incarnation == incarnation && l.died) {
		return 0, false, true
	}
	if n.Assume.Clock == nil {
		return 0, false, false
	}
	now, running = n.Assume.Clock(id, incarnation)
	return now, running, true
}

// Reading is what a node's clock read at some moment.
type Reading struct {
	Node        node.ID
	Incarnation uint64
	Clock       node.Instant
}

// Readings appends what the clocks of all running nodes read now, in any order.
func (n *Nodes) Readings(to []Reading) []Reading {
	if n.Assume.Clock == nil {
		return to
	}
	//lint:orderfree each reading is looked up by its node
	for id, l := range n.lives {
		if now, running := n.Assume.Clock(id, l.incarnation); running {
			to = append(to, Reading{id, l.incarnation, now})
		}
	}
	return to
}

// millionth is the unit of drift.
const millionth = 1_000_000

// AtLeast returns how long d on a node's clock takes at least, at the bound of drift.
func (n *Nodes) AtLeast(d time.Duration) time.Duration {
	return scale(d, millionth, millionth+n.drift())
}

// AtMost returns how long d on a node's clock takes at most, at the bound of drift.
func (n *Nodes) AtMost(d time.Duration) time.Duration {
	return scale(d, millionth, millionth-n.drift())
}

// drift is the bound in parts per million.
func (n *Nodes) drift() int64 {
	if n.Assume.DriftPPM > 0 {
		return n.Assume.DriftPPM
	}
	return 10_000
}

// scale returns d * by / of, rounded down, for a d of up to years.
func scale(d time.Duration, by, of int64) time.Duration {
	return d/time.Duration(of)*time.Duration(by) + d%time.Duration(of)*time.Duration(by)/time.Duration(of)
}
