package managers

import (
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/worker"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func memoryWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "tight-bounds", Virtual: 4 * time.Minute, Build: cluster.On(buildTightBounds),
			Doc: "Gates, managers and workers may remember only a few jobs, results and fences, while jobs begin and end, are cancelled and lose their workers. They forget what is too much, the oldest first, and every job ends nevertheless."},
	}
}

func buildTightBounds(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Gate, t.Manage, t.Work = tightGate, tightManager, tightWorker
	s.Forgets = true
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Cancels = time.Second, 700*time.Millisecond, 2, 8, 150_000
	})
	s.Often(s.Workers, 20*time.Second, sim.FaultCrash, 4*time.Second, 0)
	s.Often(s.Gates, 30*time.Second, sim.FaultPause, 7*time.Second, 0)
	s.Often(s.Nodes, 5*time.Second, sim.FaultBreakStreams, 0, 0)
}

// tightGate, tightManager and tightWorker set bounds that one job a second reaches within
// seconds.
func tightGate(c *gate.Config) {
	c.QueueMax, c.JobsMax, c.LookupsMax, c.WaitersMax, c.WatchersMax = 20, 40, 8, 8, 64
	c.ManagersMax, c.DatacentersMax = 3, 1
	c.ResultsMax, c.ResultAge, c.KeyAge, c.SweepInterval = 5, 20*time.Second, time.Minute, 10*time.Second
}

func tightManager(c *manager.Config) {
	c.SubjobsMax, c.FinishedMax, c.WorkersMax = 20, 6, 4
	c.Retention, c.SweepInterval = 30*time.Second, 5*time.Second
}

func tightWorker(c *worker.Config) {
	c.OutboxMax, c.FencesMax, c.FenceAge, c.SweepInterval = 8, 16, time.Minute, 5*time.Second
}
