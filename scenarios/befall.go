package scenarios

import (
	"hyperscale/core/node"
	"hyperscale/sim"
	"time"
)

// standard builds a small cluster with a stream of jobs, and returns the load.
func (s *cluster) standard(t topology, change func(*load)) {
	s.build(t)
	l := stormLoad(s.heal)
	l.cancels = 0
	if change != nil {
		change(&l)
	}
	s.submitAll(l)
}

// inTurn befalls nodes one after the other, evenly over the time of the faults.
func (s *cluster) inTurn(ids []node.ID, kind string, length time.Duration, value int64) {
	gap := s.heal / time.Duration(len(ids)+1)
	for i, id := range ids {
		at := time.Duration(i+1)*gap + s.rand.Duration(0, gap/2)
		s.fault(sim.Fault{At: at.Truncate(time.Millisecond), For: length, Kind: kind, Nodes: []string{string(id)}, Value: value})
	}
}

// often befalls one drawn node, again and again.
func (s *cluster) often(ids []node.ID, every time.Duration, kind string, length time.Duration, value int64) {
	for at := 3 * time.Second; at < s.heal; at += s.rand.Duration(every/2, every*3/2) {
		id := ids[s.rand.Int(len(ids))]
		s.fault(sim.Fault{At: at.Truncate(time.Millisecond), For: length, Kind: kind, Nodes: []string{string(id)}, Value: value})
	}
}

// slots calls f with times a gap apart, as many as there are before the healing.
func (s *cluster) slots(gap time.Duration, f func(i int, at time.Duration)) {
	for i, at := 0, 8*time.Second; at+gap <= s.heal; i, at = i+1, at+gap {
		f(i, (at + s.rand.Duration(0, gap/8)).Truncate(tick))
	}
}
