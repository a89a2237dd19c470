package managers

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func managerWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "manager-dies-mid-dispatch", Virtual: 4 * time.Minute, Build: cluster.On(buildManagerDiesMidDispatch),
			Doc: "Managers are killed at every step of a dispatch: before and after their register, the subjob's file, the cut and the acknowledgement are on disk. Each fence has one execution, and every job completes."},
		{Name: "manager-adopts", Virtual: 4 * time.Minute, Build: cluster.On(buildManagerAdopts),
			Doc: "Each manager in turn is killed while its shards run. Another one takes its subjobs over before the workers stop them: the shards continue in their places, and none runs twice."},
		{Name: "late-dispatch-ack", Virtual: 5 * time.Minute, Build: cluster.On(buildLateDispatchAck),
			Doc: "Managers' messages to gates, and workers' messages to managers, arrive many seconds late. So dispatches are repeated, also to other nodes, before their answers arrive. The register decides which manager has a subjob; its higher attempt wins."},
		{Name: "context-takeover", Virtual: 4 * time.Minute, Build: cluster.On(buildContextTakeover),
			Doc: "Jobs have two layers, and the first gives the second a value. Workers die in the second layer, and managers between the layers. A successor knows of the first layer what a majority knows. The second never begins before it, never twice under one fence, and each attempt gets the same value."},
		{Name: "stale-timeout", Virtual: 5 * time.Minute, Build: cluster.On(buildStaleTimeout),
			Doc: "Jobs reach their run timeout while their manager is paused, and another has taken over. When the old manager wakes up, its report is rejected for its fence. Every job ends once."},
		{Name: "transfer-before-dispatch", Virtual: 4 * time.Minute, Build: cluster.On(buildTransferBeforeDispatch),
			Doc: "Managers and gates hand over what they own while orders about it travel on slow links, so that news of the new leader overtakes them. The manager that owns the subjob obeys them once, and nothing of them remains."},
		{Name: "cancel-leaderless", Virtual: 5 * time.Minute, Build: cluster.On(buildCancelLeaderless),
			Doc: "Every job is cancelled, and its manager, then the next one, then its gate are killed meanwhile. The owner of the job finishes the cancellation; unreachable workers stop by themselves."},
		{Name: "silent-dc", Virtual: 6 * time.Minute, Build: cluster.On(buildSilentDC),
			Doc: "Jobs run in three datacenters each, and one of these never reports again: its managers hear the gates but not conversely, or are cut off. Jobs end at the bound of that datacenter, never COMPLETED without it."},
		{Name: "datacenter-cut-off", Virtual: 8 * time.Minute, Build: cluster.On(buildDatacenterCutOff),
			Doc: "Datacenters are cut off from all gates for longer than their lease, in the middle of jobs that name none. Each stops by its own clock before the gates restart its jobs elsewhere, at layer 0 and under another fence. Nothing of a job runs in two datacenters."},
		{Name: "cut-at-the-guard", Virtual: 5 * time.Minute, Build: cluster.On(buildCutAtTheGuard),
			Doc: "Two of three datacenters are cut off from the gates, with clocks as slow as allowed and gates' clocks as fast. When their time is almost over their managers pause, so that none can cancel what it has just renewed, and then the workers: their executors end as late as allowed. Only then does the third datacenter begin their jobs. The gates' last messages before the cut arrive seconds late in half of the runs."},
		{Name: "named-before-the-crash", Virtual: 6 * time.Minute, Build: cluster.On(buildNamedBeforeTheCrash),
			Doc: "Gates name subjobs to their managers while no majority of the gates can record that managers accepted them, and one gate crashes. Two managers of a datacenter are then cut off from the gates and from the third one. The gate that takes a job over knows only that its subjob was dispatched, and the third manager rejects the subjob. The gate counts the subjob as in use for a guard, and begins the job in the other datacenter only then: nothing of a job runs in two datacenters."},
		{Name: "regions-cut", Virtual: 5 * time.Minute, Build: cluster.On(buildRegionCut),
			Doc: "Three datacenters are cut off from the gates at once, then one by one, each for less than its lease. Their shards continue: no gate gives a subjob to another datacenter, and every job completes."},
		{Name: "deaf-dc", Virtual: 5 * time.Minute, Build: cluster.On(buildDeafDC),
			Doc: "First a datacenter's answers are lost while it hears everything; then its links are 500 ms slow again and again. A request without an answer counts as lost; slowness alone loses no node."},
		{Name: "rolling-upgrade", Virtual: 5 * time.Minute, Build: cluster.On(buildRollingUpgrade),
			Doc: "Every node restarts once while jobs run, one at a time, some after a kill. No job is lost, and all complete. (Nodes of two versions play in mixed-upgrade.)"},
		{Name: "forgotten-elsewhere", Virtual: 5 * time.Minute, Build: cluster.On(buildForgottenElsewhere),
			Doc: "A manager's disk is full while jobs begin and end, so that it knows less of them than the others. They have forgotten the jobs when it restarts. Ended jobs stay ended: no manager adopts one, and nothing of it runs again."},
		{Name: "woken-for-a-moment", Virtual: 5 * time.Minute, Build: cluster.On(buildWokenForAMoment),
			Doc: "A manager's host is suspended while jobs end and the others forget them. It wakes for a millisecond or two, adopts what seems to have no owner, and is suspended again before it can give that back. What it leaves behind holds nothing, and the manager that finds that finishes it: no register changes owners again and again."},
	}
}

