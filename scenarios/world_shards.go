package scenarios

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
)

// sliceWorlds are aimed at what keeps a shard in one place: each puts one fault where
// one mistake of a worker or a manager would show.
func shardWorlds() []Scenario {
	const virtual = 200 * time.Second
	return []Scenario{
		{Name: "hanging-drain", Virtual: 4 * time.Minute, build: onCluster(buildHangingDrain),
			Doc: "Workers are asked to stop, and what they run outlasts the drain and then ignores that it should end. It is listed until it is gone, and nobody else is given it before."},
		{Name: "held-up-heartbeats", Virtual: virtual, build: onCluster(buildHeldUpHeartbeats),
			Doc: "Dispatches are slow, and heartbeats that workers sent before these came are slower than their acceptances. What such a heartbeat does not list has not stopped: it runs nowhere else before its time is over."},
		{Name: "forgotten-fences", Virtual: virtual, build: onCluster(buildForgottenFences),
			Doc: "One worker runs everything; it is killed, or its streams break, and a manager of old then sends what was ordered under fences that this worker has passed. It has not forgotten them."},
		{Name: "orders-of-old", Virtual: 4 * time.Minute, build: onCluster(buildOrdersOfOld),
			Doc: "Gates, managers and a worker are killed in turn, and a gate and a manager of old send what they ordered under fences that were passed since, and cancel it. All of it is refused, and every job completes."},
		{Name: "superseded-running", Virtual: virtual, Beyond: true, build: onCluster(buildSupersededRunning),
			Doc: "The only worker's clock runs ten percent slow and the managers' ten percent fast, so that a shard comes back to it while it still runs there, in executors that ignore a cancel. The new attempt waits until the old one is gone."},
		{Name: "overtaking-cancel", Virtual: virtual, build: onCluster(buildOvertakingCancel),
			Doc: "Cancellations overtake the dispatches that they cancel. A shard that its worker was told to cancel never starts there."},
		{Name: "lost-cancels", Virtual: virtual, build: onCluster(buildLostCancels),
			Doc: "The first cancellation of each shard is lost with the stream that it came on. It is sent again: a job is cancelled within ten seconds, though it would run for a minute."},
		{Name: "late-answers", Virtual: virtual, build: onCluster(buildLateAnswers),
			Doc: "What managers answer to one worker comes nearly a second late, and then that worker is cut off. Its shards run until five seconds after it sent what was answered, not after the answer came."},
		{Name: "cut-at-the-bound", Virtual: virtual, build: onCluster(buildCutAtTheBound),
			Doc: "Workers' clocks run slow and their manager's fast, each at the bound of drift, and one worker at a time is cut off, or is heard and hears nothing. Its shards run elsewhere when they have stopped by its clock, not by the manager's."},
		{Name: "takeover-beside-a-cut", Virtual: virtual, build: onCluster(buildTakeoverBesideACut),
			Doc: "Two workers are cut off from all managers but one, and then that one is killed. Who takes its subjobs over hears nothing of what they run, and waits until they have stopped."},
		{Name: "third-holder", Virtual: virtual, build: onCluster(buildThirdHolder),
			Doc: "Whoever is to hear of a shard's end is killed, and its worker is cut off until the next holder has dispatched the shard again; then that one is killed too. The third one hears of the end before it hears of what runs: what was passed stays passed, and one attempt counts."},
		{Name: "unacknowledged-end", Virtual: virtual, build: onCluster(buildUnacknowledgedEnd),
			Doc: "Every job is cancelled, many about their end, while gates hear nothing of their managers, and then the streams break with all that waited in them. A subjob belongs to its manager until a gate has acknowledged its end: whoever asks for it meanwhile is answered, within ten seconds."},
	}
}

// oneWorker is a datacenter in which a shard that is lost comes back to where it was.
func oneWorker() topology {
	return topology{gates: 1, datacenters: 1, managers: 3, workers: 1, cores: 4, clients: 1}
}

func buildHangingDrain(s *cluster) {
	s.standard(smallTopology(), func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 45*time.Second, 1 })
	s.model.IgnoreCancel = million
	s.slots(34*time.Second, func(_ int, at time.Duration) {
		s.fault(sim.Fault{At: at + 6*time.Second, For: 40 * time.Second, Kind: sim.FaultStop, Nodes: names(s.choose(s.workers, 1))})
	})
}

