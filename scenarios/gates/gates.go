package gates

import (
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Worlds returns the worlds of gates.
func Worlds() []stage.Scenario {
	return slices.Concat(loadWorlds(), gateWorlds(), clientWorlds(), edgeWorlds(), fileWorlds(), recoverWorlds(), operatedWorlds(), queuedWorlds(), listedWorlds(), workflowEndWorlds(), chosenWorlds(), letterWorlds(), overloadWorlds(), bestEffortWorlds(), alertWorlds(), strainedWorlds(), alertLoadWorlds(), memberWorlds())
}

func gateWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "lone-gate", Virtual: 5 * time.Minute, Build: cluster.On(buildLoneGate),
			Doc: "One gate of three, or two of five, cannot reach the others, though clients and managers reach them all. The minority acquires, renews and reports nothing, and its holder stops by its own clock. The others take its jobs over."},
		{Name: "shrinking-gates", Virtual: 5 * time.Minute, Build: cluster.On(buildShrinkingGates),
			Doc: "Gates die one by one until few are left, or an even set splits in halves. A majority counts the configured set, not the living gates. A minority grants and renews nothing, and jobs continue when enough gates have returned."},
		{Name: "gate-dies", Virtual: 5 * time.Minute, Build: cluster.On(buildGateDies),
			Doc: "Each gate in turn is killed in the middle of its jobs and stays away for two leases. Another gate owns each of its jobs soon after the lease has run out; nothing runs again, and each client has one result."},
		{Name: "counted-subjobs", Virtual: 4 * time.Minute, Build: cluster.On(buildCountedSubjobs),
			Doc: "Jobs run in two datacenters, one of which starts slowly, and gates are killed again and again between the results of the two. What a gate has counted and acknowledged counts at the gate that takes the job over, once."},
		{Name: "gate-drains", Virtual: 5 * time.Minute, Build: cluster.On(buildGateDrains),
			Doc: "Each gate in turn is asked to stop while it owns jobs. It stops acting for them and hands them over: another gate owns each within three seconds, and nothing runs again."},
		{Name: "late-accept", Virtual: 6 * time.Minute, Build: cluster.On(buildLateAccept),
			Doc: "Gates and managers die while their messages arrive one to three leases late, some of them twice. A register rejects an accept, a renewal or a release under an old token because of that token, not by luck."},
		{Name: "paused-owner", Virtual: 6 * time.Minute, Build: cluster.On(buildPausedOwner),
			Doc: "Gates and managers pause for longer than their leases, in the middle of a write or at the end of a window, and wake up in the belief that they are owners. An owner that wakes up does nothing with what others own by then."},
		{Name: "torn-promise", Virtual: 5 * time.Minute, Build: cluster.On(buildTornPromise),
			Doc: "Gates and managers lose power while they write a promise, an accept or a file. Either they never answered, or the write is there afterwards."},
		{Name: "lost-disk", Virtual: 6 * time.Minute, Build: cluster.On(buildLostDisk),
			Doc: "Gates and managers return without their disks, one of a group at a time. Such a member answers nothing until that is provably safe. The others have what was acknowledged, and every job completes."},
		{Name: "lost-disks-in-turn", Virtual: 9 * time.Minute, Build: cluster.On(buildLostDisksInTurn),
			Doc: "Every gate and every manager loses its disk at least once while the same jobs run, one of a group at a time. A returning member fetches the files that its registers name. So each program and each counted result outlives all its original disks, and every job ends."},
	}
}

// grantsNothing judges that some gates neither acquire, renew nor report a job, from shortly
// after a cut until its end.
func grantsNothing(s *cluster.Cluster, ids []node.ID, from, to time.Duration) {
	const onTheirWay = time.Second
	among := map[node.ID]bool{}
	for _, id := range ids {
		among[id] = true
	}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if !among[r.Node] || r.At < from+onTheirWay || r.At >= to {
			return
		}
		what := ""
		switch e := r.Event.(type) {
		case event.LeaseGranted:
			what = "was granted job " + e.Job.String()
		case event.LeaseExtended:
			what = "renewed its lease of job " + e.Job.String()
		case event.JobChanged:
			what = "told that job " + e.Job.String() + " is " + e.To.String()
		default:
			return
		}
		s.Checker.Violate("P", r, "%s %s without a majority, which was gone since %v", r.Node, what, from)
	})
}

