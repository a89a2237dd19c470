package reference

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// directed are worlds with one fault, each for one promise.
func directed() []stage.Scenario {
	return []stage.Scenario{
		{Name: "worker-lost", Virtual: 4 * time.Minute, Build: cluster.On(buildWorkerLost),
			Doc: "Workers are killed one by one in the middle of their shards and return a minute later. Each shard runs again elsewhere under a higher attempt, and what the lost attempt reported last counts beside it, once."},
		{Name: "manager-lost", Virtual: 4 * time.Minute, Build: cluster.On(buildManagerLost),
			Doc: "Managers are killed, one in each datacenter, while they run subjobs. The gate gives the subjob to another manager, which acquires a higher epoch. The old epoch's shards are superseded, and never run twice under one fence."},
		{Name: "gate-restart", Virtual: 4 * time.Minute, Build: cluster.On(buildGateRestart),
			Doc: "Every gate is killed in turn and returns with its disk and its jobs. It adopts subjobs that continued meanwhile; results that waited in outboxes arrive and count once."},
		{Name: "paused-worker", Virtual: 4 * time.Minute, Build: cluster.On(buildPausedWorker),
			Doc: "Workers pause for longer than the silence that makes them lost, and wake up with executors that continued and results under an outdated fence. Managers reject those results."},
		{Name: "half-open", Virtual: 4 * time.Minute, Build: cluster.On(buildHalfOpen),
			Doc: "Streams break on one side only, again and again. A node that still believes in one detects the silence on it, and regards nothing that it sent there as delivered."},
		{Name: "silent-datacenter", Virtual: 5 * time.Minute, Build: cluster.On(buildSilentDatacenter),
			Doc: "Jobs run in two datacenters each, and one datacenter is cut off from all gates for a minute. Its subjobs end by their managers' reports after the cut, or by their timeout. No job is COMPLETED without them."},
		{Name: "cancel-races", Virtual: 4 * time.Minute, Build: cluster.On(buildCancelRaces),
			Doc: "Every job is cancelled, some near their submission, some near their end, while streams break. There is one terminal state, the first; no gate takes back the acknowledgement of an end."},
		{Name: "broken-streams", Virtual: 4 * time.Minute, Build: cluster.On(buildBrokenStreams),
			Doc: "Streams break again and again, with all their messages on slow links. Senders repeat everything until it is acknowledged: every job completes, and nothing runs twice."},
		{Name: "late-orders", Virtual: 4 * time.Minute, Build: cluster.On(buildLateOrders),
			Doc: "Managers are killed again and again, and an old gate and an old manager repeat orders under outdated fences. Receivers reject all of them, and every job continues as if they had never arrived."},
		{Name: "power-cut", Virtual: 4 * time.Minute, Build: cluster.On(buildPowerCut),
			Doc: "A whole site loses power at once, again and again, while its slow disks write. No node remembers for the others: one that acted before its record was on disk would act twice."},
		{Name: "gate-then-manager", Virtual: 4 * time.Minute, Build: cluster.On(buildGateThenManager),
			Doc: "The gate restarts, and the manager that runs its jobs is lost right after. Only the epochs on the gate's disk keep the next manager from acting under a fence that was used before."},
		{Name: "executor-crash", Virtual: 4 * time.Minute, Build: cluster.On(buildExecutorCrash),
			Doc: "Executors crash at any moment of their run. Their worker lives, frees the core once, and reports the reason. The shard runs once more on another worker; a second death there, or a workflow's own failure, does not run again."},
		{Name: "executor-hang", Virtual: 5 * time.Minute, Build: cluster.On(buildExecutorHang),
			Doc: "Executors fall silent and ignore cancellation. Workers kill them when their time is over, and reuse their cores."},
		{Name: "disk-full", Virtual: 4 * time.Minute, Build: cluster.On(buildDiskFull),
			Doc: "The disks of gates, managers and workers are full, a third of the time each. Nodes reject new work with a reason. Running work continues, and what was on disk stays."},
		{Name: "torn-disk", Virtual: 4 * time.Minute, Build: cluster.On(buildTornDisk),
			Doc: "Nodes crash while they write, and lose some or all of what was not synced. Afterwards everything that a node reported is still there."},
		{Name: "submit-flood", Virtual: 4 * time.Minute, Build: cluster.On(buildSubmitFlood),
			Doc: "Two thousand jobs arrive within two seconds at a cluster that runs a few at a time. Gates reject what exceeds the queue, with a time to retry. Every accepted job ends, if only by its age in the queue."},
		{Name: "rolling-drain", Virtual: 4 * time.Minute, Build: cluster.On(buildRollingDrain),
			Doc: "All nodes stop gracefully and restart, one after the other, workers first. No job is lost."},
		{Name: "drift", Virtual: 4 * time.Minute, Build: cluster.On(buildDrift),
			Doc: "Clocks run up to one percent fast or slow, the bound, and processors are a thousand times slower for seconds. No node considers healthy ones lost for long, and fences hold."},
		{Name: "lost-disks", Virtual: 5 * time.Minute, Build: cluster.On(buildLostDisks),
			Doc: "Workers, managers and gates return without their disks, one of each group at a time. A majority has what they had, or others get it under higher fences. Their disks save work, but no promise depends on one of them alone."},
		{Name: "lost-gate-disk", Virtual: 5 * time.Minute, Build: cluster.On(buildLostGateDisk), ExpectedLoss: "T4 T11",
			Doc: "The only gate returns without its disk. It was a majority of one: no other gate has its jobs, so they are lost, and this world must show it."},
	}
}

