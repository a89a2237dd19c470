package scenarios

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/node"
	"hyperscale/sim"
)

func workerWorlds() []Scenario {
	return []Scenario{
		{Name: "result-before-ack", Virtual: 4 * time.Minute, build: onCluster(buildResultBeforeAck),
			Doc: "Workflows of a few milliseconds, on disks that are slow and streams that break: results come before the acknowledgements of their dispatches, or instead of them. Each counts once."},
		{Name: "partial-dispatch", Virtual: 4 * time.Minute, build: onCluster(buildPartialDispatch),
			Doc: "Workflows need the cores of all workers, and some of these refuse, or their executors fail to start. No shard is taken for running that is not, no core is leaked, and every job ends."},
		{Name: "lost-wakeup", Virtual: 4 * time.Minute, build: onCluster(buildLostWakeup),
			Doc: "Each job wants all cores, and the next one waits for them as they come free. It runs as soon as they do: none fails for want of cores, none waits for long."},
		{Name: "progress-says-done", Virtual: 4 * time.Minute, build: onCluster(buildProgressSaysDone),
			Doc: "Managers tell that their workflows are COMPLETED and are killed before the subjob's result is on a majority. A job is open until all its subjobs' results are counted."},
		{Name: "result-retry", Virtual: 4 * time.Minute, build: onCluster(buildResultRetry),
			Doc: "The manager is down when results are ready, for less than it takes to lose them. They are kept and told again, to the manager that has the subjob by now, and each counts once: nothing is run again."},
		{Name: "orphan-grace", Virtual: 5 * time.Minute, build: onCluster(buildOrphanGrace),
			Doc: "Workers are stopped or cut off for as long as a shard may run without a renewal, a tick less and a tick more, by clocks at the bound of drift. A shard goes on or is killed, and never runs in two places."},
		{Name: "suspected-worker", Virtual: 4 * time.Minute, build: onCluster(buildSuspectedWorker),
			Doc: "Workers are stopped for two to three seconds, again and again: long enough to be suspected, too short to be dead. A suspicion moves no work: nothing is run again, and every job completes."},
		{Name: "cut-together", Virtual: 5 * time.Minute, build: onCluster(buildCutTogether),
			Doc: "A manager and some workers are cut off from the other managers and workers, all within reach of the gates. The manager loses its subjobs with its majority: it renews nothing any more, its workers stop, and what runs elsewhere then runs there alone."},
		{Name: "dead-worker", Virtual: 4 * time.Minute, build: onCluster(buildDeadWorker),
			Doc: "A worker dies in the middle of its shards, one after the other. Each of its shards runs elsewhere soon, when the dead one's time is over, and all jobs complete."},
		{Name: "reconnect-flood", Virtual: 40 * time.Second, within: 12 * time.Second, rate: floodRate, build: onCluster(buildReconnectFlood),
			Doc: "A thousand workers are cut off while their shards end, and return at the same time with their results. No node loses a stream to its own full lanes, leases are renewed and no leader is elected anew beside the flood, nothing is run again, and every job completes within twelve seconds."},
		{Name: "soak-churn", Virtual: 15 * time.Minute, build: onCluster(buildSoakChurn),
			Doc: "Jobs, cancellations, crashes and drains for long; with --virtual 24h for a day. When it is over, what nodes keep on their disks is bounded by what their bounds of memory say, not by how long it lasted."},
	}
}

func buildResultBeforeAck(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores, l.vus = 500*time.Millisecond, 20*time.Millisecond, 2, 8 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Nodes: names(s.managers), Value: 30})
	s.often(append(append([]node.ID{}, s.managers...), s.gates...), 3*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildPartialDispatch(s *cluster) {
	t := groupTopology()
	t.workers = 5
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 7*time.Second, 3*time.Second, 17 })
	s.often(s.workers, 5*time.Second, sim.FaultDiskFull, 2*time.Second, 0)
	s.often(s.workers, 9*time.Second, sim.FaultExecCrash, 300*time.Millisecond, 0)
	s.often(s.workers, 11*time.Second, sim.FaultExecSlow, 3*time.Second, 40)
}

