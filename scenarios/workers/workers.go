package workers

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func workerWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "result-before-ack", Virtual: 4 * time.Minute, Build: cluster.On(buildResultBeforeAck),
			Doc: "Workflows of a few milliseconds, on slow disks and streams that break: results arrive before the acknowledgements of their dispatches, or instead of them. Each counts once."},
		{Name: "partial-dispatch", Virtual: 4 * time.Minute, Build: cluster.On(buildPartialDispatch),
			Doc: "Workflows need the cores of all workers, and some workers reject them, or their executors fail to start. No manager regards a shard as running that is not, no core is leaked, and every job ends."},
		{Name: "lost-wakeup", Virtual: 4 * time.Minute, Build: cluster.On(buildLostWakeup),
			Doc: "Each job wants all cores, and the next one waits until they are free. It runs as soon as they are: no job fails for lack of cores, and none waits for long."},
		{Name: "progress-says-done", Virtual: 4 * time.Minute, Build: cluster.On(buildProgressSaysDone),
			Doc: "Managers report that their workflows are COMPLETED and are killed before a majority has the subjob's result. A job is open until the results of all its subjobs are counted."},
		{Name: "result-retry", Virtual: 4 * time.Minute, Build: cluster.On(buildResultRetry),
			Doc: "The manager is down when results are ready, for less time than it takes to lose them. Workers keep the results and report them again, to the manager that has the subjob by then. Each counts once: nothing runs again."},
		{Name: "orphan-grace", Virtual: 5 * time.Minute, Build: cluster.On(buildOrphanGrace),
			Doc: "Workers pause or are cut off for as long as a shard may run without a renewal, a tick less and a tick more, by clocks at the drift bound. A shard continues or is killed, and never runs in two places."},
		{Name: "suspected-worker", Virtual: 4 * time.Minute, Build: cluster.On(buildSuspectedWorker),
			Doc: "Workers pause for two to three seconds, again and again: long enough to be suspected, too short to be dead. A suspicion moves no work: nothing runs again, and every job completes."},
		{Name: "cut-together", Virtual: 5 * time.Minute, Build: cluster.On(buildCutTogether),
			Doc: "A manager and some workers are cut off from the other managers and workers, all within reach of the gates. The manager loses its subjobs with its majority: it renews nothing any more, and its workers stop. What then runs elsewhere runs there alone."},
		{Name: "dead-worker", Virtual: 4 * time.Minute, Build: cluster.On(buildDeadWorker),
			Doc: "A worker dies in the middle of its shards, one after the other. Each of its shards runs elsewhere soon, once the dead worker's time is over, and all jobs complete."},
		{Name: "reconnect-flood", Virtual: 40 * time.Second, Within: 12 * time.Second, Rate: floodRate, Most: floodWorkers, Build: cluster.On(buildReconnectFlood),
			Doc: "Up to a thousand workers are cut off while their shards end, and return at the same time with their results. No node loses a stream to its own full lanes. Leases are renewed, no leader is replaced, nothing runs again, and every job completes within twelve seconds."},
		{Name: "many-shards", Virtual: 30 * time.Second, Within: 10 * time.Second, Rate: 3 * 300 * 4, Build: cluster.On(buildManyShards), // two answers to each shard's last report and result
			Doc: "Jobs want every core of three hundred workers, one after the other. No manager works on its workers for more than 2 ms in one Step. So it reads heartbeats and renews leases meanwhile, and every job completes within ten seconds."},
		{Name: "soak-churn", Virtual: 15 * time.Minute, Build: cluster.On(buildSoakChurn),
			Doc: "Jobs, cancellations, crashes and drains for long; with --virtual 24h for a day. At the end the nodes' bounds of memory bound what they keep on disk, not the length of the run."},
	}
}

func buildResultBeforeAck(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus = 500*time.Millisecond, 20*time.Millisecond, 2, 8
	})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Nodes: stage.Names(s.Managers), Value: 30})
	s.Often(append(append([]node.ID{}, s.Managers...), s.Gates...), 3*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildPartialDispatch(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 5
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 7*time.Second, 3*time.Second, 17 })
	s.Often(s.Workers, 5*time.Second, sim.FaultDiskFull, 2*time.Second, 0)
	s.Often(s.Workers, 9*time.Second, sim.FaultExecCrash, 300*time.Millisecond, 0)
	s.Often(s.Workers, 11*time.Second, sim.FaultExecSlow, 3*time.Second, 40)
}

