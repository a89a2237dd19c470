package scenarios

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// worlds are those that speak of the roles: what the registers, the membership and
// the fences are for.
func worlds() []Scenario {
	var all []Scenario
	for _, some := range [][]Scenario{gateWorlds(), managerWorlds(), workerWorlds(), clientWorlds(), edgeWorlds(), majorityWorlds()} {
		all = append(all, some...)
	}
	return all
}

func gateWorlds() []Scenario {
	return []Scenario{
		{Name: "lone-gate", Virtual: 5 * time.Minute, build: onCluster(buildLoneGate),
			Doc: "One gate of three, or two of five, cannot reach the others, though clients and managers reach them all. The minority acquires, renews and tells nothing, and its holder stops by its own clock; the others take its jobs over."},
		{Name: "shrinking-gates", Virtual: 5 * time.Minute, build: onCluster(buildShrinkingGates),
			Doc: "Gates die one by one until few are left, or an even set splits in halves. A majority is one of the configured set, never of the living: who is left grants and renews nothing, and jobs go on when enough are back."},
		{Name: "gate-dies", Virtual: 5 * time.Minute, build: onCluster(buildGateDies),
			Doc: "Each gate in turn is killed in the middle of its jobs and stays away for two leases. Another gate owns each of its jobs soon after the lease has run out; nothing runs again, and each client has one result."},
		{Name: "counted-subjobs", Virtual: 4 * time.Minute, build: onCluster(buildCountedSubjobs),
			Doc: "Jobs run in two datacenters, one of which starts slowly, and gates are killed again and again between the results of the two. What a gate has counted and acknowledged counts at whoever takes the job over, once."},
		{Name: "gate-drains", Virtual: 5 * time.Minute, build: onCluster(buildGateDrains),
			Doc: "Each gate in turn is asked to stop while it owns jobs. It stops acting for them and hands them over: another gate owns each within three seconds, and nothing runs again."},
		{Name: "late-accept", Virtual: 6 * time.Minute, build: onCluster(buildLateAccept),
			Doc: "Gates and managers are lost while what they sent each other comes one to three leases late, some of it twice. An accept, a renewal or a release under an old token is refused by its token, not by luck."},
		{Name: "paused-owner", Virtual: 6 * time.Minute, build: onCluster(buildPausedOwner),
			Doc: "Gates and managers are stopped for longer than their leases, aimed at the middle of a write or at the end of a window, and wake up in belief. Whoever wakes up acts for nothing that others own by now."},
		{Name: "torn-promise", Virtual: 5 * time.Minute, build: onCluster(buildTornPromise),
			Doc: "The power of gates and managers is lost while a promise, an accept or a file is being written. Either it was never answered, or it is there afterwards."},
		{Name: "lost-disk", Virtual: 6 * time.Minute, build: onCluster(buildLostDisk),
			Doc: "Gates and managers return without their disks, one of a group at a time. Such a one answers nothing until that is provably safe; what was acknowledged is on the others, and every job completes."},
		{Name: "lost-disks-in-turn", Virtual: 9 * time.Minute, build: onCluster(buildLostDisksInTurn),
			Doc: "Every gate and every manager loses its disk once or more while the same jobs run, one of a group at a time. A member that returns fetches the files that its registers name, so that each program and each counted result outlives all the disks that it was kept on, and every job ends."},
	}
}

// grantsNothing judges that some gates neither acquire nor renew, nor tell anything
// of a job, from shortly after a cut until its end.
func (s *cluster) grantsNothing(ids []node.ID, from, to time.Duration) {
	const onTheirWay = time.Second
	among := map[node.ID]bool{}
	for _, id := range ids {
		among[id] = true
	}
	s.witness = append(s.witness, func(r checker.Record) {
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
		s.checker.Violate("P", r, "%s %s without a majority, which was gone since %v", r.Node, what, from)
	})
}