func buildLostWakeup(s *cluster) {
	t := smallTopology()
	t.managers, t.gates, t.clients = 3, 3, 2
	s.standard(t, func(l *load) {
		l.every, l.duration, l.cores, l.layers = 2500*time.Millisecond, 1500*time.Millisecond, 12, false
	})
	s.complete = true
	s.endsWithin(6 * time.Second)
}

func buildProgressSaysDone(s *cluster) {
	t := groupTopology()
	t.datacenters = 2
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.datacenters = 3*time.Second, 2*time.Second, 2, 2 })
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Nodes: names(s.managers), Value: 300})
	s.often(s.managers, 6*time.Second, sim.FaultCrash, 4*time.Second, 0)
}

func buildResultRetry(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 2*time.Second, 2500*time.Millisecond, 3 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Nodes: names(s.managers), Value: 40})
	aims := []string{"", "storing:file/", "storing:lease/", "stored:file/"}
	s.slots(8*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(time.Second, 3*time.Second).Truncate(tick), Kind: sim.FaultCrash, Nodes: names(s.choose(s.managers, 1)), Aim: aims[s.rand.Int(len(aims))]})
	})
}

// buildOrphanGrace keeps spare workers, so that what is given up is dispatched
// again at once.
func buildOrphanGrace(s *cluster) {
	t := groupTopology()
	t.workers = 6
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 15*time.Second, 4 })
	for _, id := range s.nodes { // as far apart as clocks may be
		s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: sim.DriftBound * int64(s.rand.Int(3)-1)})
	}
	if s.rand.Chance(1, 2) { // answers are old when they come, and other workers are near
		s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(s.managers), Peers: names(s.workers[:3]), Value: int64(500 + s.rand.Int(1500))})
	}
	kinds := []string{sim.FaultPause, sim.FaultSuspend, sim.FaultPartition, sim.FaultOneWay}
	aims := []string{"", "", timerAim(node.PartWorker, node.WorkerRenewal) + "-1ms", timerAim(node.PartWorker, node.WorkerRenewal), timerAim(node.PartWorker, node.WorkerHeartbeat)}
	for at := 6 * time.Second; at < s.heal-8*time.Second; at += s.rand.Duration(4*time.Second, 8*time.Second) {
		f := sim.Fault{At: at.Truncate(tick), For: s.graceLength(), Kind: kinds[s.rand.Int(len(kinds))], Nodes: names(s.choose(s.workers, 1))}
		switch f.Kind {
		case sim.FaultPartition:
			f.Peers = names(s.managers)
		case sim.FaultOneWay: // it is heard, and hears nothing
			f.Nodes, f.Peers = names(s.managers), f.Nodes
		default:
			f.Aim = aims[s.rand.Int(len(aims))]
		}
		s.fault(f)
	}
}

// graceLength is 5 s by one clock or another, and up to two ticks or a heartbeat
// beside it.
func (s *cluster) graceLength() time.Duration {
	d := 5 * time.Second
	d += d / million * sim.DriftBound * time.Duration(s.rand.Int(5)-2)
	d += tick * time.Duration(s.rand.Int(5)-2)
	if s.rand.Chance(1, 3) {
		d += s.rand.Duration(0, 2*time.Second) - time.Second
	}
	return d.Truncate(tick)
}

func buildDeadWorker(s *cluster) {
	t := groupTopology()
	t.workers = 5
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 6*time.Second, 14*time.Second, 4 })
	s.complete = true
	s.slots(30*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: 25 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.workers[i%len(s.workers)])}})
	})
}

