package scenarios

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/sim"
)

func managerWorlds() []Scenario {
	return []Scenario{
		{Name: "manager-dies-mid-dispatch", Virtual: 4 * time.Minute, build: onCluster(buildManagerDiesMidDispatch),
			Doc: "Managers are killed at every step of a dispatch: before and after their register, the subjob's file, the cut and the acknowledgement are on disk. There is one execution a fence, and every job completes."},
		{Name: "manager-adopts", Virtual: 4 * time.Minute, build: onCluster(buildManagerAdopts),
			Doc: "Each manager in turn is killed while its shards run. Another one takes its subjobs over before the workers stop them by themselves: the shards go on where they are, and none is run twice."},
		{Name: "late-dispatch-ack", Virtual: 5 * time.Minute, build: onCluster(buildLateDispatchAck),
			Doc: "What managers tell gates, and workers tell managers, comes many seconds late, so that dispatches are sent again, and to others, before their answers come. The register decides who has a subjob; its higher attempt wins."},
		{Name: "context-takeover", Virtual: 4 * time.Minute, build: onCluster(buildContextTakeover),
			Doc: "Jobs have two layers, and the first gives the second a value. Workers die in the second one, and managers between the layers. Whoever takes over knows of the first layer what a majority knows: the second never begins before, and never twice under one fence, and each attempt of it is given the same value."},
		{Name: "stale-timeout", Virtual: 5 * time.Minute, build: onCluster(buildStaleTimeout),
			Doc: "Jobs run into their run timeout while the manager that would tell it is stopped, and another has taken over. When the old one wakes up, its report is refused by its fence; every job ends once."},
		{Name: "transfer-before-dispatch", Virtual: 4 * time.Minute, build: onCluster(buildTransferBeforeDispatch),
			Doc: "Managers and gates hand over what they own while orders about it are under way on slow links, so that news of who leads overtakes them. They are obeyed once, by whoever owns the subjob, and nothing of them stays behind."},
		{Name: "cancel-leaderless", Virtual: 5 * time.Minute, build: onCluster(buildCancelLeaderless),
			Doc: "Every job is cancelled, and its manager, then the next one, then its gate are killed in the midst of it. Whoever owns the job finishes the cancellation; workers that cannot be reached stop by themselves."},
		{Name: "silent-dc", Virtual: 6 * time.Minute, build: onCluster(buildSilentDC),
			Doc: "Jobs run in three datacenters each, and one of these never reports again: its managers hear the gates and are not heard, or are cut off. Jobs end at the bound of that datacenter, never COMPLETED without it."},
		{Name: "datacenter-cut-off", Virtual: 8 * time.Minute, build: onCluster(buildDatacenterCutOff),
			Doc: "Datacenters are cut off from all gates for longer than their lease, in the middle of jobs that name none. Each stops by its own clock, before the gates begin its jobs anew elsewhere, at layer 0 and under another fence: nothing of a job runs in two datacenters."},
		{Name: "cut-at-the-guard", Virtual: 5 * time.Minute, build: onCluster(buildCutAtTheGuard),
			Doc: "Two of three datacenters are cut off from the gates, with clocks as slow as they may be, the gates' as fast. When their time is almost over the managers are stopped in their tracks, so that none can cancel what it has just renewed, then the workers: their executors end as late as they may. Only then does the third datacenter begin their jobs. What the gates say before the cut comes seconds late in half of the runs."},
		{Name: "named-before-the-crash", Virtual: 6 * time.Minute, build: onCluster(buildNamedBeforeTheCrash),
			Doc: "Gates name subjobs to their managers while no majority of the gates can record that managers accepted them, and one gate crashes. Two managers of a datacenter are then cut off from the gates and from the third one. The gate that takes a job over knows only that its subjob was dispatched, and the third manager rejects the subjob. The gate counts the subjob as in use for a guard, and begins the job in the other datacenter only then: nothing of a job runs in two datacenters."},
		{Name: "regions-cut", Virtual: 5 * time.Minute, build: onCluster(buildRegionCut),
			Doc: "Three datacenters are cut off from the gates at once, then one by one, each for less than its lease. What runs there goes on: nothing is given to anybody else, and every job completes."},
		{Name: "deaf-dc", Virtual: 5 * time.Minute, build: onCluster(buildDeafDC),
			Doc: "First a datacenter's answers are lost while it hears everything; then its links are 500 ms slow again and again. What is not answered counts as lost; slowness alone loses nobody."},
		{Name: "rolling-upgrade", Virtual: 5 * time.Minute, build: onCluster(buildRollingUpgrade),
			Doc: "Every node is restarted once while jobs run, one at a time, some by a kill. No job is lost, and all complete. (One binary plays all versions: that unknown fields are skipped is core/message's to prove.)"},
		{Name: "forgotten-elsewhere", Virtual: 5 * time.Minute, build: onCluster(buildForgottenElsewhere),
			Doc: "A manager's disk is full while jobs begin and end, so that it knows less of them than the others, who have forgotten them when it starts again. What has ended stays ended: nobody takes it up, and nothing of it is run again."},
		{Name: "woken-for-a-moment", Virtual: 5 * time.Minute, build: onCluster(buildWokenForAMoment),
			Doc: "A manager's host is suspended while jobs end and the others forget them. It wakes for a millisecond or two, in which it takes up what it thinks is nobody's, and is suspended again before it can give it back. What it leaves behind holds nothing, and whoever finds that is done with it: no register goes from hand to hand."},
	}
}