func buildLoneGate(s *cluster) {
	t := groupTopology()
	minority := 1
	if s.rand.Chance(1, 2) {
		t.gates, minority = 5, 2
	}
	s.standard(t, func(l *load) { l.duration, l.cores = 12*time.Second, 2 })
	s.served = true
	s.complete = true
	s.slots(75*time.Second, func(i int, at time.Duration) {
		lone := s.choose(s.gates, minority)
		length := s.rand.Duration(35*time.Second, 60*time.Second).Truncate(tick)
		for _, id := range lone { // each alone: two together are no majority either, but may agree
			s.fault(sim.Fault{At: at, For: length, Kind: sim.FaultPartition, Nodes: []string{string(id)}, Peers: names(without(s.gates, id))})
		}
		s.grantsNothing(lone, at, at+length)
	})
}

func buildShrinkingGates(s *cluster) {
	t := groupTopology()
	t.gates = 3 + s.rand.Int(3)
	s.standard(t, nil)
	if t.gates%2 == 0 && s.rand.Chance(1, 2) {
		half := s.choose(s.gates, t.gates/2)
		at := s.heal / 3
		s.fault(sim.Fault{At: at, For: s.heal - at, Kind: sim.FaultPartition, Nodes: names(half), Peers: names(without(s.gates, half...))})
		s.grantsNothing(s.gates, at, s.heal)
		return
	}
	gone := s.choose(s.gates, t.gates-1)
	enough := t.gates/2 + 1
	for i, id := range gone {
		at := (s.heal * time.Duration(i+1) / time.Duration(len(gone)+2)).Truncate(tick)
		s.fault(sim.Fault{At: at, For: s.heal - at, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
		if t.gates-1-i == enough-1 {
			s.grantsNothing(s.gates, at, s.heal)
		}
	}
}

func buildGateDies(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 6*time.Second, 15*time.Second, 3 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true, HeldWithin: 40 * time.Second})
	s.slots(65*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: 60 * time.Second, Kind: sim.FaultCrash, Nodes: []string{string(s.gates[i%len(s.gates)])}})
	})
}

func buildGateDrains(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 6*time.Second, 15*time.Second, 3 })
	s.complete = true
	s.checker.Promise(checker.Promises{Once: true})
	s.slots(20*time.Second, func(i int, at time.Duration) {
		id := s.gates[i%len(s.gates)]
		s.fault(sim.Fault{At: at, For: 10 * time.Second, Kind: sim.FaultStop, Nodes: []string{string(id)}})
		s.ownedBy(id, at, at+5*time.Second)
	})
}

// ownedBy judges that another gate owns each job that one owned when it was asked to
// stop, unless it has ended by then.
func (s *cluster) ownedBy(id node.ID, from, by time.Duration) {
	owned := map[message.JobID]bool{}
	s.witness = append(s.witness, func(r checker.Record) {
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
	s.world.At(by, func() {
		for _, o := range s.orders {
			if o.acked && owned[o.job] && s.options.Faults == nil {
				s.checker.Violate("P", s.record(id), "%s was asked to stop at %v, and nobody else owned job %v at %v", id, from, o.job, by)
			}
		}
	})
}

func buildLateAccept(s *cluster) {
	t := groupTopology()
	s.standard(t, func(l *load) { l.duration, l.every = 10*time.Second, 6*time.Second })
	for _, ids := range [][]node.ID{s.gates, s.managers} {
		hold := 30 * time.Second
		if ids[0] == s.managers[0] {
			hold = 2 * time.Second
		}
		s.fault(sim.Fault{At: 5 * time.Second, Kind: sim.FaultLate, Nodes: names(ids), Peers: names(ids), Value: 150_000, Hold: hold})
	}
	s.often(s.managers, 12*time.Second, sim.FaultCrash, 5*time.Second, 0)
	s.slots(50*time.Second, func(i int, at time.Duration) {
		kind := sim.FaultCrash
		if s.rand.Chance(1, 2) {
			kind = sim.FaultStop
		}
		s.fault(sim.Fault{At: at, For: s.rand.Duration(2*time.Second, 40*time.Second).Truncate(tick), Kind: kind, Nodes: names(s.choose(s.gates, 1))})
	})
}

func buildPausedOwner(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.duration, l.every = 12*time.Second, 5*time.Second })
	aims := []string{"", "stored:lease/", "storing:lease/", timerAim(node.PartLease, node.LeaseRenew) + "-1ms", timerAim(node.PartLease, node.LeaseRenew), timerAim(node.PartLease, node.LeaseExpire)}
	s.slots(45*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(30*time.Second, 42*time.Second).Truncate(tick), Kind: sim.FaultPause,
			Nodes: names(s.choose(s.gates, 1)), Aim: aims[s.rand.Int(len(aims))]})
	})
	s.slots(9*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(2*time.Second, 8*time.Second).Truncate(tick), Kind: sim.FaultPause,
			Nodes: names(s.choose(s.managers, 1)), Aim: aims[s.rand.Int(len(aims))]})
	})
}