func buildLostWakeup(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Managers, t.Gates, t.Clients = 3, 3, 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 2500*time.Millisecond, 1500*time.Millisecond, 12, false
	})
	s.Complete = true
	s.EndsWithin(6 * time.Second)
}

func buildProgressSaysDone(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters = 2
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Datacenters = 3*time.Second, 2*time.Second, 2, 2
	})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Nodes: stage.Names(s.Managers), Value: 300})
	s.Often(s.Managers, 6*time.Second, sim.FaultCrash, 4*time.Second, 0)
}

func buildResultRetry(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 2*time.Second, 2500*time.Millisecond, 3 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Nodes: stage.Names(s.Managers), Value: 40})
	aims := []string{"", "storing:file/", "storing:lease/", "stored:file/"}
	s.Slots(8*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 3*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Managers, 1)), Aim: aims[s.Rand.Int(len(aims))]})
	})
}

// buildOrphanGrace keeps spare workers, so that managers dispatch a lost shard again at once.
func buildOrphanGrace(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 6
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 15*time.Second, 4 })
	for _, id := range s.Nodes { // as far apart as clocks may be
		s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: sim.DriftBound * int64(s.Rand.Int(3)-1)})
	}
	if s.Rand.Chance(1, 2) { // answers arrive late, and other workers are near
		s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Workers[:3]), Value: int64(500 + s.Rand.Int(1500))})
	}
	kinds := []string{sim.FaultPause, sim.FaultSuspend, sim.FaultPartition, sim.FaultOneWay}
	aims := []string{"", "", stage.TimerAim(node.PartWorker, node.WorkerRenewal) + "-1ms", stage.TimerAim(node.PartWorker, node.WorkerRenewal), stage.TimerAim(node.PartWorker, node.WorkerHeartbeat)}
	for at := 6 * time.Second; at < s.Heal-8*time.Second; at += s.Rand.Duration(4*time.Second, 8*time.Second) {
		f := sim.Fault{At: at.Truncate(stage.Tick), For: graceLength(s), Kind: kinds[s.Rand.Int(len(kinds))], Nodes: stage.Names(s.Choose(s.Workers, 1))}
		switch f.Kind {
		case sim.FaultPartition:
			f.Peers = stage.Names(s.Managers)
		case sim.FaultOneWay: // others hear it, and it hears nothing
			f.Nodes, f.Peers = stage.Names(s.Managers), f.Nodes
		default:
			f.Aim = aims[s.Rand.Int(len(aims))]
		}
		s.Fault(f)
	}
}

// graceLength returns 5 s by one clock or another, up to two ticks or a heartbeat more or less.
func graceLength(s *cluster.Cluster) time.Duration {
	d := 5 * time.Second
	d += d / stage.Million * sim.DriftBound * time.Duration(s.Rand.Int(5)-2)
	d += stage.Tick * time.Duration(s.Rand.Int(5)-2)
	if s.Rand.Chance(1, 3) {
		d += s.Rand.Duration(0, 2*time.Second) - time.Second
	}
	return d.Truncate(stage.Tick)
}

func buildDeadWorker(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 5
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 6*time.Second, 14*time.Second, 4 })
	s.Complete = true
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 25 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.Workers[i%len(s.Workers)])}})
	})
}

