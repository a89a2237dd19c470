package checker

import (
	"maps"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/node"
)

// elections judges leaders and votes (T5).
type elections struct {
	log     *history.Log
	leaders map[termOf]node.ID
	votes   map[voter]event.Voted
}

func newElections(log *history.Log) *elections {
	return &elections{log: log, leaders: map[termOf]node.ID{}, votes: map[voter]event.Voted{}}
}

// termOf names a term of a group.
type termOf struct {
	group string
	term  uint64
}

// voter is a node in its role as a voter of a group.
type voter struct {
	node  node.ID
	group string
}

// elected judges T5: one leader a term. A second report is another
// election in the same term, even by the same node in a later incarnation.
func (s *elections) elected(r Record, e event.Elected) {
	key := termOf{e.Group, e.Term}
	if first, ok := s.leaders[key]; ok {
		s.log.Violate("T5", r, "%s was elected in term %d of %s, as %s had been", r.Node, e.Term, e.Group, first)
		return
	}
	s.leaders[key] = r.Node
}

// voted judges T5 of a voter, across its restarts: it votes once a term, and its terms do not
// fall.
func (s *elections) voted(r Record, e event.Voted) {
	key := voter{r.Node, e.Group}
	last, ok := s.votes[key]
	switch {
	case ok && e.Term < last.Term:
		s.log.Violate("T5", r, "%s voted for %s in term %d of %s after it had voted in term %d", r.Node, e.For, e.Term, e.Group, last.Term)
		return
	case ok && e.Term == last.Term && e.For != last.For:
		s.log.Violate("T5", r, "%s voted for %s in term %d of %s after it had voted for %s", r.Node, e.For, e.Term, e.Group, last.For)
	}
	s.votes[key] = e
}

// forget notes that a voter has lost its disk.
func (s *elections) forget(id node.ID) {
	maps.DeleteFunc(s.votes, func(v voter, _ event.Voted) bool { return v.node == id })
}
