package scenarios

import (
	"slices"
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
func (s *cluster) coreQuorum() {
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

// breakForEver draws what a node outside the core suffers: it is dead, stopped,
// cut off, in one direction or both, or hears half of what it is told, late. It
// begins right after the healing.
func (s *cluster) breakForEver(id node.ID) {
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

// loseMinorities lets a minority of each group come back without its disk once, and
// any worker: what a majority was told outlives that. Where only a core is healed, the
// core keeps its disks: with one of them empty, and the rest gone for ever, a majority
// of what was told would be.
func (s *cluster) loseMinorities() {
	lost := s.choose(s.workers, 1+s.rand.Int(2))
	for _, g := range s.groups {
		if n := (len(g) - 1) / 2; n > 0 && s.rand.Chance(1, 2) {
			g = slices.DeleteFunc(slices.Clone(g), func(id node.ID) bool { return slices.Contains(s.core, id) })
			lost = append(lost, s.choose(g, 1+s.rand.Int(n))...)
		}
	}
	s.draw("%d disks are lost", len(lost))
	for _, id := range lost {
		s.fault(sim.Fault{At: s.drawTime(), For: s.drawLength(time.Minute), Kind: sim.FaultCrash, Nodes: []string{string(id)}, Value: 1})
	}
}
