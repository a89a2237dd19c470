package cluster

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Standard builds a cluster with a stream of jobs; change modifies the load first.
func (s *Cluster) Standard(t Topology, change func(*Load)) {
	s.Build(t)
	l := StormLoad(s.Heal)
	l.Cancels = 0
	if change != nil {
		change(&l)
	}
	s.SubmitAll(l)
}

// InTurn gives the fault to one node after the other, evenly over the time of the faults.
func (s *Cluster) InTurn(ids []node.ID, kind string, length time.Duration, value int64) {
	gap := s.Heal / time.Duration(len(ids)+1)
	for i, id := range ids {
		at := time.Duration(i+1)*gap + s.Rand.Duration(0, gap/2)
		s.Fault(sim.Fault{At: at.Truncate(time.Millisecond), For: length, Kind: kind, Nodes: []string{string(id)}, Value: value})
	}
}

// Often gives the fault to one random node, again and again.
func (s *Cluster) Often(ids []node.ID, every time.Duration, kind string, length time.Duration, value int64) {
	for at := 3 * time.Second; at < s.Heal; at += s.Rand.Duration(every/2, every*3/2) {
		id := ids[s.Rand.Int(len(ids))]
		s.Fault(sim.Fault{At: at.Truncate(time.Millisecond), For: length, Kind: kind, Nodes: []string{string(id)}, Value: value})
	}
}

// Slots calls f with instants a gap apart, as many as there are before the healing.
func (s *Cluster) Slots(gap time.Duration, f func(i int, at time.Duration)) {
	for i, at := 0, 8*time.Second; at+gap <= s.Heal; i, at = i+1, at+gap {
		f(i, (at + s.Rand.Duration(0, gap/8)).Truncate(stage.Tick))
	}
}
