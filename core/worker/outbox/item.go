package outbox

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Copy is what the disk has of a result.
type Copy uint8

// States of a copy. A write that fails leads back to Missing.
const (
	Missing Copy = iota
	Writing
	Written
)

// Item is one result that waits.
type Item struct {
	Result  *message.ShardResult
	Manager node.ID // that dispatched, cancelled or renewed its execution last
	Ended   node.Instant
	Copy    Copy

	tries int // to send it to that manager, by the timer
}

// To makes a manager the first that gets the result.
func (x *Item) To(manager node.ID) {
	if x.Manager != manager {
		x.Manager, x.tries = manager, 0
	}
}

// Write begins a write, unless there is one, or the disk has it.
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

// ownTries is how often the result's own manager gets it before all do in turn: another one
// may have taken the subjob over.
const ownTries = 2

// Next names the manager that the next retry goes to, of those that are connected.
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
