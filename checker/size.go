package checker

import (
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/node"
)

// sizes judges how much nodes hold (T12).
type sizes struct {
	log       *history.Log
	oversized map[sizeOf]bool // reported
}

func newSizes(log *history.Log) *sizes {
	return &sizes{log: log, oversized: map[sizeOf]bool{}}
}

// sizeOf is one kind of item of one node.
type sizeOf struct {
	node node.ID
	what string
}

// Size judges T12: of each kind a node holds no more than its configuration allows.
func (s *sizes) Size(at time.Duration, id node.ID, what string, n, bound int) {
	if n <= bound || s.oversized[sizeOf{id, what}] {
		return
	}
	s.oversized[sizeOf{id, what}] = true
	s.log.Violate("T12", Record{At: at, Node: id}, "%s keeps %d of %s, bounded by %d", id, n, what, bound)
}

// Rest judges T12 in its second form: once everything has ended, a ledger holds no more than
// its documented rest.
func (s *sizes) Rest(at time.Duration, id node.ID, what string, n, rest int) {
	if n <= rest {
		return
	}
	s.log.Violate("T12", Record{At: at, Node: id}, "%s keeps %d of %s though everything has ended: its rest is %d", id, n, what, rest)
}