func buildWorkerLost(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), nil)
	s.InTurn(s.Workers, sim.FaultCrash, time.Minute, 0)
}

func buildManagerLost(s *cluster.Cluster) {
	t := cluster.ReferenceTopology()
	t.Gates, t.Clients = 1, 1
	s.Standard(t, nil)
	s.InTurn([]node.ID{s.Managers[0], s.Managers[3], s.Managers[6], s.Managers[1]}, sim.FaultCrash, 50*time.Second, 0)
}

func buildGateRestart(s *cluster.Cluster) {
	s.Standard(cluster.ReferenceTopology(), nil)
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.InTurn(s.Gates, sim.FaultCrash, 15*time.Second, 0)
}

func buildPausedWorker(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), nil)
	s.Often(s.Workers, 12*time.Second, sim.FaultPause, s.Rand.Duration(6*time.Second, 12*time.Second).Truncate(time.Millisecond), 0)
}

func buildHalfOpen(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Gates, t.Managers = 2, 2
	s.Standard(t, nil)
	s.Often(s.Nodes, 4*time.Second, sim.FaultHalfOpen, 0, 1)
	s.Often(s.Nodes, 4*time.Second, sim.FaultHalfOpen, 0, 0)
}

func buildSilentDatacenter(s *cluster.Cluster) {
	t := cluster.ReferenceTopology()
	t.Gates, t.Datacenters, t.Managers = 1, 2, 1
	s.Standard(t, func(l *cluster.Load) { l.Datacenters, l.Every = 2, 8*time.Second })
	cut := sim.Fault{At: s.Heal / 3, For: time.Minute, Kind: sim.FaultPartition, Nodes: []string{string(s.Gates[0])}}
	for _, id := range append(s.Managers[1:2:2], s.Workers[t.Workers:]...) {
		cut.Peers = append(cut.Peers, string(id))
	}
	s.Fault(cut)
}

func buildCancelRaces(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Managers = 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cancels = 3*time.Second, 12*time.Second, 1_000_000
	})
	s.Checker.Promise(checker.Promises{CancelWithin: 10 * time.Second})
	s.Often(s.Nodes, 3*time.Second, sim.FaultBreakStreams, 0, 0)
}

// buildBrokenStreams separates breaks in time: a node that must reconnect succeeds before
// another one considers it lost. With one manager no two managers give the same cores away.
func buildBrokenStreams(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Gates, t.Clients = 2, 2
	s.Standard(t, nil)
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLatency, Value: 100})
	s.Often(s.Nodes, 2*time.Second, sim.FaultBreakStreams, 0, 0)
}

// buildLateOrders has few workers, so that the same worker gets the same shard under several
// fences.
func buildLateOrders(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Managers, t.Workers, t.Past = 2, 2, true
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Cores = 6*time.Second, 2 })
	s.Complete = true
	s.Often(s.Managers, 30*time.Second, sim.FaultCrash, 7*time.Second, 0)
}

// buildGateThenManager gives each manager long jobs, so that the loss of one shows, and the
// gate always returns before that.
func buildGateThenManager(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Managers = 2
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 8*time.Second, 12*time.Second, 2 })
	for at := 8 * time.Second; at < s.Heal-25*time.Second; at += 25 * time.Second {
		for _, f := range []sim.Fault{
			{At: at, For: time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.Gates[0])}},
			{At: at + s.Rand.Duration(time.Second, 3*time.Second).Truncate(time.Millisecond), For: 12 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.Managers[s.Rand.Int(len(s.Managers))])}},
		} {
			s.Fault(f)
		}
	}
}