// buildReconnectFlood has workers of one core each, and jobs that fill them.
func buildReconnectFlood(s *cluster.Cluster) {
	workers := s.Crowd(floodWorkers)
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 3, Workers: workers, Cores: 1, Clients: 1})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	for n := range 10 {
		o := &cluster.Order{Key: fmt.Sprintf("flood-%d", n), Client: s.Clients[0]}
		s.Orders = append(s.Orders, o)
		l := cluster.Load{Vus: 2 * uint64(workers), Cores: uint32(workers) / 10, Duration: 6 * time.Second}
		submit := s.Submission(o, l, n+1)
		s.World.At(floodBegins+time.Duration(n)*100*time.Millisecond, func() { s.Submit(o, submit, 0) })
	}
	s.LosesNoPeer(floodBegins, s.Options.Virtual)
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Elected); ok && r.At >= floodBegins {
			s.Checker.Violate("P", r, "%s is elected in %s at %v: votes and leases wait behind the flood", r.Node, e.Group, r.At)
		}
	})
	s.Fault(sim.Fault{At: floodBegins + 5700*time.Millisecond, For: 1500 * time.Millisecond, Kind: sim.FaultPartition, Nodes: stage.Names(s.Workers), Peers: stage.Names(s.Managers)})
}

const (
	floodWorkers = 1000            // at most
	floodBegins  = 9 * time.Second // by then all have registered
	// floodRate: when the cut heals, each worker's streams, results and timers make 2.7 to 2.9
	// heartbeats at one manager in a second (2,723 to 2,852 of a thousand workers over 7 seeds):
	// twice that is red.
	floodRate = 4 * floodWorkers
)

// buildManyShards has a shard on each worker: work of a manager that visits all shards for each
// worker grows quadratically.
func buildManyShards(s *cluster.Cluster) {
	const workers = 300
	s.Build(cluster.Topology{Gates: 1, Datacenters: 1, Managers: 3, Workers: workers, Cores: 1, Clients: 1})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	for n := range 3 {
		o := &cluster.Order{Key: fmt.Sprintf("wide-%d", n), Client: s.Clients[0]}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, cluster.Load{Vus: 2 * workers, Cores: workers, Duration: time.Second}, n+1)
		s.World.At(6*time.Second+time.Duration(n)*500*time.Millisecond, func() { s.Submit(o, submit, 0) })
	}
}

func buildSoakChurn(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Cancels = 4*time.Second, 5*time.Second, 4, 150_000
	})
	s.Often(s.Workers, 40*time.Second, sim.FaultCrash, 10*time.Second, 0)
	s.Often(s.Managers, 60*time.Second, sim.FaultCrash, 10*time.Second, 0)
	s.Often(s.Gates, 120*time.Second, sim.FaultStop, 10*time.Second, 0)
	s.Often(s.Nodes, 10*time.Second, sim.FaultBreakStreams, 0, 0)
	s.Verdicts = append(s.Verdicts, func() { diskBounded(s) })
}

// keptMax bounds what a node may hold of one job: registers, chunks of files, fences.
const keptMax = 24

// diskBounded judges that a manager's disk holds a few records of each job of the last minutes
// and nothing of earlier ones. The other nodes' disks hold a few of each job that they may
// remember for a day.
func diskBounded(s *cluster.Cluster) {
	const remembered = 8 * time.Minute // manager.Default: Retention, and the time of its sweeps
	all, recent := 0, 0
	for _, o := range s.Orders {
		if o.Acked {
			all++
			if o.At >= s.World.Now()-remembered {
				recent++
			}
		}
	}
	for _, id := range s.Nodes {
		jobs := all
		if slices.Contains(s.Managers, id) {
			jobs = recent
		}
		if n, bound := s.World.Records(id), 200+keptMax*jobs; n > bound {
			s.Checker.Violate("T12", s.Record(id), "%s keeps %d records on its disk, %d jobs call for %d", id, n, jobs, bound)
		}
	}
}

func buildSuspectedWorker(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 10*time.Second, 3 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Slots(5*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 3200*time.Millisecond).Truncate(stage.Tick), Kind: sim.FaultPause, Nodes: stage.Names(s.Choose(s.Workers, 1))})
	})
}

func buildCutTogether(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers = 6
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 15*time.Second, 5 })
	s.Slots(25*time.Second, func(i int, at time.Duration) {
		lone := append(s.Choose(s.Managers, 1), s.Choose(s.Workers, 1+s.Rand.Int(2))...)
		rest := append(stage.Without(s.Managers, lone...), stage.Without(s.Workers, lone...)...)
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(8*time.Second, 20*time.Second).Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: stage.Names(lone), Peers: stage.Names(rest)})
	})
}
