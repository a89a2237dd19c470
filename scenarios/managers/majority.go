package managers

import (
	"slices"
	"time"

	"hyperscale/checker"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// majorityWorlds are worlds in which an owner acts between the beginning of a write and its
// majority, if the write ever gets one, and then stops for good. Its successor knows nothing of
// the write.
func majorityWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "record-forgotten", Virtual: 4 * time.Minute, Build: cluster.On(buildRecordForgotten),
			Doc: "The records that managers write reach no other manager for up to two seconds, while everything else does. Then the managers are killed, before their leases have run out. They sent, acknowledged and counted nothing without a majority: the successor does it, and nothing runs twice."},
		{Name: "epoch-forgotten", Virtual: 4 * time.Minute, Build: cluster.On(buildEpochForgotten),
			Doc: "The only gate restarts, again and again, and the only manager is killed whenever it writes the gate's new epoch. Then an old gate repeats the orders given meanwhile. A manager obeys an order once its epoch is on disk, so it never obeys a lower one after that."},
		{Name: "loss-forgotten", Virtual: 4 * time.Minute, Build: cluster.On(buildLossForgotten),
			Doc: "Workers that are cut off have results that no manager knows, and a lone manager is killed while it writes that their shards are lost. Either another worker got a shard, and the first worker's report no longer counts; or that report counts, and no other worker got the shard."},
		{Name: "late-refusal", Virtual: 5 * time.Minute, Build: cluster.On(buildLateRefusal),
			Doc: "Managers reject subjobs because their disks are full, and gates pause between the order and its rejection for longer than their leases. A gate that continues gives the subjob to no other manager: another gate owns its job by then."},
	}
}

// silent is a member of a group whose records reach no other member for a while. A majority
// grants it registers, but none gets its later writes, and it renews nothing.
type silent struct {
	id       node.ID
	from, to time.Duration
}

// silence installs an interceptor for such members.
func silence(s *cluster.Cluster, all []silent) {
	s.World.Engage(func(l sim.Letter) bool {
		now := s.World.Now()
		f, ok := l.Message.(*message.LeaseFrame)
		if !ok || !slices.ContainsFunc(all, func(x silent) bool { return x.id == l.From && x.from <= now && now < x.to }) {
			return false
		}
		rest := *f
		rest.Accepts = slices.DeleteFunc(slices.Clone(f.Accepts), func(a message.LeaseAccept) bool { return a.Seq > 0 })
		if len(rest.Accepts) == len(f.Accepts) {
			return false
		}
		l.Message = &rest
		s.World.Deliver(l, now+200*time.Microsecond)
		return true
	})
}

// buildRecordForgotten runs short jobs of two layers, so that each silence hits some of them in
// every write.
func buildRecordForgotten(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 900*time.Millisecond, 1500*time.Millisecond, 3 })
	s.Complete = true
	s.Checker.Promise(checker.Promises{Once: true})
	var all []silent
	s.Slots(7*time.Second, func(i int, at time.Duration) {
		id := s.Choose(s.Managers, 1)
		end := at + s.Rand.Duration(600*time.Millisecond, 1900*time.Millisecond).Truncate(stage.Tick)
		all = append(all, silent{id[0], at, end})
		s.Fault(sim.Fault{At: end, For: 3 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(id)})
	})
	silence(s, all)
}

// buildEpochForgotten restarts the gate twice, and kills the manager each time when it writes
// the gate's order. Then the gate is away for long, so that only the past sends orders: those
// between the two restarts have fences above what is on disk.
func buildEpochForgotten(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Past = true
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 8*time.Second, 40*time.Second, 1, false
	})
	gate, manager := stage.Names(s.Gates), stage.Names(s.Managers)
	for at := 12 * time.Second; at < s.Heal-30*time.Second; at += 34 * time.Second {
		for _, again := range []time.Duration{at, at + 4*time.Second} {
			s.Fault(sim.Fault{At: again, For: time.Second, Kind: sim.FaultCrash, Nodes: gate})
			s.Fault(sim.Fault{At: again + time.Second, For: time.Second, Kind: sim.FaultCrash, Nodes: manager, Aim: "storing:lease/"})
		}
		s.Fault(sim.Fault{At: at + 6*time.Second, For: 24 * time.Second, Kind: sim.FaultCrash, Nodes: gate})
	}
}

// buildLossForgotten gives each worker a shard of each job, and cuts one worker off until its
// shard is lost. That worker has its result by then. It reports the result on its return,
// before the others, which are cut off then. The manager's disk is slow: writing the loss takes
// longer than the wait for the worker to have stopped.
func buildLossForgotten(s *cluster.Cluster) {
	const every = 16 * time.Second
	t := cluster.SmallTopology()
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = every, 3*time.Second, uint32(t.Workers*t.Cores), false
	})
	s.Fault(sim.Fault{At: time.Second, Kind: sim.FaultDiskSlow, Nodes: stage.Names(s.Managers), Value: 1000})
	for at := 2*time.Second + every; at < s.Heal-every; at += every { // at each submission of jobs
		cut := s.Choose(s.Workers, 1)
		s.Fault(sim.Fault{At: at + 2500*time.Millisecond, For: s.Rand.Duration(5200*time.Millisecond, 6*time.Second).Truncate(stage.Tick),
			Kind: sim.FaultPartition, Nodes: stage.Names(cut), Peers: stage.Names(s.Managers)})
		s.Fault(sim.Fault{At: at + 6*time.Second, For: 1500 * time.Millisecond, Kind: sim.FaultCrash, Nodes: stage.Names(s.Managers), Aim: "storing:lease/"})
		s.Fault(sim.Fault{At: at + 8*time.Second, For: 3 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(stage.Without(s.Workers, cut...)), Peers: stage.Names(s.Managers)})
	}
}

// buildLateRefusal fills the managers' disks for a while, so that each manager rejects its
// orders after it has waited for its disk. It stops gates between the two. Streams keep the
// messages: the rejection is the first one that a gate receives when it continues.
func buildLateRefusal(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 1200*time.Millisecond, time.Second, 1, false
	})
	s.Slots(42*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 6 * time.Second, Kind: sim.FaultDiskFull, Nodes: stage.Names(s.Managers)})
		s.Fault(sim.Fault{At: at + s.Rand.Duration(time.Second, 4*time.Second).Truncate(stage.Tick), For: s.Rand.Duration(31*time.Second, 33*time.Second).Truncate(stage.Tick),
			Kind: sim.FaultPause, Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
}
