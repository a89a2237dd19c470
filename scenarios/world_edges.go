package scenarios

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/sim"
)

func edgeWorlds() []Scenario {
	return []Scenario{
		{Name: "drift-at-bound", Virtual: 6 * time.Minute, build: onCluster(buildDriftAtBound),
			Doc: "All clocks run one percent fast or slow, the bound, while owners are stopped for about their lease and cut off. No two own a job at a time, no shard runs in two places."},
		{Name: "drift-beyond", Virtual: 6 * time.Minute, Beyond: true, build: onCluster(buildDriftBeyond),
			Doc: "The same with clocks that run ten times as far off as the bound. Two may own a job for a while; tokens are unique, no receiver obeys a lower fence, and results count once."},
		{Name: "blackout", Virtual: 4 * time.Minute, build: onCluster(buildBlackout),
			Doc: "Gates, managers and workers go dark together, again and again, in the middle of slow writes that are lost or torn. Nobody is left to remember for the others: whoever told or did anything before it was on a majority's disks tells or does it again otherwise."},
	}
}

func buildDriftAtBound(s *cluster) {
	s.driftWorld(sim.DriftBound)
}

func buildDriftBeyond(s *cluster) {
	s.driftWorld(10 * sim.DriftBound)
}

func (s *cluster) driftWorld(bound int64) {
	t := groupTopology()
	t.workers = 6
	s.standard(t, func(l *load) { l.duration, l.every, l.cores = 15*time.Second, 6*time.Second, 4 })
	for _, id := range s.nodes {
		drift := bound
		if s.rand.Chance(1, 2) {
			drift = -bound
		}
		s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: drift, Beyond: bound > sim.DriftBound})
	}
	about := func(d time.Duration) time.Duration {
		return (d + s.rand.Duration(0, d/20) - d/40).Truncate(tick)
	}
	s.slots(50*time.Second, func(i int, at time.Duration) {
		kinds := []string{sim.FaultPause, sim.FaultPartition, sim.FaultSuspend}
		s.fault(sim.Fault{At: at, For: about(30 * time.Second), Kind: kinds[s.rand.Int(len(kinds))], Nodes: names(s.choose(s.gates, 1))})
	})
	for at := 9 * time.Second; at < s.heal-8*time.Second; at += s.rand.Duration(7*time.Second, 14*time.Second) {
		kinds := []string{sim.FaultPause, sim.FaultPartition, sim.FaultSuspend}
		ids, length := s.managers, about(2*time.Second)
		if s.rand.Chance(1, 2) {
			ids, length = s.workers, about(5*time.Second)
		}
		s.fault(sim.Fault{At: at.Truncate(tick), For: length, Kind: kinds[s.rand.Int(len(kinds))], Nodes: names(s.choose(ids, 1))})
	}
}

func buildBlackout(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = time.Second, 1500*time.Millisecond, 2 })
	kind := sim.FaultDiskTorn
	if s.rand.Chance(1, 2) {
		kind = sim.FaultDiskLostWrites
	}
	s.fault(sim.Fault{At: time.Second, Kind: kind})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: int64(20 + s.rand.Int(200))})
	all := append(append(append([]node.ID{}, s.gates...), s.managers...), s.workers...)
	for at := 6 * time.Second; at < s.heal-3*time.Second; at += s.rand.Duration(5*time.Second, 12*time.Second) {
		s.fault(sim.Fault{At: at.Truncate(tick), For: time.Second, Kind: sim.FaultCrash, Nodes: names(all)})
	}
}
