package gates

import (
	"time"

	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func edgeWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "many-ended-jobs", Virtual: 4 * time.Minute, Build: cluster.On(buildManyEndedJobs),
			Doc: "Gates may hold 50 jobs, 15 results and 150 files, while clients submit some 500 short jobs, and gates crash, pause and are cut off. Ended jobs make room: no gate rejects a submission for good, every job ends once, and a key that is submitted again begins nothing."},
		{Name: "drift-at-bound", Virtual: 6 * time.Minute, Build: cluster.On(buildDriftAtBound),
			Doc: "All clocks run one percent fast or slow, the bound, while owners pause for about their lease and are cut off. No two gates own a job at a time, and no shard runs in two places."},
		{Name: "drift-beyond", Virtual: 6 * time.Minute, Beyond: true, Build: cluster.On(buildDriftBeyond),
			Doc: "The same with clocks that are ten times as far off as the bound. Two gates may own a job for a while. Tokens are unique, no receiver obeys a lower fence, and results count once."},
		{Name: "blackout", Virtual: 4 * time.Minute, Build: cluster.On(buildBlackout),
			Doc: "Gates, managers and workers lose power together, again and again, in the middle of slow writes that are lost or torn. No node remembers for the others: a node that reported or acted before a majority's disks had the record would report or act differently afterwards."},
	}
}

func buildDriftAtBound(s *cluster.Cluster) {
	driftWorld(s, sim.DriftBound)
}

func buildDriftBeyond(s *cluster.Cluster) {
	driftWorld(s, 10*sim.DriftBound)
}

func driftWorld(s *cluster.Cluster, bound int64) {
	t := cluster.GroupTopology()
	t.Workers = 6
	s.Standard(t, func(l *cluster.Load) { l.Duration, l.Every, l.Cores = 15*time.Second, 6*time.Second, 4 })
	for _, id := range s.Nodes {
		drift := bound
		if s.Rand.Chance(1, 2) {
			drift = -bound
		}
		s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: drift, Beyond: bound > sim.DriftBound})
	}
	about := func(d time.Duration) time.Duration {
		return (d + s.Rand.Duration(0, d/20) - d/40).Truncate(stage.Tick)
	}
	s.Slots(50*time.Second, func(i int, at time.Duration) {
		kinds := []string{sim.FaultPause, sim.FaultPartition, sim.FaultSuspend}
		s.Fault(sim.Fault{At: at, For: about(30 * time.Second), Kind: kinds[s.Rand.Int(len(kinds))], Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
	for at := 9 * time.Second; at < s.Heal-8*time.Second; at += s.Rand.Duration(7*time.Second, 14*time.Second) {
		kinds := []string{sim.FaultPause, sim.FaultPartition, sim.FaultSuspend}
		ids, length := s.Managers, about(2*time.Second)
		if s.Rand.Chance(1, 2) {
			ids, length = s.Workers, about(5*time.Second)
		}
		s.Fault(sim.Fault{At: at.Truncate(stage.Tick), For: length, Kind: kinds[s.Rand.Int(len(kinds))], Nodes: stage.Names(s.Choose(ids, 1))})
	}
}

func buildBlackout(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = time.Second, 1500*time.Millisecond, 2 })
	kind := sim.FaultDiskTorn
	if s.Rand.Chance(1, 2) {
		kind = sim.FaultDiskLostWrites
	}
	s.Fault(sim.Fault{At: time.Second, Kind: kind})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: int64(20 + s.Rand.Int(200))})
	all := append(append(append([]node.ID{}, s.Gates...), s.Managers...), s.Workers...)
	for at := 6 * time.Second; at < s.Heal-3*time.Second; at += s.Rand.Duration(5*time.Second, 12*time.Second) {
		s.Fault(sim.Fault{At: at.Truncate(stage.Tick), For: time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(all)})
	}
}
