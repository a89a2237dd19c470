package outbox

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Copy is the state of a result on disk.
type Copy uint8

// States of a copy. A failed write leads back to Missing.
const (
	Missing Copy = iota
	Writing
	Written
)

// Item is one result that waits.
type Item struct {
	Result  *message.ShardResult
	Manager node.ID // the one that dispatched, cancelled or renewed its execution last
	Ended   node.Instant
	Copy    Copy

	tries int // timed attempts to send it to that manager
}

// To makes a manager the first that gets the result.
func (x *Item) To(manager node.ID) {
	if x.Manager != manager {
		x.Manager, x.tries = manager, 0
	}
}

// Write begins a write. It returns false if one is under way, or if the disk has the result.
func (x *Item) Write() bool {
	if x.Copy != Missing {
		return false
	}
	x.Copy = Writing
	return true
}

// Wrote ends a write.
func (x *Item) Wrote(err error) {
	if x.Copy = Written; err != nil {
		x.Copy = Missing
	}
}

// ownTries is how often the result's own manager gets it before all do in turn: another one may
// have taken the subjob over.
const ownTries = 2

// Next returns the connected manager that the next retry goes to.
func (x *Item) Next(connected []node.ID) (to node.ID, ok bool) {
	x.tries++
	at := slices.Index(connected, x.Manager)
	switch {
	case x.tries <= ownTries && at >= 0:
		return x.Manager, true
	case len(connected) == 0:
		return "", false
	}
	return connected[(at+max(1, x.tries-ownTries))%len(connected)], true
}