func buildForgottenElsewhere(s *cluster) {
	t := groupTopology()
	t.retention = shortMemory
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 3*time.Second, 7*time.Second, 3 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.slots(70*time.Second, func(i int, at time.Duration) {
		whom := names(s.choose(s.managers, 1))
		s.fault(sim.Fault{At: at, For: s.rand.Duration(8*time.Second, 15*time.Second).Truncate(tick), Kind: sim.FaultDiskFull, Nodes: whom})
		s.fault(sim.Fault{At: at + 2*shortMemory + s.rand.Duration(5*time.Second, 15*time.Second).Truncate(tick), For: tick, Kind: sim.FaultStop, Nodes: whom})
	})
}

func buildWokenForAMoment(s *cluster) {
	t := groupTopology()
	t.retention = shortMemory
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 3*time.Second, 7*time.Second, 3 })
	s.complete = true
	s.slots(2*shortMemory+10*time.Second, func(i int, at time.Duration) {
		whom := names(s.choose(s.managers, 1))
		asleep := shortMemory + s.rand.Duration(8*time.Second, 16*time.Second).Truncate(tick)
		s.fault(sim.Fault{At: at, For: asleep, Kind: sim.FaultSuspend, Nodes: whom})
		awake := s.rand.Duration(200*time.Microsecond, 2*time.Millisecond)
		s.fault(sim.Fault{At: at + asleep + awake, For: 5 * time.Second, Kind: sim.FaultSuspend, Nodes: whom})
	})
}

func buildManagerDiesMidDispatch(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 2*time.Second, 3*time.Second, 4 })
	s.complete = true
	aims := []string{"stored:lease/", "storing:lease/", "stored:file/", "storing:file/", "timer:5.*", timerAim(node.PartLease, node.LeaseFlush)}
	s.slots(7*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(time.Second, 5*time.Second).Truncate(tick), Kind: sim.FaultCrash,
			Nodes: names(s.choose(s.managers, 1)), Aim: aims[s.rand.Int(len(aims))]})
	})
}

func buildManagerAdopts(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 12*time.Second, 3 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.slots(20*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(6*time.Second, 12*time.Second).Truncate(tick), Kind: sim.FaultCrash, Nodes: names(s.choose(s.managers, 1))})
	})
}