func buildForgottenElsewhere(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Retention = cluster.ShortMemory
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 3*time.Second, 7*time.Second, 3 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Slots(70*time.Second, func(i int, at time.Duration) {
		whom := stage.Names(s.Choose(s.Managers, 1))
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(8*time.Second, 15*time.Second).Truncate(stage.Tick), Kind: sim.FaultDiskFull, Nodes: whom})
		s.Fault(sim.Fault{At: at + 2*cluster.ShortMemory + s.Rand.Duration(5*time.Second, 15*time.Second).Truncate(stage.Tick), For: stage.Tick, Kind: sim.FaultStop, Nodes: whom})
	})
}

func buildWokenForAMoment(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Retention = cluster.ShortMemory
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 3*time.Second, 7*time.Second, 3 })
	s.Complete = true
	s.Slots(2*cluster.ShortMemory+10*time.Second, func(i int, at time.Duration) {
		whom := stage.Names(s.Choose(s.Managers, 1))
		asleep := cluster.ShortMemory + s.Rand.Duration(8*time.Second, 16*time.Second).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: at, For: asleep, Kind: sim.FaultSuspend, Nodes: whom})
		awake := s.Rand.Duration(200*time.Microsecond, 2*time.Millisecond)
		s.Fault(sim.Fault{At: at + asleep + awake, For: 5 * time.Second, Kind: sim.FaultSuspend, Nodes: whom})
	})
}

func buildManagerDiesMidDispatch(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 2*time.Second, 3*time.Second, 4 })
	s.Complete = true
	aims := []string{"stored:lease/", "storing:lease/", "stored:file/", "storing:file/", "timer:5.*", stage.TimerAim(node.PartLease, node.LeaseFlush)}
	s.Slots(7*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 5*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash,
			Nodes: stage.Names(s.Choose(s.Managers, 1)), Aim: aims[s.Rand.Int(len(aims))]})
	})
}

func buildManagerAdopts(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 12*time.Second, 3 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(6*time.Second, 12*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Managers, 1))})
	})
}

func buildLateDispatchAck(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 6*time.Second, 3 })
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		from, to := s.Managers, s.Gates
		late := s.Rand.Duration(2*time.Second, 14*time.Second)
		if i%2 == 1 {
			from, to, late = s.Workers, s.Managers, s.Rand.Duration(time.Second, 6*time.Second)
		}
		s.Fault(sim.Fault{At: at, For: 12 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(from), Peers: stage.Names(to), Value: late.Milliseconds()})
	})
	s.Often(s.Managers, 25*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildContextTakeover(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 6*time.Second, 4*time.Second, 3 })
	for n, o := range s.Orders { // every job has two layers, not every third
		if len(o.Plan.Workflows) == 1 {
			l := cluster.Load{Vus: 64, Cores: 2, Duration: time.Duration(1+n%4) * time.Second}
			o.Plan.Workflows = append(o.Plan.Workflows, cluster.WorkflowPlan("second", l, []uint32{0}))
			o.Submit.Plan = *o.Plan
		}
	}
	s.Context()
	s.Often(s.Workers, 15*time.Second, sim.FaultCrash, 4*time.Second, 0)
	aims := []string{"stored:lease/", "storing:lease/", ""}
	s.Slots(8*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 7*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash,
			Nodes: stage.Names(s.Choose(s.Managers, 1)), Aim: aims[s.Rand.Int(len(aims))]})
	})
}

func buildStaleTimeout(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 6*time.Second, 8*time.Second, 3 })
	for _, o := range s.Orders {
		o.Submit.RunTimeout = s.Rand.Duration(6*time.Second, 11*time.Second).Round(stage.Tick)
	}
	s.Often(s.Managers, 6*time.Second, sim.FaultPause, s.Rand.Duration(2500*time.Millisecond, 9*time.Second).Truncate(stage.Tick), 0)
}