// buildHeldUpHeartbeats has two heartbeats of a worker come two seconds and a bit
// after its acceptance, which they deny, while its first renewal still holds.
func buildHeldUpHeartbeats(s *cluster) {
	s.standard(smallTopology(), func(l *load) { l.every, l.duration, l.cores, l.layers = 10*time.Second, 6*time.Second, 1, false })
	const denial = 2*time.Second + 20*time.Millisecond // manager.Default: DenialAge
	var worker node.ID                                 // whose dispatch is slow now
	var dispatched, heard time.Duration
	s.arrives = func(id node.ID, in *node.Input) time.Duration {
		now := s.world.Now()
		switch m := in.Message.(type) {
		case *message.ShardDispatch:
			if now > heard && now < s.heal && m.Fence.Attempt == 1 {
				worker = id
				dispatched = now + s.rand.Duration(1200*time.Millisecond, 2400*time.Millisecond)
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

func buildForgottenFences(s *cluster) {
	t := oneWorker()
	t.past = true
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 7*time.Second, 1 })
	s.often(s.workers, 9*time.Second, sim.FaultCrash, time.Second, 0)
	s.often(s.workers, 4*time.Second, sim.FaultBreakStreams, 0, 0)
}

func buildOrdersOfOld(s *cluster) {
	t := groupTopology()
	t.workers, t.past = 1, true
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 9*time.Second, 16*time.Second, 1 })
	s.late.cancels = true
	s.complete = true
	s.slots(10*time.Second, func(i int, at time.Duration) {
		ids := [][]node.ID{s.gates, s.workers, s.gates, s.managers}[i%4]
		s.fault(sim.Fault{At: at, For: time.Second, Kind: sim.FaultCrash, Nodes: names(s.choose(ids, 1))})
	})
}

func buildSupersededRunning(s *cluster) {
	s.standard(oneWorker(), func(l *load) { l.every, l.duration, l.cores = 8*time.Second, 20*time.Second, 1 })
	s.model.IgnoreCancel = million
	const tenth = 10 * sim.DriftBound
	s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: names(s.managers), Value: tenth, Beyond: true})
	s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: names(s.workers), Value: -tenth, Beyond: true})
	s.slots(14*time.Second, func(_ int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: s.rand.Duration(4200*time.Millisecond, 4900*time.Millisecond).Truncate(tick), Kind: sim.FaultPartition, Nodes: names(s.workers), Peers: names(s.managers)})
	})
}

// ordered names an attempt at a worker.
type ordered struct {
	worker node.ID
	shard  message.ShardID
	fence  message.Fence
}

func buildOvertakingCancel(s *cluster) {
	s.standard(smallTopology(), func(l *load) { l.every, l.duration, l.cores, l.cancels = 2*time.Second, time.Second, 2, million })
	const longest = 2500 * time.Millisecond
	cancelled := map[ordered]bool{}
	due := map[ordered]time.Duration{}
	s.arrives = func(id node.ID, in *node.Input) time.Duration {
		switch m := in.Message.(type) {
		case *message.ShardCancel:
			cancelled[ordered{id, m.Shard, m.Fence}] = true
		case *message.ShardDispatch:
			key := ordered{id, m.Shard, m.Fence}
			if due[key] == 0 {
				due[key] = s.world.Now() + s.rand.Duration(0, longest)
			}
			return due[key]
		}
		return 0
	}
	s.witness = append(s.witness, func(r checker.Record) {
		if e, ok := r.Event.(event.ShardStarted); ok && cancelled[ordered{r.Node, e.Shard, e.Fence}] {
			s.checker.Violate("P", r, "%s started shard %v under %v, which it had been told to cancel", r.Node, e.Shard, e.Fence)
		}
	})
}

func buildLostCancels(s *cluster) {
	s.standard(smallTopology(), func(l *load) { l.every, l.duration, l.cores, l.cancels = 5*time.Second, time.Minute, 1, million })
	s.checker.Promise(checker.Promises{CancelWithin: 10 * time.Second})
	dropped := map[ordered]bool{}
	s.arrives = func(id node.ID, in *node.Input) time.Duration {
		m, ok := in.Message.(*message.ShardCancel)
		if !ok || s.world.Now() >= s.heal {
			return 0
		}
		key := ordered{id, m.Shard, m.Fence}
		if dropped[key] {
			return 0
		}
		dropped[key] = true
		s.world.At(s.world.Now(), func() {
			if err := s.world.Apply(sim.Fault{Kind: sim.FaultBreakStreams, Nodes: []string{string(id)}}); err != nil {
				node.Bug("break the streams of %s: %v", id, err)
			}
		})
		return lost
	}
}