func buildLateDispatchAck(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 6*time.Second, 3 })
	s.slots(20*time.Second, func(i int, at time.Duration) {
		from, to := s.managers, s.gates
		late := s.rand.Duration(2*time.Second, 14*time.Second)
		if i%2 == 1 {
			from, to, late = s.workers, s.managers, s.rand.Duration(time.Second, 6*time.Second)
		}
		s.fault(sim.Fault{At: at, For: 12 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(from), Peers: names(to), Value: late.Milliseconds()})
	})
	s.often(s.managers, 25*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildContextTakeover(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 6*time.Second, 4*time.Second, 3 })
	for n, o := range s.orders { // every job has two layers, not every third
		if len(o.plan.Workflows) == 1 {
			l := load{vus: 64, cores: 2, duration: time.Duration(1+n%4) * time.Second}
			o.plan.Workflows = append(o.plan.Workflows, workflowPlan("second", l, []uint32{0}))
			o.submit.Plan = *o.plan
		}
	}
	s.context()
	s.often(s.workers, 15*time.Second, sim.FaultCrash, 4*time.Second, 0)
	aims := []string{"stored:lease/", "storing:lease/", ""}
	s.slots(8*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(2*time.Second, 7*time.Second).Truncate(tick), Kind: sim.FaultCrash,
			Nodes: names(s.choose(s.managers, 1)), Aim: aims[s.rand.Int(len(aims))]})
	})
}

func buildStaleTimeout(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 6*time.Second, 8*time.Second, 3 })
	for _, o := range s.orders {
		o.submit.RunTimeout = s.rand.Duration(6*time.Second, 11*time.Second).Round(tick)
	}
	s.often(s.managers, 6*time.Second, sim.FaultPause, s.rand.Duration(2500*time.Millisecond, 9*time.Second).Truncate(tick), 0)
}

func buildTransferBeforeDispatch(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 2*time.Second, 4*time.Second, 2 })
	s.complete = true
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(s.gates), Peers: names(s.managers), Value: 400})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(s.managers), Peers: names(s.workers[:2]), Value: 300})
	s.slots(8*time.Second, func(i int, at time.Duration) {
		ids := s.managers
		if i%3 == 2 {
			ids = s.gates
		}
		s.fault(sim.Fault{At: at, For: 6 * time.Second, Kind: sim.FaultStop, Nodes: names(s.choose(ids, 1))})
	})
}

func buildCancelLeaderless(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores, l.cancels = 4*time.Second, 12*time.Second, 3, million })
	s.slots(20*time.Second, func(i int, at time.Duration) {
		dead := s.choose(s.managers, 2)
		for k, id := range dead {
			f := sim.Fault{At: at + time.Duration(k)*s.rand.Duration(0, 4*time.Second).Truncate(tick), For: s.rand.Duration(3*time.Second, 8*time.Second).Truncate(tick), Kind: sim.FaultCrash, Nodes: []string{string(id)}}
			s.fault(f)
		}
		s.fault(sim.Fault{At: at + 2*time.Second, For: 5 * time.Second, Kind: sim.FaultPartition, Nodes: names(s.choose(s.workers, 1))})
		if i%2 == 1 {
			s.fault(sim.Fault{At: at + 5*time.Second, For: 6 * time.Second, Kind: sim.FaultCrash, Nodes: names(s.choose(s.gates, 1))})
		}
	})
}

func buildSilentDC(s *cluster) {
	t := topology{gates: 3, datacenters: 3, managers: 3, workers: 2, cores: 4, clients: 2}
	s.standard(t, func(l *load) { l.datacenters, l.every, l.duration, l.cores = 3, 8*time.Second, 8*time.Second, 3 })
	for _, o := range s.orders {
		o.submit.RunTimeout = 40 * time.Second
	}
	f := sim.Fault{At: (s.heal / 4).Truncate(tick), For: s.heal / 2, Kind: sim.FaultPartition, Nodes: s.ofDatacenter(s.rand.Int(3)), Peers: names(s.gates)}
	if s.rand.Chance(1, 2) {
		f.Kind = sim.FaultOneWay
	}
	s.fault(f)
}

