package workers

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// herdWorlds are about many nodes that lose the same peer.
func herdWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "thundering-herd", Virtual: 50 * time.Second, Within: 12 * time.Second, Rate: 4 * herdWorkers, Build: cluster.On(buildThunderingHerd),
			Doc: "Three hundred workers lose their only manager at the same instant, for twelve seconds. They return one by one: no tenth of a second has more than three times as many as if they spread over their longest wait. Later their streams break for a moment, and all are back within 600 ms: a worker that returned begins its waits anew."},
	}
}

const (
	herdWorkers = 300
	herdDown    = 12 * time.Second
	herdSlice   = 100 * time.Millisecond
	herdPeak    = 3 // times the mean
	herdBack    = 600 * time.Millisecond
)

func buildThunderingHerd(s *cluster.Cluster) {
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 1, Workers: herdWorkers, Cores: 1, Clients: 1})
	down := 10*time.Second + s.Rand.Duration(0, time.Second).Truncate(stage.Tick)
	breaks := down + herdDown + 8*time.Second
	s.Fault(sim.Fault{At: down, For: herdDown, Kind: sim.FaultCrash, Nodes: stage.Names(s.Managers)})
	s.Fault(sim.Fault{At: breaks, For: stage.Tick, Kind: sim.FaultBreakStreams, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Workers)})
	var first []time.Duration
	again := map[node.ID]time.Duration{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		e, ok := r.Event.(event.PeerRegistered)
		switch {
		case !ok || e.Role != node.RoleManager || !slices.Contains(s.Workers, r.Node):
		case r.At >= breaks:
			again[r.Node] = r.At - breaks
		case r.At >= down+herdDown:
			first = append(first, r.At-down-herdDown)
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		if len(first) != herdWorkers || len(again) != herdWorkers {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "%d workers returned after the crash and %d after the break, of %d", len(first), len(again), herdWorkers)
			return
		}
		most, bins := 0, map[time.Duration]int{}
		for _, at := range first {
			bins[at/herdSlice]++
			most = max(most, bins[at/herdSlice])
		}
		mean := herdWorkers * int(herdSlice/time.Millisecond) / int(worker.Default().ReconnectMax/time.Millisecond)
		s.Draw("%d workers in the fullest %v, %d in the mean", most, herdSlice, mean)
		if most > herdPeak*mean {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "%d of %d workers returned in the same %v, and %d would if they spread over the longest wait: at most %d times as many may", most, herdWorkers, herdSlice, mean, herdPeak)
		}
		last := time.Duration(0)
		for _, id := range s.Workers {
			last = max(last, again[id])
		}
		if last > herdBack {
			s.Checker.Violate("P", s.Record(s.Managers[0]), "a worker whose stream broke once returned %v later: want %v at most", last, herdBack)
		}
	})
}
