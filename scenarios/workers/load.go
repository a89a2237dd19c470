package workers

import (
	"time"

	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// loadWorlds have workers that take work and do none.
func loadWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "black-hole-worker", Virtual: 4 * time.Minute, Build: cluster.On(buildBlackHoleWorker),
			Doc: "One of four workers kills each executor at once, so that its cores are free again and it looks idle. Its shards run elsewhere: no job fails, and none runs on two workers at a time. Later it works again."},
	}
}

func buildBlackHoleWorker(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores, l.Vus = 3*time.Second, 4*time.Second, 4, 16 })
	s.Complete = true
	broken := stage.Names(s.Choose(s.Workers, 1)) // one alone: a shard that dies on two is the program's own failure
	s.Slots(40*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(15*time.Second, 35*time.Second).Truncate(stage.Tick), Kind: sim.FaultExecCrash, Nodes: broken})
	})
}
