package checker

import (
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/node"
)

// sizes judges how much nodes keep (T12).
type sizes struct {
	log       *history.Log
	oversized map[sizeOf]bool // reported
}

func newSizes(log *history.Log) *sizes {
	return &sizes{log: log, oversized: map[sizeOf]bool{}}
}

// sizeOf is what one node keeps of something.
type sizeOf struct {
	node node.ID
	what string
}

// Size judges T12: of each thing a node keeps no more than its configuration says.
func (s *sizes) Size(at time.Duration, id node.ID, what string, n, bound int) {
	if n <= bound || s.oversized[sizeOf{id, what}] {
		return
	}
	s.oversized[sizeOf{id, what}] = true
	s.log.Violate("T12", Record{At: at, Node: id}, "%s keeps %d of %s, bounded by %d", id, n, what, bound)
}

// Rest judges T12 in its second form: what is left of a ledger once everything has
// ended is no more than its documented rest.
func (s *sizes) Rest(at time.Duration, id node.ID, what string, n, rest int) {
	if n <= rest {
		return
	}
	s.log.Violate("T12", Record{At: at, Node: id}, "%s keeps %d of %s though everything has ended: its rest is %d", id, n, what, rest)
}
