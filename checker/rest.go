package checker

import (
	"time"

	"hyperscale/core/node"
)

// Rest judges T12 in its second form: what is left of a ledger once everything has
// ended is no more than its documented rest.
func (c *Checker) Rest(at time.Duration, id node.ID, what string, n, rest int) {
	if n <= rest {
		return
	}
	c.violate("T12", Record{At: at, Node: id}, "%s keeps %d of %s though everything has ended: its rest is %d", id, n, what, rest)
}
