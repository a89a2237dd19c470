package scenarios

import (
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/worker"
	"hyperscale/sim"
)

func memoryWorlds() []Scenario {
	return []Scenario{
		{Name: "tight-bounds", Virtual: 4 * time.Minute, build: onCluster(buildTightBounds),
			Doc: "Gates, managers and workers may remember a few jobs, results and fences only, while jobs come and go, are cancelled and lose their workers. What is too much is forgotten, the oldest first, and every job ends all the same."},
	}
}

func buildTightBounds(s *cluster) {
	t := groupTopology()
	t.gate, t.manage, t.work = tightGate, tightManager, tightWorker
	s.forgets = true
	s.standard(t, func(l *load) {
		l.every, l.duration, l.cores, l.vus, l.cancels = time.Second, 700*time.Millisecond, 2, 8, 150_000
	})
	s.often(s.workers, 20*time.Second, sim.FaultCrash, 4*time.Second, 0)
	s.often(s.gates, 30*time.Second, sim.FaultPause, 7*time.Second, 0)
	s.often(s.nodes, 5*time.Second, sim.FaultBreakStreams, 0, 0)
}

// tightGate, tightManager and tightWorker are bounds that a load of one job a second
// reaches within seconds.
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
