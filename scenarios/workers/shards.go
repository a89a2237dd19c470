package workers

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// shardWorlds test what keeps a shard in one place: each puts one fault where one mistake of a
// worker or a manager would show.
func shardWorlds() []stage.Scenario {
	const virtual = 200 * time.Second
	return []stage.Scenario{
		{Name: "hanging-drain", Virtual: 4 * time.Minute, Build: cluster.On(buildHangingDrain),
			Doc: "Workers are asked to stop, and their shards outlast the drain and then ignore the cancellation. A worker lists a shard until it has ended, and no other worker gets it before."},
		{Name: "held-up-heartbeats", Virtual: virtual, Build: cluster.On(buildHeldUpHeartbeats),
			Doc: "Dispatches are slow, and heartbeats that workers sent before they received one are slower than their acceptances. A shard that such a heartbeat does not list has not stopped: it runs nowhere else before its time is over."},
		{Name: "forgotten-fences", Virtual: virtual, Build: cluster.On(buildForgottenFences),
			Doc: "One worker runs everything. It is killed, or its streams break, and an old manager then repeats orders under fences below those of this worker. The worker has not forgotten its fences."},
		{Name: "orders-of-old", Virtual: 4 * time.Minute, Build: cluster.On(buildOrdersOfOld),
			Doc: "Gates, managers and a worker are killed in turn, and an old gate and an old manager repeat orders under outdated fences, and cancel them. Receivers reject all of them, and every job completes."},
		{Name: "superseded-running", Virtual: virtual, Beyond: true, Build: cluster.On(buildSupersededRunning),
			Doc: "The only worker's clock runs ten percent slow and the managers' ten percent fast. So a shard returns to that worker while it still runs there, in executors that ignore a cancellation. The new attempt waits until the old one has ended."},
		{Name: "overtaking-cancel", Virtual: virtual, Build: cluster.On(buildOvertakingCancel),
			Doc: "Cancellations overtake the dispatches that they cancel. A worker with an order to cancel a shard never starts that shard."},
		{Name: "overtaken-dispatch", Virtual: virtual, Build: cluster.On(buildOvertakenDispatch),
			Doc: "A manager is cut off from the others as it dispatches a shard, and a link holds the dispatch until another manager's attempt runs. Answers to heartbeats overtake it. A worker does not start that shard: what overtook the dispatch says nothing of it."},
		{Name: "lost-cancels", Virtual: virtual, Build: cluster.On(buildLostCancels),
			Doc: "The first cancellation of each shard is lost with its stream. The manager repeats it: a job is cancelled within ten seconds, though it would run for a minute."},
		{Name: "late-answers", Virtual: virtual, Build: cluster.On(buildLateAnswers),
			Doc: "Managers' answers to one worker arrive nearly a second late, and then that worker is cut off. Its shards run until five seconds after it sent the answered heartbeat, not after the answer arrived."},
		{Name: "cut-at-the-bound", Virtual: virtual, Build: cluster.On(buildCutAtTheBound),
			Doc: "Workers' clocks run slow and their manager's fast, each at the drift bound. One worker at a time is cut off, or others hear it and it hears nothing. Its shards run elsewhere once they have stopped by its clock, not by the manager's."},
		{Name: "takeover-beside-a-cut", Virtual: virtual, Build: cluster.On(buildTakeoverBesideACut),
			Doc: "Two workers are cut off from all managers but one, and then that one is killed. The manager that takes its subjobs over hears nothing of their shards, and waits until they have stopped."},
		{Name: "third-holder", Virtual: virtual, Build: cluster.On(buildThirdHolder),
			Doc: "The manager that should learn of a shard's end is killed, and its worker is cut off until the next holder has dispatched the shard again. Then that holder is killed too. The third one learns of the end before it learns of the running attempt: outdated fences stay outdated, and one attempt counts."},
		{Name: "unacknowledged-end", Virtual: virtual, Build: cluster.On(buildUnacknowledgedEnd),
			Doc: "Every job is cancelled, many near their end, while gates hear nothing of their managers. Then the streams break with all messages that waited in them. A subjob belongs to its manager until a gate has acknowledged its end: a gate that asks for it meanwhile gets an answer within ten seconds."},
	}
}

// oneWorker is a datacenter in which a lost shard returns to the same worker.
func oneWorker() cluster.Topology {
	return cluster.Topology{Gates: 1, Datacenters: 1, Managers: 3, Workers: 1, Cores: 4, Clients: 1}
}

func buildHangingDrain(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 45*time.Second, 1 })
	s.Model.IgnoreCancel = stage.Million
	s.Slots(34*time.Second, func(_ int, at time.Duration) {
		s.Fault(sim.Fault{At: at + 6*time.Second, For: 40 * time.Second, Kind: sim.FaultStop, Nodes: stage.Names(s.Choose(s.Workers, 1))})
	})
}