// buildPowerCut runs many short jobs, so that each cut hits some of them in every write.
func buildPowerCut(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Managers, t.Clients = 2, 2
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = time.Second, 2*time.Second, 2 })
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskTorn})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: 100})
	var site []string
	for _, ids := range [][]node.ID{s.Gates, s.Managers, s.Workers} {
		for _, id := range ids {
			site = append(site, string(id))
		}
	}
	for at := 5 * time.Second; at < s.Heal; at += s.Rand.Duration(5*time.Second, 11*time.Second) {
		s.Fault(sim.Fault{At: at.Truncate(time.Millisecond), For: time.Second, Kind: sim.FaultCrash, Nodes: site})
	}
}

func buildExecutorCrash(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), nil)
	s.Model.Crash, s.Model.Fail = 200_000, 50_000
	s.Often(s.Workers, 10*time.Second, sim.FaultExecCrash, 100*time.Millisecond, 0)
}

func buildExecutorHang(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), func(l *cluster.Load) { l.Every, l.Cancels = 15*time.Second, 300_000 })
	s.Model.IgnoreCancel = 300_000
	s.Often(s.Workers, 40*time.Second, sim.FaultExecHang, 100*time.Millisecond, 0)
}

func buildDiskFull(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Gates, t.Managers = 2, 2
	s.Standard(t, nil)
	s.Often(s.Gates, 20*time.Second, sim.FaultDiskFull, 7*time.Second, 0)
	s.Often(s.Managers, 20*time.Second, sim.FaultDiskFull, 7*time.Second, 0)
	s.Often(s.Workers, 20*time.Second, sim.FaultDiskFull, 7*time.Second, 0)
}

func buildTornDisk(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Gates, t.Managers, t.Clients = 2, 2, 2
	s.Standard(t, nil)
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskTorn})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: 100})
	all := append(append(append([]node.ID{}, s.Gates...), s.Managers...), s.Workers...)
	s.Often(all, 8*time.Second, sim.FaultCrash, 2*time.Second, 0)
}

func buildSubmitFlood(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Clients = 4
	s.Build(t)
	l := cluster.Load{Vus: 8, Cores: 12, Duration: 10 * time.Second}
	for n := range 2000 {
		o := &cluster.Order{Key: "flood-" + string(rune('a'+n%26)) + time.Duration(n).String(), Client: s.Clients[n%len(s.Clients)], Cancel: true}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, l, n+1)
		delay := s.Rand.Duration(0, s.Heal)
		s.World.At(3*time.Second+time.Duration(n)*time.Millisecond, func() { s.Submit(o, submit, delay) })
	}
}

func buildRollingDrain(s *cluster.Cluster) {
	t := cluster.ReferenceTopology()
	t.Datacenters, t.Clients = 1, 2
	s.Standard(t, func(l *cluster.Load) { l.Every = 6 * time.Second })
	all := append(append(append([]node.ID{}, s.Workers...), s.Managers...), s.Gates...)
	s.InTurn(all, sim.FaultStop, 5*time.Second, 0)
}

func buildDrift(s *cluster.Cluster) {
	s.Standard(cluster.ReferenceTopology(), nil)
	for _, id := range s.Nodes {
		drift := int64(s.Rand.N(2*sim.DriftBound+1)) - sim.DriftBound
		s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: drift})
	}
	s.Often(s.Nodes, 10*time.Second, sim.FaultSlowCPU, 3*time.Second, 1000)
}

func buildLostDisks(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Gates, t.Managers = 3, 3
	s.Standard(t, func(l *cluster.Load) { l.Every = 6 * time.Second })
	s.Often(s.Workers, 25*time.Second, sim.FaultCrash, 3*time.Second, 1)
	s.Often(s.Managers, 40*time.Second, sim.FaultCrash, 3*time.Second, 1)
	s.Often(s.Gates, 60*time.Second, sim.FaultCrash, 3*time.Second, 1)
}

// buildLostGateDisk loses one gate's disk while it owns jobs, and starts no other job there
// afterwards.
func buildLostGateDisk(s *cluster.Cluster) {
	t := cluster.ReferenceTopology()
	t.Gates, t.Datacenters, t.Clients = 1, 1, 1
	s.Standard(t, func(l *cluster.Load) { l.Until = s.Heal / 2 })
	s.Fault(sim.Fault{At: s.Heal / 2, For: 2 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.Gates[0])}, Value: 1})
}