func buildLateAnswers(s *cluster) {
	s.standard(smallTopology(), func(l *load) { l.every, l.duration, l.cores = 5*time.Second, 20*time.Second, 1 })
	slow := names(s.choose(s.workers, 1))
	s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultLatencyOneWay, Nodes: names(s.managers), Peers: slow, Value: 900})
	s.slots(16*time.Second, func(_ int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: 9 * time.Second, Kind: sim.FaultPartition, Nodes: slow})
	})
}

func buildCutAtTheBound(s *cluster) {
	t := smallTopology()
	t.workers = 4
	s.standard(t, func(l *load) { l.every, l.duration, l.cores = 4*time.Second, 20*time.Second, 1 })
	s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: names(s.managers), Value: sim.DriftBound})
	s.fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: names(s.workers), Value: -sim.DriftBound})
	s.slots(12*time.Second, func(_ int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: 8 * time.Second, Kind: sim.FaultPartition, Nodes: names(s.choose(s.workers, 1))})
	})
}

// buildTakeoverBesideACut has the other managers forget what two workers listed, long
// before one of them takes over.
func buildTakeoverBesideACut(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores = 2*time.Second, 12*time.Second, 1 })
	s.slots(18*time.Second, func(_ int, at time.Duration) {
		dies := s.choose(s.managers, 1)
		s.fault(sim.Fault{At: at, For: 15 * time.Second, Kind: sim.FaultPartition, Nodes: names(s.choose(s.workers, 2)), Peers: names(without(s.managers, dies...))})
		s.fault(sim.Fault{At: at + 8*time.Second, For: 6 * time.Second, Kind: sim.FaultCrash, Nodes: names(dies)})
	})
}

// buildUnacknowledgedEnd cuts managers off from gates one way about the ends of their
// subjobs, which are then lost with their streams.
func buildThirdHolder(s *cluster) {
	s.standard(groupTopology(), func(l *load) { l.every, l.duration, l.cores, l.layers = 8*time.Second, 6*time.Second, 2, false })
	kill := func(id node.ID) {
		s.world.At(s.world.Now(), func() {
			if err := s.world.Apply(sim.Fault{Kind: sim.FaultCrash, Nodes: []string{string(id)}, For: 4 * time.Second}); err != nil {
				node.Bug("kill %s: %v", id, err)
			}
		})
	}
	var shard message.ShardID
	var passed message.Fence
	var holder, first, second node.ID // who dispatched it first, and who run it under that one and the next
	var quiet time.Duration           // nobody hears of the second until then
	s.arrives = func(id node.ID, in *node.Input) time.Duration {
		now, from := s.world.Now(), in.From.ID
		if second != "" && now >= quiet {
			holder, first, second = "", "", ""
		}
		switch m := in.Message.(type) {
		case *message.ShardAccepted:
			switch {
			case first == "" && m.Fence.Attempt == 1 && now+30*time.Second < s.heal:
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
		if now < s.heal && (from == first && id != holder && second == "" || from == second && second != "") {
			return lost
		}
		return 0
	}
}

func buildUnacknowledgedEnd(s *cluster) {
	s.standard(groupTopology(), func(l *load) {
		l.every, l.duration, l.cores, l.cancels = 3*time.Second, 2*time.Second, 2, million
	})
	s.checker.Promise(checker.Promises{Once: true, CancelWithin: 10 * time.Second})
	s.slots(6*time.Second, func(_ int, at time.Duration) {
		s.fault(sim.Fault{At: at, For: 2200 * time.Millisecond, Kind: sim.FaultOneWay, Nodes: names(s.managers), Peers: names(s.gates)})
		s.fault(sim.Fault{At: at + 2*time.Second, Kind: sim.FaultBreakStreams, Nodes: names(s.gates), Peers: names(s.managers)})
	})
}