// buildHeldUpHeartbeats delays two heartbeats of a worker, which deny a dispatch. They arrive a
// little more than two seconds after its acceptance, while its first renewal still holds.
func buildHeldUpHeartbeats(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = 10*time.Second, 6*time.Second, 1, false
	})
	const denial = 2*time.Second + 20*time.Millisecond // manager.Default: DenialAge
	var worker node.ID                                 // whose dispatch is slow now
	var dispatched, heard time.Duration
	s.Arrives = func(id node.ID, in *node.Input) time.Duration {
		now := s.World.Now()
		switch m := in.Message.(type) {
		case *message.ShardDispatch:
			if now > heard && now < s.Heal && m.Fence.Attempt == 1 {
				worker = id
				dispatched = now + s.Rand.Duration(1200*time.Millisecond, 2400*time.Millisecond)
				heard = dispatched + denial
			}
			if id == worker {
				return dispatched
			}
		case *message.WorkerHeartbeat:
			if in.From.ID == worker && now < heard {
				return heard
			}
		}
		return 0
	}
}

func buildForgottenFences(s *cluster.Cluster) {
	t := oneWorker()
	t.Past = true
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 7*time.Second, 1 })
	s.Often(s.Workers, 9*time.Second, sim.FaultCrash, time.Second, 0)
	s.Often(s.Workers, 4*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildOrdersOfOld(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Workers, t.Past = 1, true
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 9*time.Second, 16*time.Second, 1 })
	s.Late.Cancels = true
	s.Complete = true
	s.Slots(10*time.Second, func(i int, at time.Duration) {
		ids := [][]node.ID{s.Gates, s.Workers, s.Gates, s.Managers}[i%4]
		s.Fault(sim.Fault{At: at, For: time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(ids, 1))})
	})
}

func buildSupersededRunning(s *cluster.Cluster) {
	s.Standard(oneWorker(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 8*time.Second, 20*time.Second, 1 })
	s.Model.IgnoreCancel = stage.Million
	const tenth = 10 * sim.DriftBound
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: stage.Names(s.Managers), Value: tenth, Beyond: true})
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: stage.Names(s.Workers), Value: -tenth, Beyond: true})
	s.Slots(14*time.Second, func(_ int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(4200*time.Millisecond, 4900*time.Millisecond).Truncate(stage.Tick), Kind: sim.FaultPartition, Nodes: stage.Names(s.Workers), Peers: stage.Names(s.Managers)})
	})
}

// ordered names an attempt at a worker.
type ordered struct {
	worker node.ID
	shard  message.ShardID
	fence  message.Fence
}

func buildOvertakingCancel(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Cancels = 2*time.Second, time.Second, 2, stage.Million
	})
	const longest = 2500 * time.Millisecond
	cancelled := map[ordered]bool{}
	due := map[ordered]time.Duration{}
	s.Arrives = func(id node.ID, in *node.Input) time.Duration {
		switch m := in.Message.(type) {
		case *message.ShardCancel:
			cancelled[ordered{id, m.Shard, m.Fence}] = true
		case *message.ShardDispatch:
			key := ordered{id, m.Shard, m.Fence}
			if due[key] == 0 {
				due[key] = s.World.Now() + s.Rand.Duration(0, longest)
			}
			return due[key]
		}
		return 0
	}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.ShardStarted); ok && cancelled[ordered{r.Node, e.Shard, e.Fence}] {
			s.Checker.Violate("P", r, "%s started shard %v under %v, which it had an order to cancel", r.Node, e.Shard, e.Fence)
		}
	})
}

func buildLostCancels(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Cancels = 5*time.Second, time.Minute, 1, stage.Million
	})
	s.Checker.Promise(checker.Promises{CancelWithin: 10 * time.Second})
	dropped := map[ordered]bool{}
	s.Arrives = func(id node.ID, in *node.Input) time.Duration {
		m, ok := in.Message.(*message.ShardCancel)
		if !ok || s.World.Now() >= s.Heal {
			return 0
		}
		key := ordered{id, m.Shard, m.Fence}
		if dropped[key] {
			return 0
		}
		dropped[key] = true
		s.World.At(s.World.Now(), func() {
			if err := s.World.Apply(sim.Fault{Kind: sim.FaultBreakStreams, Nodes: []string{string(id)}}); err != nil {
				node.Bug("break the streams of %s: %v", id, err)
			}
		})
		return cluster.Lost
	}
}

func buildLateAnswers(s *cluster.Cluster) {
	s.Standard(cluster.SmallTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 5*time.Second, 20*time.Second, 1 })
	slow := stage.Names(s.Choose(s.Workers, 1))
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: stage.Names(s.Managers), Peers: slow, Value: 900})
	s.Slots(16*time.Second, func(_ int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 9 * time.Second, Kind: sim.FaultPartition, Nodes: slow})
	})
}