func buildLoneGate(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	minority := 1
	if s.Rand.Chance(1, 2) {
		t.Gates, minority = 5, 2
	}
	s.Standard(t, func(l *cluster.Load) { l.Duration, l.Cores = 12*time.Second, 2 })
	s.Served = true
	s.Complete = true
	s.Slots(75*time.Second, func(i int, at time.Duration) {
		lone := s.Choose(s.Gates, minority)
		length := s.Rand.Duration(35*time.Second, 60*time.Second).Truncate(stage.Tick)
		for _, id := range lone { // each alone: two together are no majority either, but may agree
			s.Fault(sim.Fault{At: at, For: length, Kind: sim.FaultPartition, Nodes: []string{string(id)}, Peers: stage.Names(stage.Without(s.Gates, id))})
		}
		grantsNothing(s, lone, at, at+length)
	})
}

func buildShrinkingGates(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Gates = 3 + s.Rand.Int(3)
	s.Standard(t, nil)
	if t.Gates%2 == 0 && s.Rand.Chance(1, 2) {
		half := s.Choose(s.Gates, t.Gates/2)
		at := s.Heal / 3
		s.Fault(sim.Fault{At: at, For: s.Heal - at, Kind: sim.FaultPartition, Nodes: stage.Names(half), Peers: stage.Names(stage.Without(s.Gates, half...))})
		grantsNothing(s, s.Gates, at, s.Heal)
		return
	}
	gone := s.Choose(s.Gates, t.Gates-1)
	enough := t.Gates/2 + 1
	for i, id := range gone {
		at := (s.Heal * time.Duration(i+1) / time.Duration(len(gone)+2)).Truncate(stage.Tick)
		s.Fault(sim.Fault{At: at, For: s.Heal - at, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
		if t.Gates-1-i == enough-1 {
			grantsNothing(s, s.Gates, at, s.Heal)
		}
	}
}

func buildGateDies(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 6*time.Second, 15*time.Second, 3 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true, HeldWithin: 40 * time.Second})
	s.Slots(65*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 60 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.Gates[i%len(s.Gates)])}})
	})
}

func buildGateDrains(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 6*time.Second, 15*time.Second, 3 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	s.Slots(20*time.Second, func(i int, at time.Duration) {
		id := s.Gates[i%len(s.Gates)]
		s.Fault(sim.Fault{At: at, For: 10 * time.Second, Kind: sim.FaultStop, Nodes: []string{string(id)}})
		ownedBy(s, id, at, at+5*time.Second)
	})
}

// ownedBy judges that another gate owns each job of a gate that was asked to stop, unless the
// job has ended by then.
func ownedBy(s *cluster.Cluster, id node.ID, from, by time.Duration) {
	owned := map[message.JobID]bool{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.LeaseGranted:
			if e.Group == checker.GroupGates && r.At < by {
				owned[e.Job] = r.Node == id && r.At < from
			}
		case event.JobChanged:
			if e.To.Terminal() {
				delete(owned, e.Job)
			}
		}
	})
	s.World.At(by, func() {
		for _, o := range s.Orders {
			if o.Acked && owned[o.Job] && s.Options.Faults == nil {
				s.Checker.Violate("P", s.Record(id), "%s was asked to stop at %v, and no other gate owned job %v at %v", id, from, o.Job, by)
			}
		}
	})
}

func buildLateAccept(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	s.Standard(t, func(l *cluster.Load) { l.Duration, l.Every = 10*time.Second, 6*time.Second })
	for _, ids := range [][]node.ID{s.Gates, s.Managers} {
		hold := 30 * time.Second
		if ids[0] == s.Managers[0] {
			hold = 2 * time.Second
		}
		s.Fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultLate, Nodes: stage.Names(ids), Peers: stage.Names(ids), Value: 150_000, Hold: hold})
	}
	s.Often(s.Managers, 12*time.Second, sim.FaultCrash, 5*time.Second, 0)
	s.Slots(50*time.Second, func(i int, at time.Duration) {
		kind := sim.FaultCrash
		if s.Rand.Chance(1, 2) {
			kind = sim.FaultStop
		}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 40*time.Second).Truncate(stage.Tick), Kind: kind, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
}