func buildDatacenterCutOff(s *cluster) {
	t := topology{gates: 3, datacenters: 3, managers: 3, workers: 2, cores: 4, clients: 2}
	s.standard(t, func(l *load) {
		l.every, l.duration, l.cores, l.until, l.layers = 5*time.Second, 100*time.Second, 1, 80*time.Second, false
	})
	for _, o := range s.orders {
		o.submit.RunTimeout = 8 * time.Minute
	}
	s.complete = true
	s.oneDatacenter()
	if s.rand.Chance(1, 2) { // who takes a subjob over keeps to what is left of its lease
		s.often(s.managers, 20*time.Second, sim.FaultCrash, 4*time.Second, 0)
	}
	cut := s.rand.Int(t.datacenters)
	for i, at := range []time.Duration{35 * time.Second, 150 * time.Second} { // the third one is always there
		s.fault(sim.Fault{At: at, For: s.rand.Duration(70*time.Second, 90*time.Second).Truncate(tick), Kind: sim.FaultPartition, Nodes: s.ofDatacenter((cut + i) % t.datacenters), Peers: names(s.gates)})
	}
}

// buildCutAtTheGuard leaves nothing that a gate's guard could do without: each node of the
// two datacenters that are cut off goes on for as long as it may, on the slowest clock, and
// the third one has cores for their jobs at once.
func buildCutAtTheGuard(s *cluster) {
	t := topology{gates: 3, datacenters: 3, managers: 3, workers: 12, cores: 1, clients: 1}
	s.standard(t, func(l *load) {
		l.every, l.duration, l.cores, l.until, l.layers = 5*time.Second, 100*time.Second, 3, 32*time.Second, false
	})
	for _, o := range s.orders {
		o.submit.RunTimeout = 5 * time.Minute
	}
	s.complete = true
	s.oneDatacenter()
	lost := append(s.ofDatacenter(0), s.ofDatacenter(1)...)
	managers, workers := s.managers[:2*t.managers], names(s.workers[:2*t.workers])
	s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: names(s.gates), Value: sim.DriftBound})
	s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: lost, Value: -sim.DriftBound})
	cut := 27*time.Second + s.rand.Duration(300*time.Millisecond, 1300*time.Millisecond).Truncate(tick) // a job has just been submitted
	if s.rand.Chance(1, 2) {                                                                            // the last dispatch, and the last word, come after the cut
		late := s.rand.Duration(2*time.Second, 4*time.Second)
		s.fault(sim.Fault{At: 9 * time.Second, For: cut - 9*time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(s.gates), Peers: names(managers), Value: late.Milliseconds()})
	}
	s.fault(sim.Fault{At: cut, For: 80 * time.Second, Kind: sim.FaultPartition, Nodes: lost, Peers: names(s.gates)})
	word := cut + time.Minute // until when the managers act, at the latest
	for _, m := range managers {
		s.fault(sim.Fault{At: word - s.rand.Duration(0, 600*time.Millisecond).Truncate(tick), For: 12 * time.Second, Kind: sim.FaultPause, Nodes: []string{string(m)}})
	}
	s.fault(sim.Fault{At: word + 2*time.Second, For: 8 * time.Second, Kind: sim.FaultPause, Nodes: workers})
}