func buildCutAtTheBound(s *cluster.Cluster) {
	t := cluster.SmallTopology()
	t.Workers = 4
	s.Standard(t, func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 4*time.Second, 20*time.Second, 1 })
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: stage.Names(s.Managers), Value: sim.DriftBound})
	s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: stage.Names(s.Workers), Value: -sim.DriftBound})
	s.Slots(12*time.Second, func(_ int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 8 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(s.Choose(s.Workers, 1))})
	})
}

// buildTakeoverBesideACut makes the other managers forget what two workers listed, long before
// one of them takes over.
func buildTakeoverBesideACut(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores = 2*time.Second, 12*time.Second, 1 })
	s.Slots(18*time.Second, func(_ int, at time.Duration) {
		dies := s.Choose(s.Managers, 1)
		s.Fault(sim.Fault{At: at, For: 15 * time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(s.Choose(s.Workers, 2)), Peers: stage.Names(stage.Without(s.Managers, dies...))})
		s.Fault(sim.Fault{At: at + 8*time.Second, For: 6 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(dies)})
	})
}

// buildOvertakenDispatch holds what a manager says in the lane of its dispatches until the next holder of one of
// them has dispatched it elsewhere, and cuts that manager off from the others. Its answers to heartbeats pass.
func buildOvertakenDispatch(s *cluster.Cluster) {
	const held = 20 * time.Second
	t := cluster.GroupTopology()
	t.Gates, t.Cores, t.Clients = 1, 8, 1
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Cancels, l.Layers = 4*time.Second, 40*time.Second, 2, 0, false
	})
	var victim node.ID
	var ends time.Duration
	s.Arrives = func(id node.ID, in *node.Input) time.Duration {
		now, d := s.World.Now(), message.KindShardDispatch
		if in.Message.Kind() == d && now > ends+15*time.Second && now+held < s.Heal {
			victim, ends = in.From.ID, now+s.Rand.Duration(held*3/5, held)
			s.World.At(now, func() {
				cut := sim.Fault{Kind: sim.FaultPartition, Nodes: []string{string(victim)}, Peers: stage.Names(stage.Without(s.Managers, victim)), For: held}
				if err := s.World.Apply(cut); err != nil {
					node.Bug("cut %s: %v", victim, err)
				}
			})
		}
		if in.From.ID == victim && now < ends && in.Message.Priority() >= (&message.ShardDispatch{}).Priority() {
			return ends
		}
		return 0
	}
}

// buildThirdHolder kills the dispatching manager when the shard's result arrives, and the next
// holder when a worker accepts the shard from it. No manager hears from that worker for 6 s.
func buildThirdHolder(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores, l.Layers = 8*time.Second, 6*time.Second, 2, false })
	kill := func(id node.ID) {
		s.World.At(s.World.Now(), func() {
			if err := s.World.Apply(sim.Fault{Kind: sim.FaultCrash, Nodes: []string{string(id)}, For: 4 * time.Second}); err != nil {
				node.Bug("kill %s: %v", id, err)
			}
		})
	}
	var shard message.ShardID
	var passed message.Fence
	var holder, first, second node.ID // the first dispatcher, and the two that run it under that fence and the next
	var quiet time.Duration           // until then no manager hears of the second
	s.Arrives = func(id node.ID, in *node.Input) time.Duration {
		now, from := s.World.Now(), in.From.ID
		if second != "" && now >= quiet {
			holder, first, second = "", "", ""
		}
		switch m := in.Message.(type) {
		case *message.ShardAccepted:
			switch {
			case first == "" && m.Fence.Attempt == 1 && now+30*time.Second < s.Heal:
				shard, passed, holder, first = m.Shard, m.Fence, id, from
			case first != "" && second == "" && m.Shard == shard && passed.Less(m.Fence):
				second, quiet = from, now+6*time.Second
				kill(id)
			}
		case *message.ShardResult:
			if m.Shard == shard && id == holder && second == "" {
				holder = ""
				kill(id)
			}
		}
		if now < s.Heal && (from == first && id != holder && second == "" || from == second && second != "") {
			return cluster.Lost
		}
		return 0
	}
}

// buildUnacknowledgedEnd cuts managers off from gates in one direction around the ends of their
// subjobs, whose reports are then lost with their streams.
func buildUnacknowledgedEnd(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Cancels = 3*time.Second, 2*time.Second, 2, stage.Million
	})
	s.Checker.Promise(checker.Promises{Once: true, CancelWithin: 10 * time.Second})
	s.Slots(6*time.Second, func(_ int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 2200 * time.Millisecond, Kind: sim.FaultOneWay, Nodes: stage.Names(s.Managers), Peers: stage.Names(s.Gates)})
		s.Fault(sim.Fault{At: at + 2*time.Second, Kind: sim.FaultBreakStreams, Nodes: stage.Names(s.Gates), Peers: stage.Names(s.Managers)})
	})
}
