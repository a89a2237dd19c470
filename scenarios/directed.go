package scenarios

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// directed are worlds with one thing wrong, aimed at one promise.
func directed() []Scenario {
	return []Scenario{
		{Name: "worker-lost", Virtual: 4 * time.Minute, build: onCluster(buildWorkerLost),
			Doc: "Workers are killed one by one in the middle of their shards and return a minute later. Each shard runs again elsewhere under a higher attempt, and what the lost attempt had told counts nowhere."},
		{Name: "manager-lost", Virtual: 4 * time.Minute, build: onCluster(buildManagerLost),
			Doc: "Managers are killed, one in each datacenter, while they run subjobs. The gate raises the manager epoch and gives the subjob to another; the old epoch's shards are superseded, not run twice under one fence."},
		{Name: "gate-restart", Virtual: 4 * time.Minute, build: onCluster(buildGateRestart),
			Doc: "Every gate is killed in turn and returns with its disk. Its jobs are there again; subjobs that went on meanwhile are adopted, results that waited in outboxes arrive and count once."},
		{Name: "paused-worker", Virtual: 4 * time.Minute, build: onCluster(buildPausedWorker),
			Doc: "Workers are stopped for longer than the silence that makes them lost, and wake up with executors that ran on and results under a fence that has been passed. Those results are refused."},
		{Name: "half-open", Virtual: 4 * time.Minute, build: onCluster(buildHalfOpen),
			Doc: "Streams break on one side only, again and again. Whoever still believes in one finds out by the silence on it; nothing that was sent on it is taken for delivered."},
		{Name: "silent-datacenter", Virtual: 5 * time.Minute, build: onCluster(buildSilentDatacenter),
			Doc: "Jobs run in two datacenters each, and one datacenter is cut off from all gates for a minute. Its subjobs end by what its managers report after the cut, or by their timeout; never is a job COMPLETED without them."},
		{Name: "cancel-races", Virtual: 4 * time.Minute, build: onCluster(buildCancelRaces),
			Doc: "Every job is cancelled, some beside their submission, some beside their end, while streams break. There is one terminal state, the first; the acknowledgement of an end is never taken back."},
		{Name: "broken-streams", Virtual: 4 * time.Minute, build: onCluster(buildBrokenStreams),
			Doc: "Streams break again and again, with all that is in flight on slow ways. Everything is told again until it is acknowledged: every job completes, and nothing is run twice."},
		{Name: "late-orders", Virtual: 4 * time.Minute, build: onCluster(buildLateOrders),
			Doc: "Managers are killed again and again, and a gate and a manager of old send what had been ordered under fences that were passed since. All of it is refused, and every job goes on as if it had never come."},
		{Name: "power-cut", Virtual: 4 * time.Minute, build: onCluster(buildPowerCut),
			Doc: "A whole site goes dark at once, again and again, while its slow disks write. Nobody is left to remember for the others: whoever acted before it was on disk acts twice."},
		{Name: "gate-then-manager", Virtual: 4 * time.Minute, build: onCluster(buildGateThenManager),
			Doc: "The gate restarts, and the manager that runs its jobs is lost right after. What the gate remembers of epochs from its disk is all that keeps the next manager from acting under a fence that was given out."},
		{Name: "executor-crash", Virtual: 4 * time.Minute, build: onCluster(buildExecutorCrash),
			Doc: "Executors crash at any moment of their run. Their worker lives, frees the core once, and tells the reason; a workflow's own failure is not run again."},
		{Name: "executor-hang", Virtual: 5 * time.Minute, build: onCluster(buildExecutorHang),
			Doc: "Executors fall silent and ignore cancellation. They are killed when their time is over, and their cores serve on."},
		{Name: "disk-full", Virtual: 4 * time.Minute, build: onCluster(buildDiskFull),
			Doc: "The disks of gates, managers and workers are full, a third of the time each. New work is refused with a reason; what runs goes on, and what was on disk stays."},
		{Name: "torn-disk", Virtual: 4 * time.Minute, build: onCluster(buildTornDisk),
			Doc: "Nodes crash while they write, and lose some or all of what was not synced. Nothing that was told to anybody is missing afterwards."},
		{Name: "submit-flood", Virtual: 4 * time.Minute, build: onCluster(buildSubmitFlood),
			Doc: "Two thousand jobs within two seconds for a cluster that runs a few at a time. What exceeds the queue is refused with the time to come back; what was accepted ends, if only by its age in the queue."},
		{Name: "rolling-drain", Virtual: 4 * time.Minute, build: onCluster(buildRollingDrain),
			Doc: "All nodes are stopped gracefully and started again, one after the other, workers first. No job is lost."},
		{Name: "drift", Virtual: 4 * time.Minute, build: onCluster(buildDrift),
			Doc: "Clocks run up to one percent fast or slow, the bound, and processors a thousand times slower for seconds. Healthy nodes are not taken for lost for long, and fences hold."},
		{Name: "lost-disks", Virtual: 5 * time.Minute, build: onCluster(buildLostDisks),
			Doc: "Workers, managers and gates return without their disks, one of each group at a time. A majority has what they had, or it is given to others under higher fences: their disks spare work, but nothing that was promised rests on one of them alone."},
		{Name: "lost-gate-disk", Virtual: 5 * time.Minute, build: onCluster(buildLostGateDisk), ExpectedLoss: "T4 T11",
			Doc: "The only gate returns without its disk. It was a majority of one: nobody else keeps its jobs, so they are lost, and this world must show it."},
	}
}