// buildNamedBeforeTheCrash lets a job's record say DISPATCHING while a manager runs its subjob:
// what managers answer takes so long that the gates are apart when they learn of it.
func buildNamedBeforeTheCrash(s *cluster) {
	t := topology{gates: 3, datacenters: 2, managers: 3, workers: 4, cores: 8, clients: 2}
	apart := 12*time.Second + s.rand.Duration(0, time.Second).Truncate(tick)
	s.standard(t, func(l *load) {
		l.every, l.duration, l.cores, l.until, l.layers = 400*time.Millisecond, 80*time.Second, 1, apart, false
	})
	for _, o := range s.orders {
		o.submit.RunTimeout = 8 * time.Minute
	}
	s.oneDatacenter()
	late := s.rand.Duration(2500*time.Millisecond, 3*time.Second).Truncate(tick)
	s.fault(sim.Fault{At: apart - 4*time.Second, For: 9 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(s.managers), Peers: names(s.gates), Value: late.Milliseconds()})
	crash := apart + late + 1500*time.Millisecond // a heartbeat that lists the subjob was answered with its name
	for i, g := range s.gates {
		s.fault(sim.Fault{At: apart, For: crash - apart, Kind: sim.FaultPartition, Nodes: []string{string(g)}, Peers: names(slices.Delete(slices.Clone(s.gates), i, i+1))})
	}
	s.fault(sim.Fault{At: crash, For: 100 * time.Second, Kind: sim.FaultCrash, Nodes: names(s.choose(s.gates, 1))})
	group := s.choose(s.managers[:t.managers], t.managers)
	s.fault(sim.Fault{At: crash, For: 130 * time.Second, Kind: sim.FaultPartition, Nodes: names(group[:2]), Peers: append(names(s.gates), string(group[2]))})
}

func buildRegionCut(s *cluster) {
	t := topology{gates: 3, datacenters: 3, managers: 3, workers: 2, cores: 4, clients: 2}
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.datacenters = 6*time.Second, 15*time.Second, 1, 2 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	cut := func(d int, at, length time.Duration) {
		s.fault(sim.Fault{At: at.Truncate(tick), For: length.Truncate(tick), Kind: sim.FaultPartition, Nodes: s.ofDatacenter(d), Peers: names(s.gates)})
	}
	for d := range 3 {
		cut(d, 20*time.Second, s.rand.Duration(10*time.Second, 25*time.Second))
	}
	for at, d := 65*time.Second, 0; at+25*time.Second < s.heal; at, d = at+15*time.Second, d+1 {
		cut(d%3, at, s.rand.Duration(6*time.Second, 20*time.Second))
	}
}

func buildDeafDC(s *cluster) {
	t := topology{gates: 3, datacenters: 2, managers: 3, workers: 2, cores: 4, clients: 2}
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.datacenters = 6*time.Second, 8*time.Second, 1, 1 })
	half := (s.heal / 2).Truncate(tick)
	s.fault(sim.Fault{At: 10 * time.Second, For: s.rand.Duration(10*time.Second, 30*time.Second).Truncate(tick), Kind: sim.FaultOneWay, Nodes: s.ofDatacenter(0), Peers: names(s.gates)})
	for at := half; at < s.heal-3*time.Second; at += s.rand.Duration(2*time.Second, 6*time.Second).Truncate(tick) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(200*time.Millisecond, 3*time.Second).Truncate(tick), Kind: sim.FaultLatency, Nodes: s.ofDatacenter(0), Value: 500})
	}
	s.losesNobody(half, s.heal)
}

func buildRollingUpgrade(s *cluster) {
	t := groupTopology()
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 4*time.Second, 6*time.Second, 3 })
	s.complete = true
	var turns []node.ID
	for _, ids := range [][]node.ID{s.workers, s.managers, s.gates} {
		turns = append(turns, s.choose(ids, len(ids))...)
	}
	gap := s.heal / time.Duration(len(turns)+1)
	for i, id := range turns {
		kind := sim.FaultStop
		if s.rand.Chance(1, 3) {
			kind = sim.FaultCrash
		}
		s.fault(sim.Fault{At: (time.Duration(i+1) * gap).Truncate(tick), For: 4 * time.Second, Kind: kind, Nodes: []string{string(id)}})
	}
}
