package scenarios

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

// coreWorkers is how many workers of each datacenter are healed with a core
// quorum.
const coreWorkers = 2

// coreQuorum is liveness in its hard form: what is healed is only a majority of
// the gates, a majority of each datacenter's managers, two of its workers, and the
// clients. The rest is broken for ever from then on, and jobs must still end.
func (s *stage) coreQuorum() {
	s.core = append(s.core, s.clients...)
	s.core = append(s.core, s.choose(s.gates, len(s.gates)/2+1)...)
	t := s.topology
	for d := range t.datacenters {
		s.core = append(s.core, s.choose(s.managers[d*t.managers:(d+1)*t.managers], t.managers/2+1)...)
		s.core = append(s.core, s.choose(s.workers[d*t.workers:(d+1)*t.workers], coreWorkers)...)
	}
	healed := map[node.ID]bool{}
	for _, id := range s.core {
		healed[id] = true
	}
	s.draw("a core quorum of %d nodes is healed, %d stay broken", len(s.core), len(s.nodes)-len(s.core))
	for _, id := range s.nodes {
		if !healed[id] {
			s.breakForEver(id)
		}
	}
}

// choose draws n of these nodes.
func (s *stage) choose(ids []node.ID, n int) []node.ID {
	drawn := append([]node.ID(nil), ids...)
	s.rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(n, len(drawn))]
}

// breakForEver draws what a node outside the core suffers: it is dead, stopped,
// cut off, in one direction or both, or hears half of what it is told, late. It
// begins right after the healing.
func (s *stage) breakForEver(id node.ID) {
	f := sim.Fault{At: s.heal + time.Millisecond, Nodes: []string{string(id)}}
	core := names(s.core)
	switch s.rand.Int(7) {
	case 0, 1:
		f.Kind = sim.FaultCrash
	case 2:
		f.Kind = sim.FaultPause
	case 3:
		f.Kind = sim.FaultPartition
	case 4:
		f.Kind, f.Peers = sim.FaultOneWay, core
	case 5: // the core is not heard by it
		f.Kind, f.Nodes, f.Peers = sim.FaultOneWay, core, f.Nodes
	case 6:
		f.Kind, f.Value = sim.FaultLoss, 500_000
	}
	s.fault(f)
}
