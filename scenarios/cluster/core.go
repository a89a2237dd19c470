package cluster

import (
	"slices"
	"time"

	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// coreWorkers is the number of workers per datacenter that are healed with a core quorum.
const coreWorkers = 2

// CoreQuorum is the hard form of liveness. It heals only a majority of the gates, a majority of
// each datacenter's managers, two of its workers, and the clients. The rest stays broken for
// ever, and jobs must still end.
func (s *Cluster) CoreQuorum() {
	s.Core = append(s.Core, s.Clients...)
	s.Core = append(s.Core, s.Choose(s.Gates, len(s.Gates)/2+1)...)
	t := s.topology
	for d := range t.Datacenters {
		s.Core = append(s.Core, s.Choose(s.Managers[d*t.Managers:(d+1)*t.Managers], t.Managers/2+1)...)
		s.Core = append(s.Core, s.Choose(s.Workers[d*t.Workers:(d+1)*t.Workers], coreWorkers)...)
	}
	healed := map[node.ID]bool{}
	for _, id := range s.Core {
		healed[id] = true
	}
	s.Draw("a core quorum of %d nodes is healed, %d stay broken", len(s.Core), len(s.Nodes)-len(s.Core))
	for _, id := range s.Nodes {
		if !healed[id] {
			s.breakForEver(id)
		}
	}
}

// breakForEver draws the fault of a node outside the core, right after the healing: it is dead,
// stopped, cut off in one direction or both, or receives half of the messages, late.
func (s *Cluster) breakForEver(id node.ID) {
	f := sim.Fault{At: s.Heal + time.Millisecond, Nodes: []string{string(id)}}
	core := stage.Names(s.Core)
	switch s.Rand.Int(7) {
	case 0, 1:
		f.Kind = sim.FaultCrash
	case 2:
		f.Kind = sim.FaultPause
	case 3:
		f.Kind = sim.FaultPartition
	case 4:
		f.Kind, f.Peers = sim.FaultOneWay, core
	case 5: // it does not hear the core
		f.Kind, f.Nodes, f.Peers = sim.FaultOneWay, core, f.Nodes
	case 6:
		f.Kind, f.Value = sim.FaultLoss, 500_000
	}
	s.Fault(f)
}

// LoseMinorities makes a minority of each group restart without its disk once, and any worker:
// what a majority knows survives that. If only a core is healed, the core keeps its disks. With
// one of them empty and the rest gone for ever, a majority of a majority would be lost.
func (s *Cluster) LoseMinorities() {
	lost := s.Choose(s.Workers, 1+s.Rand.Int(2))
	for _, g := range s.Groups {
		if n := (len(g) - 1) / 2; n > 0 && s.Rand.Chance(1, 2) {
			g = slices.DeleteFunc(slices.Clone(g), func(id node.ID) bool { return slices.Contains(s.Core, id) })
			lost = append(lost, s.Choose(g, 1+s.Rand.Int(n))...)
		}
	}
	s.Draw("%d disks are lost", len(lost))
	for _, id := range lost {
		s.Fault(sim.Fault{At: s.DrawTime(), For: s.DrawLength(time.Minute), Kind: sim.FaultCrash, Nodes: []string{string(id)}, Value: 1})
	}
}