func buildPausedOwner(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Duration, l.Every = 12*time.Second, 5*time.Second })
	aims := []string{"", "stored:lease/", "storing:lease/", stage.TimerAim(node.PartLease, node.LeaseRenew) + "-1ms", stage.TimerAim(node.PartLease, node.LeaseRenew), stage.TimerAim(node.PartLease, node.LeaseExpire)}
	s.Slots(45*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(30*time.Second, 42*time.Second).Truncate(stage.Tick), Kind: sim.FaultPause,
			Nodes: stage.Names(s.Choose(s.Gates, 1)), Aim: aims[s.Rand.Int(len(aims))]})
	})
	s.Slots(9*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 8*time.Second).Truncate(stage.Tick), Kind: sim.FaultPause,
			Nodes: stage.Names(s.Choose(s.Managers, 1)), Aim: aims[s.Rand.Int(len(aims))]})
	})
}

func buildTornPromise(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Duration, l.Every = 6*time.Second, 3*time.Second })
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskTorn})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: 20})
	aims := []string{"stored:lease/", "storing:lease/", "stored:file/", "storing:file/"}
	s.Slots(6*time.Second, func(i int, at time.Duration) {
		ids := s.Gates
		if i%2 == 1 {
			ids = s.Managers
		}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(500*time.Millisecond, 5*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash,
			Nodes: stage.Names(s.Choose(ids, 1)), Aim: aims[s.Rand.Int(len(aims))]})
	})
}

func buildLostDisk(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Duration, l.Every, l.Cores = 10*time.Second, 5*time.Second, 3 })
	s.Complete = true
	// A member without its disk waits for two leases before it answers.
	s.Slots(80*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 8*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1)), Value: 1})
	})
	s.Slots(25*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 6*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Managers, 1)), Value: 1})
	})
}

func buildLostDisksInTurn(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Duration, l.Every, l.Until, l.Cores, l.Layers = 90*time.Second, 20*time.Second, 150*time.Second, 1, true
	})
	s.Witness = append(s.Witness, func(r checker.Record) {
		const lost = "one disk at a time was lost, and a file with them"
		switch e := r.Event.(type) {
		case event.StoreFailed:
			if strings.Contains(e.Err, archive.ErrMissing.Error()) {
				s.Checker.Violate("T4", r, "%s: %s: %s", lost, e.What, e.Err)
			}
		case event.Reached:
			if e.What == "ledger/file-asked-again" || e.What == "gate/given-up" {
				s.Checker.Violate("T4", r, "%s: %s", lost, e.What)
			}
		}
	})
	lose := func(ids []node.ID, gap time.Duration) {
		first := s.Rand.Int(len(ids))
		s.Slots(gap, func(i int, at time.Duration) {
			down := s.Rand.Duration(2*time.Second, 8*time.Second).Truncate(stage.Tick)
			s.Fault(sim.Fault{At: at, For: down, Kind: sim.FaultCrash, Nodes: stage.Names(ids[(first+i)%len(ids):][:1]), Value: 1})
		})
	}
	lose(s.Gates, 80*time.Second)
	lose(s.Managers, 25*time.Second)
}

func buildCountedSubjobs(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Datacenters, t.Workers = 2, 3
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Datacenters = 2*time.Second, 2*time.Second, 2, 2
	})
	s.Complete = true
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultExecSlow, Nodes: stage.Names(s.Workers[t.Workers:]), Value: 50})
	aims := []string{"stored:lease/", "storing:lease/", "stored:file/", "storing:file/", "", ""}
	s.Slots(6*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 3*time.Second).Truncate(stage.Tick), Kind: sim.FaultCrash,
			Nodes: stage.Names(s.Choose(s.Gates, 1)), Aim: aims[s.Rand.Int(len(aims))]})
	})
}