// buildReconnectFlood has workers of one core each, and jobs that fill them.
func buildReconnectFlood(s *cluster) {
	t := topology{gates: 1, datacenters: 1, managers: 3, workers: floodWorkers, cores: 1, clients: 1}
	s.build(t)
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	for n := range 10 {
		o := &order{key: fmt.Sprintf("flood-%d", n), client: s.clients[0]}
		s.orders = append(s.orders, o)
		l := load{vus: 2000, cores: floodWorkers / 10, duration: 6 * time.Second}
		submit := s.submission(o, l, n+1)
		s.world.At(floodBegins+time.Duration(n)*100*time.Millisecond, func() { s.submit(o, submit, 0) })
	}
	s.losesNobody(floodBegins, s.options.Virtual)
	s.witness = append(s.witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Elected); ok && r.At >= floodBegins {
			s.checker.Violate("P", r, "%s is elected in %s at %v: votes and leases wait behind the flood", r.Node, e.Group, r.At)
		}
	})
	s.fault(sim.Fault{At: floodBegins + 5700*time.Millisecond, For: 1500 * time.Millisecond, Kind: sim.FaultPartition, Nodes: names(s.workers), Peers: names(s.managers)})
}

const (
	floodWorkers = 1000
	floodBegins  = 9 * time.Second // by then all have registered
	// floodRate: when the cut heals, each worker's streams, results and rhythm make 2.7 to 2.9
	// heartbeats at one manager in a second (2,723 to 2,852 over 7 seeds): twice that is red.
	floodRate = 4 * floodWorkers
)

func buildSoakChurn(s *cluster) {
	t := groupTopology()
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.cancels = 4*time.Second, 5*time.Second, 4, 150_000 })
	s.often(s.workers, 40*time.Second, sim.FaultCrash, 10*time.Second, 0)
	s.often(s.managers, 60*time.Second, sim.FaultCrash, 10*time.Second, 0)
	s.often(s.gates, 120*time.Second, sim.FaultStop, 10*time.Second, 0)
	s.often(s.nodes, 10*time.Second, sim.FaultBreakStreams, 0, 0)
	s.verdicts = append(s.verdicts, s.diskBounded)
}

// keptMax is what a node may keep of one job: registers, chunks of files, fences.
const keptMax = 24

// diskBounded judges that a manager's disk holds a few records of each job of the
// last minutes and nothing of those before, and the others' a few of each that they
// may remember for a day.
func (s *cluster) diskBounded() {
	const remembered = 8 * time.Minute // manager.Default: Retention, and what its sweeps take
	all, recent := 0, 0
	for _, o := range s.orders {
		if o.acked {
			all++
			if o.at >= s.world.Now()-remembered {
				recent++
			}
		}
	}
	for _, id := range s.nodes {
		jobs := all
		if slices.Contains(s.managers, id) {
			jobs = recent
		}
		if n, bound := s.world.Records(id), 200+keptMax*jobs; n > bound {
			s.checker.Violate("T12", s.record(id), "%s keeps %d records on its disk, %d jobs call for %d", id, n, jobs, bound)
		}
	}
}

func buildSuspectedWorker(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 10*time.Second, 3 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.slots(5*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(2*time.Second, 3200*time.Millisecond).Truncate(tick), Kind: sim.FaultPause, Nodes: names(s.choose(s.workers, 1))})
	})
}

func buildCutTogether(s *cluster) {
	t := groupTopology()
	t.workers = 6
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 15*time.Second, 5 })
	s.slots(25*time.Second, func(i int, at time.Duration) {
		lone := append(s.choose(s.managers, 1), s.choose(s.workers, 1+s.rand.Int(2))...)
		rest := append(without(s.managers, lone...), without(s.workers, lone...)...)
		s.fault(sim.Fault{At: at, For: s.rand.Duration(8*time.Second, 20*time.Second).Truncate(tick), Kind: sim.FaultPartition, Nodes: names(lone), Peers: names(rest)})
	})
}
