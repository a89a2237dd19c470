package checker

import (
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// termOf names a term of a group.
type termOf struct {
	group string
	term  uint64
}

// voter is a node as a voter of a group.
type voter struct {
	node  node.ID
	group string
}

// onElected judges T5: one leader a term. One that is told again is another
// election in the same term, even by the same node in a later incarnation.
func (c *Checker) onElected(r Record, e event.Elected) {
	key := termOf{e.Group, e.Term}
	if first, ok := c.leaders[key]; ok {
		c.violate("T5", r, "%s was elected in term %d of %s, as %s had been", r.Node, e.Term, e.Group, first)
		return
	}
	c.leaders[key] = r.Node
}

// onVoted judges T5 of a voter, across its restarts: one vote a term, and terms do
// not fall.
func (c *Checker) onVoted(r Record, e event.Voted) {
	key := voter{r.Node, e.Group}
	last, ok := c.votes[key]
	switch {
	case ok && e.Term < last.Term:
		c.violate("T5", r, "%s voted for %s in term %d of %s after it had voted in term %d", r.Node, e.For, e.Term, e.Group, last.Term)
		return
	case ok && e.Term == last.Term && e.For != last.For:
		c.violate("T5", r, "%s voted for %s in term %d of %s after it had voted for %s", r.Node, e.For, e.Term, e.Group, last.For)
	}
	c.votes[key] = e
}