func buildWorkerLost(s *cluster) {
	s.standard(smallTopology(), nil)
	s.inTurn(s.workers, sim.FaultCrash, time.Minute, 0)
}

func buildManagerLost(s *cluster) {
	t := referenceTopology()
	t.gates, t.clients = 1, 1
	s.standard(t, nil)
	s.inTurn([]node.ID{s.managers[0], s.managers[3], s.managers[6], s.managers[1]}, sim.FaultCrash, 50*time.Second, 0)
}

func buildGateRestart(s *cluster) {
	s.standard(referenceTopology(), nil)
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.inTurn(s.gates, sim.FaultCrash, 15*time.Second, 0)
}

func buildPausedWorker(s *cluster) {
	s.standard(smallTopology(), nil)
	s.often(s.workers, 12*time.Second, sim.FaultPause, s.rand.Duration(6*time.Second, 12*time.Second).Truncate(time.Millisecond), 0)
}

func buildHalfOpen(s *cluster) {
	t := smallTopology()
	t.gates, t.managers = 2, 2
	s.standard(t, nil)
	s.often(s.nodes, 4*time.Second, sim.FaultHalfOpen, 0, 1)
	s.often(s.nodes, 4*time.Second, sim.FaultHalfOpen, 0, 0)
}

func buildSilentDatacenter(s *cluster) {
	t := referenceTopology()
	t.gates, t.datacenters, t.managers = 1, 2, 1
	s.standard(t, func(l *load) { l.datacenters, l.every = 2, 8*time.Second })
	cut := sim.Fault{At: s.heal / 3, For: time.Minute, Kind: sim.FaultPartition, Nodes: []string{string(s.gates[0])}}
	for _, id := range append(s.managers[1:2:2], s.workers[t.workers:]...) {
		cut.Peers = append(cut.Peers, string(id))
	}
	s.fault(cut)
}

func buildCancelRaces(s *cluster) {
	t := smallTopology()
	t.managers = 2
	s.standard(t, func(l *load) {
		l.every, l.duration, l.cancels = 3*time.Second, 12*time.Second, 1_000_000
	})
	s.checker.Promise(checker.Promises{CancelWithin: 10 * time.Second})
	s.often(s.nodes, 3*time.Second, sim.FaultBreakStreams, 0, 0)
}

// buildBrokenStreams keeps breaks apart: whoever must call again gets through
// before anybody is taken for lost. With one manager no two of them give the same
// cores away.
func buildBrokenStreams(s *cluster) {
	t := smallTopology()
	t.gates, t.clients = 2, 2
	s.standard(t, nil)
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultLatency, Value: 100})
	s.often(s.nodes, 2*time.Second, sim.FaultBreakStreams, 0, 0)
}

// buildLateOrders has few workers, so that the same one gets the same shard under
// several fences.
func buildLateOrders(s *cluster) {
	t := smallTopology()
	t.managers, t.workers, t.past = 2, 2, true
	s.standard(t, func(l *load) { l.every, l.cores = 6*time.Second, 2 })
	s.complete = true
	s.often(s.managers, 30*time.Second, sim.FaultCrash, 7*time.Second, 0)
}

// buildPowerCut has many short jobs, so that each cut meets some in every write.
// buildGateThenManager gives each manager long jobs, so that losing one is seen,
// and the gate always comes back before that.
func buildGateThenManager(s *cluster) {
	t := smallTopology()
	t.managers = 2
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 8*time.Second, 12*time.Second, 2 })
	for at := 8 * time.Second; at < s.heal-25*time.Second; at += 25 * time.Second {
		for _, f := range []sim.Fault{
			{At: at, For: time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.gates[0])}},
			{At: at + s.rand.Duration(time.Second, 3*time.Second).Truncate(time.Millisecond), For: 12 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.managers[s.rand.Int(len(s.managers))])}},
		} {
			s.fault(f)
		}
	}
}