func buildTransferBeforeDispatch(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 2*time.Second, 4*time.Second, 2 })
	s.Complete = true
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(s.Gates), Peers: stage.Names(s.Managers), Value: 400})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Workers[:2]), Value: 300})
	s.Slots(8*time.Second, func(i int, at time.Duration) {
		ids := s.Managers
		if i%3 == 2 {
			ids = s.Gates
		}
		s.Fault(sim.Fault{At: at, For: 6 * time.Second, Kind: sim.FaultStop, Nodes: stage.Names(s.Choose(ids, 1))})
	})
}

func buildCancelLeaderless(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Cancels = 4*time.Second, 12*time.Second, 3, stage.Million
	})
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		dead := s.Choose(s.Managers, 2)
		for k, id := range dead {
			f := sim.Fault{At: at + time.Duration(k)*s.Rand.Duration(0, 4*time.Second).Truncate(stage.Tick), For: s.Rand.Duration(3*time.Second, 8*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: []string{string(id)}}
			s.Fault(f)
		}
		s.Fault(sim.Fault{At: at + 2*time.Second, For: 5 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(s.Choose(s.Workers, 1))})
		if i%2 == 1 {
			s.Fault(sim.Fault{At: at + 5*time.Second, For: 6 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1))})
		}
	})
}

func buildSilentDC(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 3, Managers: 3, Workers: 2, Cores: 4, Clients: 2}
	s.Standard(t, func(l *cluster.Load) {
		l.Datacenters, l.Every, l.Duration, l.Cores = 3, 8*time.Second, 8*time.Second, 3
	})
	for _, o := range s.Orders {
		o.Submit.RunTimeout = 40 * time.Second
	}
	f := sim.Fault{At: (s.Heal / 4).Truncate(stage.Tick), For: s.Heal / 2, Kind: sim.FaultPartition, Nodes: s.OfDatacenter(s.Rand.Int(3)), Peers: stage.Names(s.Gates)}
	if s.Rand.Chance(1, 2) {
		f.Kind = sim.FaultOneWay
	}
	s.Fault(f)
}

func buildDatacenterCutOff(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 3, Managers: 3, Workers: 2, Cores: 4, Clients: 2}
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Until, l.Layers = 5*time.Second, 100*time.Second, 1, 80*time.Second, false
	})
	for _, o := range s.Orders {
		o.Submit.RunTimeout = 8 * time.Minute
	}
	s.Complete = true
	s.OneDatacenter()
	if s.Rand.Chance(1, 2) { // a manager that takes over observes the rest of the subjob's lease
		s.Often(s.Managers, 20*time.Second, sim.FaultCrash, 4*time.Second, 0)
	}
	cut := s.Rand.Int(t.Datacenters)
	for i, at := range []time.Duration{35 * time.Second, 150 * time.Second} { // the third one is always up
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(70*time.Second, 90*time.Second).Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: s.OfDatacenter((cut + i) % t.Datacenters), Peers: stage.Names(s.Gates)})
	}
}

// buildCutAtTheGuard leaves no slack in a gate's guard. Each node of the two datacenters that
// are cut off runs as long as it may, on the slowest clock. The third datacenter has cores for
// their jobs at once.
func buildCutAtTheGuard(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 3, Managers: 3, Workers: 12, Cores: 1, Clients: 1}
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Until, l.Layers = 5*time.Second, 100*time.Second, 3, 32*time.Second, false
	})
	for _, o := range s.Orders {
		o.Submit.RunTimeout = 5 * time.Minute
	}
	s.Complete = true
	s.OneDatacenter()
	lost := append(s.OfDatacenter(0), s.OfDatacenter(1)...)
	managers, workers := s.Managers[:2*t.Managers], stage.Names(s.Workers[:2*t.Workers])
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: stage.Names(s.Gates), Value: sim.DriftBound})
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: lost, Value: -sim.DriftBound})
	cut := 27*time.Second + s.Rand.Duration(300*time.Millisecond, 1300*time.Millisecond).Truncate(stage.Tick) // right after the submission of a job
	if s.Rand.Chance(1, 2) {                                                                                  // the last dispatch, and the last answer, arrive after the cut
		late := s.Rand.Duration(2*time.Second, 4*time.Second)
		s.Fault(sim.Fault{At: 9 * time.Second, For: cut - 9*time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(s.Gates), Peers: stage.Names(managers), Value: late.Milliseconds()})
	}
	s.Fault(sim.Fault{At: cut, For: 80 * time.Second, Kind: sim.FaultPartition, Nodes: lost, Peers: stage.Names(s.Gates)})
	word := cut + time.Minute // until when the managers act, at the latest
	for _, m := range managers {
		s.Fault(sim.Fault{At: word - s.Rand.Duration(0, 600*time.Millisecond).Truncate(stage.Tick), For: 12 * time.Second, Kind: sim.FaultPause, Nodes: []string{string(m)}})
	}
	s.Fault(sim.Fault{At: word + 2*time.Second, For: 8 * time.Second, Kind: sim.FaultPause, Nodes: workers})
}

