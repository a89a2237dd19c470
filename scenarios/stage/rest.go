package stage

import (
	"slices"
	"strings"
	"time"

	"hyperscale/core/node"
)

// restBound is how long a node may take from the last job's end to its rest. Its longest waits
// are a datacenter's guard of 60.6 s, a sweep every 60 s, and an acceptor's guard of 30.3 s
// with the turns of the ring. Each may start another wait at its end.
const restBound = 3 * time.Minute

// restEvery is how often the judge checks nodes while some of them are not at rest.
const restEvery = time.Second

// ledger is how much one node holds of one kind.
type ledger struct {
	node    node.ID
	what    string
	n, rest int
}

func (l ledger) key() [2]string { return [2]string{string(l.node), l.what} }

// rest judges T12 in its second form. The world continues until every ledger has been at rest
// once since the last job's end: a heartbeat on its way is no leak, and a leak is never at
// rest. A machine's Rests states what it holds longer by design.
func (s *Stage) rest() {
	for end := s.World.Now() + LivenessBound; s.running() && s.World.Now() < end; {
		s.World.RunUntil(s.World.Now() + restEvery)
	}
	left := s.ledgers(func(node.ID) bool { return true })
	for end := s.World.Now() + restBound; len(left) > 0 && s.World.Now() < end; {
		s.World.RunUntil(s.World.Now() + restEvery)
		now, of := map[[2]string]bool{}, map[node.ID]bool{}
		for _, l := range left {
			of[l.node] = true
		}
		for _, l := range s.ledgers(func(id node.ID) bool { return of[id] }) {
			now[l.key()] = true
		}
		left = slices.DeleteFunc(left, func(l ledger) bool { return !now[l.key()] })
	}
	for _, l := range left {
		s.Checker.Rest(s.World.Now(), l.node, l.what, l.n, l.rest)
	}
}

// running reports that an accepted job has not ended.
func (s *Stage) running() bool {
	accepted, ended := s.Checker.Jobs()
	return ended < accepted
}

// ledgers are those of some nodes that are not at rest, where the node is healed. What waits
// for one that is not healed, or does not run, waits for ever.
func (s *Stage) ledgers(of func(node.ID) bool) []ledger {
	var away []string
	for _, id := range s.World.Nodes() {
		if s.neverHealed(id) || !s.World.Alive(id) {
			away = append(away, " to "+string(s.World.Addr(id)))
		}
	}
	var all []ledger
	s.World.Rests(of, func(id node.ID, what string, n, rest int) {
		if n <= rest || s.neverHealed(id) || slices.ContainsFunc(away, func(a string) bool { return strings.HasSuffix(what, a) }) {
			return
		}
		all = append(all, ledger{id, what, n, rest})
	})
	return all
}

// neverHealed reports that a node stays broken to the end.
func (s *Stage) neverHealed(id node.ID) bool { return len(s.Core) > 0 && !slices.Contains(s.Core, id) }