func buildTornPromise(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.duration, l.every = 6*time.Second, 3*time.Second })
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskTorn})
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Value: 20})
	aims := []string{"stored:lease/", "storing:lease/", "stored:file/", "storing:file/"}
	s.slots(6*time.Second, func(i int, at time.Duration) {
		ids := s.gates
		if i%2 == 1 {
			ids = s.managers
		}
		s.fault(sim.Fault{At: at, For: s.rand.Duration(500*time.Millisecond, 5*time.Second).Truncate(tick), Kind: sim.FaultCrash,
			Nodes: names(s.choose(ids, 1)), Aim: aims[s.rand.Int(len(aims))]})
	})
}

func buildLostDisk(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.duration, l.every, l.cores = 10*time.Second, 5*time.Second, 3 })
	s.complete = true
	// A member without its disk waits for two leases before it speaks.
	s.slots(80*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(2*time.Second, 8*time.Second).Truncate(tick), Kind: sim.FaultCrash, Nodes: names(s.choose(s.gates, 1)), Value: 1})
	})
	s.slots(25*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(time.Second, 6*time.Second).Truncate(tick), Kind: sim.FaultCrash, Nodes: names(s.choose(s.managers, 1)), Value: 1})
	})
}

func buildLostDisksInTurn(s *cluster) {
	s.standard(groupTopology(), func(l *load) {
		l.duration, l.every, l.until, l.cores, l.layers = 90*time.Second, 20*time.Second, 150*time.Second, 1, true
	})
	s.witness = append(s.witness, func(r checker.Record) {
		const lost = "one disk at a time was lost, and a file with them"
		switch e := r.Event.(type) {
		case event.StoreFailed:
			if strings.Contains(e.Err, archive.ErrMissing.Error()) {
				s.checker.Violate("T4", r, "%s: %s: %s", lost, e.What, e.Err)
			}
		case event.Reached:
			if e.What == "gate/file-asked-again" || e.What == "gate/given-up" {
				s.checker.Violate("T4", r, "%s: %s", lost, e.What)
			}
		}
	})
	lose := func(ids []node.ID, gap time.Duration) {
		first := s.rand.Int(len(ids))
		s.slots(gap, func(i int, at time.Duration) {
			down := s.rand.Duration(2*time.Second, 8*time.Second).Truncate(tick)
			s.fault(sim.Fault{At: at, For: down, Kind: sim.FaultCrash, Nodes: names(ids[(first+i)%len(ids):][:1]), Value: 1})
		})
	}
	lose(s.gates, 80*time.Second)
	lose(s.managers, 25*time.Second)
}

func buildCountedSubjobs(s *cluster) {
	t := groupTopology()
	t.datacenters, t.workers = 2, 3
	s.standard(t, func(l *load) { l.every, l.duration, l.cores, l.datacenters = 2*time.Second, 2*time.Second, 2, 2 })
	s.complete = true
	s.fault(sim.Fault{At: time.Second, Kind: sim.FaultExecSlow, Nodes: names(s.workers[t.workers:]), Value: 50})
	aims := []string{"stored:lease/", "storing:lease/", "stored:file/", "storing:file/", "", ""}
	s.slots(6*time.Second, func(i int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(time.Second, 3*time.Second).Truncate(tick), Kind: sim.FaultCrash,
			Nodes: names(s.choose(s.gates, 1)), Aim: aims[s.rand.Int(len(aims))]})
	})
}