// buildNamedBeforeTheCrash keeps DISPATCHING in a job's record while a manager runs its subjob:
// the managers' answers take so long that the gates are separated when they arrive.
func buildNamedBeforeTheCrash(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 2, Managers: 3, Workers: 4, Cores: 8, Clients: 2}
	apart := 12*time.Second + s.Rand.Duration(0, time.Second).Truncate(stage.Tick)
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Until, l.Layers = 400*time.Millisecond, 80*time.Second, 1, apart, false
	})
	for _, o := range s.Orders {
		o.Submit.RunTimeout = 8 * time.Minute
	}
	s.OneDatacenter()
	late := s.Rand.Duration(2500*time.Millisecond, 3*time.Second).Truncate(stage.Tick)
	s.Fault(sim.Fault{At: apart - 4*time.Second, For: 9 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Gates), Value: late.Milliseconds()})
	crash := apart + late + 1500*time.Millisecond // a gate has named the subjob in its answer to a heartbeat that lists it
	for i, g := range s.Gates {
		s.Fault(sim.Fault{At: apart, For: crash - apart, Kind: sim.FaultPartition, Nodes: []string{string(g)}, Peers: stage.Names(slices.Delete(slices.Clone(s.Gates), i, i+1))})
	}
	s.Fault(sim.Fault{At: crash, For: 100 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	group := s.Choose(s.Managers[:t.Managers], t.Managers)
	s.Fault(sim.Fault{At: crash, For: 130 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(group[:2]), Peers: append(stage.Names(s.Gates), string(group[2]))})
}

func buildRegionCut(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 3, Managers: 3, Workers: 2, Cores: 4, Clients: 2}
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Datacenters = 6*time.Second, 15*time.Second, 1, 2
	})
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	cut := func(d int, at, length time.Duration) {
		s.Fault(sim.Fault{At: at.Truncate(stage.Tick), For: length.Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: s.OfDatacenter(d), Peers: stage.Names(s.Gates)})
	}
	for d := range 3 {
		cut(d, 20*time.Second, s.Rand.Duration(10*time.Second, 25*time.Second))
	}
	for at, d := 65*time.Second, 0; at+25*time.Second < s.Heal; at, d = at+15*time.Second, d+1 {
		cut(d%3, at, s.Rand.Duration(6*time.Second, 20*time.Second))
	}
}

func buildDeafDC(s *cluster.Cluster) {
	t := cluster.Topology{Gates: 3, Datacenters: 2, Managers: 3, Workers: 2, Cores: 4, Clients: 2}
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Datacenters = 6*time.Second, 8*time.Second, 1, 1
	})
	half := (s.Heal / 2).Truncate(stage.Tick)
	s.Fault(sim.Fault{At: 10 * time.Second, For: s.Rand.Duration(10*time.Second, 30*time.Second).Truncate(stage.Tick), Kind: sim.FaultOneWay, Nodes: s.OfDatacenter(0), Peers: stage.Names(s.Gates)})
	for at := half; at < s.Heal-3*time.Second; at += s.Rand.Duration(2*time.Second, 6*time.Second).Truncate(stage.Tick) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(200*time.Millisecond, 3*time.Second).Truncate(stage.Tick), Kind: sim.FaultLatency, Nodes: s.OfDatacenter(0), Value: 500})
	}
	s.LosesNoPeer(half, s.Heal)
}

func buildRollingUpgrade(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 6*time.Second, 3 })
	s.Complete = true
	var turns []node.ID
	for _, ids := range [][]node.ID{s.Workers, s.Managers, s.Gates} {
		turns = append(turns, s.Choose(ids, len(ids))...)
	}
	gap := s.Heal / time.Duration(len(turns)+1)
	for i, id := range turns {
		kind := sim.FaultStop
		if s.Rand.Chance(1, 3) {
			kind = sim.FaultCrash
		}
		s.Fault(sim.Fault{At: (time.Duration(i+1) * gap).Truncate(stage.Tick), For: 4 * time.Second, Kind: kind, Nodes: []string{string(id)}})
	}
}