func buildPowerCut(s *cluster) {
	t := smallTopology()
	t.managers, t.clients = 2, 2
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = time.Second, 2*time.Second, 2 })
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskTorn})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: 100})
	var site []string
	for _, ids := range [][]node.ID{s.gates, s.managers, s.workers} {
		for _, id := range ids {
			site = append(site, string(id))
		}
	}
	for at := 5 * time.Second; at < s.heal; at += s.rand.Duration(5*time.Second, 11*time.Second) {
		s.fault(sim.Fault{At: at.Truncate(time.Millisecond), For: time.Second, Kind: sim.FaultCrash, Nodes: site})
	}
}

func buildExecutorCrash(s *cluster) {
	s.standard(smallTopology(), nil)
	s.model.Crash, s.model.Fail = 200_000, 50_000
	s.often(s.workers, 10*time.Second, sim.FaultExecCrash, 100*time.Millisecond, 0)
}

func buildExecutorHang(s *cluster) {
	s.standard(smallTopology(), func(l *load) { l.every, l.cancels = 15*time.Second, 300_000 })
	s.model.IgnoreCancel = 300_000
	s.often(s.workers, 40*time.Second, sim.FaultExecHang, 100*time.Millisecond, 0)
}

func buildDiskFull(s *cluster) {
	t := smallTopology()
	t.gates, t.managers = 2, 2
	s.standard(t, nil)
	s.often(s.gates, 20*time.Second, sim.FaultDiskFull, 7*time.Second, 0)
	s.often(s.managers, 20*time.Second, sim.FaultDiskFull, 7*time.Second, 0)
	s.often(s.workers, 20*time.Second, sim.FaultDiskFull, 7*time.Second, 0)
}

func buildTornDisk(s *cluster) {
	t := smallTopology()
	t.gates, t.managers, t.clients = 2, 2, 2
	s.standard(t, nil)
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskTorn})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: 100})
	all := append(append(append([]node.ID{}, s.gates...), s.managers...), s.workers...)
	s.often(all, 8*time.Second, sim.FaultCrash, 2*time.Second, 0)
}

func buildSubmitFlood(s *cluster) {
	t := smallTopology()
	t.clients = 4
	s.build(t)
	l := load{vus: 8, cores: 12, duration: 10 * time.Second}
	for n := range 2000 {
		o := &order{key: "flood-" + string(rune('a'+n%26)) + time.Duration(n).String(), client: s.clients[n%len(s.clients)], cancel: true}
		s.orders = append(s.orders, o)
		submit := s.submission(o, l, n+1)
		delay := s.rand.Duration(0, s.heal)
		s.world.At(3*time.Second+time.Duration(n)*time.Millisecond, func() { s.submit(o, submit, delay) })
	}
}

func buildRollingDrain(s *cluster) {
	t := referenceTopology()
	t.datacenters, t.clients = 1, 2
	s.standard(t, func(l *load) { l.every = 6 * time.Second })
	all := append(append(append([]node.ID{}, s.workers...), s.managers...), s.gates...)
	s.inTurn(all, sim.FaultStop, 5*time.Second, 0)
}

func buildDrift(s *cluster) {
	s.standard(referenceTopology(), nil)
	for _, id := range s.nodes {
		drift := int64(s.rand.N(2*sim.DriftBound+1)) - sim.DriftBound
		s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: drift})
	}
	s.often(s.nodes, 10*time.Second, sim.FaultSlowCPU, 3*time.Second, 1000)
}

func buildLostDisks(s *cluster) {
	t := smallTopology()
	t.gates, t.managers = 3, 3
	s.standard(t, func(l *load) { l.every = 6 * time.Second })
	s.often(s.workers, 25*time.Second, sim.FaultCrash, 3*time.Second, 1)
	s.often(s.managers, 40*time.Second, sim.FaultCrash, 3*time.Second, 1)
	s.often(s.gates, 60*time.Second, sim.FaultCrash, 3*time.Second, 1)
}

// buildLostGateDisk loses one gate's disk while it owns jobs, and starts no other
// job there afterwards.
func buildLostGateDisk(s *cluster) {
	t := referenceTopology()
	t.gates, t.datacenters, t.clients = 1, 1, 1
	s.standard(t, func(l *load) { l.until = s.heal / 2 })
	s.fault(sim.Fault{At: s.heal / 2, For: 2 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.gates[0])}, Value: 1})
}
