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

// silenceWorlds have executors whose loops say nothing for a while.
func silenceWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "timeout-vs-extension", Virtual: 5 * time.Minute, Build: cluster.On(buildTimeoutVsExtension),
			Doc: "Executors fall silent for about as long as they may, and have asked for more time before, with and without progress. Their workers pause for seconds, and clocks drift. One that is silent for longer than its bound and its grants is killed and runs elsewhere; one that is silent for less is left alone. Every job completes, and no renewal moves."},
		{Name: "hung-executor", Virtual: 5 * time.Minute, Build: cluster.On(buildHungExecutor),
			Doc: "Executors on one worker hang in the middle of long shards, and ignore cancellations. Their worker kills them within a minute, long before the run timeout. The shards go on elsewhere, and every job completes."},
	}
}

// Bounds of silent executors: those of worker.Default and core/health.
const (
	silenceBound = 30 * time.Second
	silenceGrace = silenceBound / 3
	silenceEarly = 2 * time.Second // a report before the silence, a tick of the worker, and drift
	askEvery     = 5 * time.Second
	silenceLate  = 8 * time.Second // the same, and pauses of the worker
)

func buildTimeoutVsExtension(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	w := &silence{s: s, first: map[message.ShardID]*silent{}, fences: map[message.ShardID]message.Fence{}}
	s.Model.Quiet, s.Model.Script = w.quiet, w.script
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers = 12*time.Second, 95*time.Second, 1, 4, false
	})
	s.Complete = true
	s.Witness = append(s.Witness, w.witness)
	for _, id := range s.Workers {
		s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: sim.DriftBound * int64(s.Rand.Int(3)-1)})
	}
	s.Often(s.Workers, 20*time.Second, sim.FaultPause, s.Rand.Duration(600*time.Millisecond, 2*time.Second).Truncate(stage.Tick), 0)
}

// silent is the first run of a shard, which says nothing for a time.
type silent struct {
	quiet sim.Quiet
	asks  []uint32 // progress with each question before the silence
	bound time.Duration
	asked bool
}

// silence judges timeout-vs-extension.
type silence struct {
	s      *cluster.Cluster
	first  map[message.ShardID]*silent
	fences map[message.ShardID]message.Fence // of these runs
}

// quiet draws the silence of a shard's first run, near its bound.
func (w *silence) quiet(e *message.ExecStart, r *node.Rand) sim.Quiet {
	if w.first[e.Shard] != nil {
		return sim.Quiet{}
	}
	x := &silent{}
	for done := uint32(0); len(x.asks) < 7 && r.Chance(4, 5); {
		x.asks = append(x.asks, done)
		done += uint32(r.Int(4)+1) / 2 // it has moved on, or is denied
	}
	x.bound = silenceBound + granted(x.asks) + silenceGrace
	x.quiet = sim.Quiet{At: 5 * time.Second, For: x.bound - silenceEarly}
	if r.Chance(1, 2) {
		x.quiet.For = x.bound + silenceLate
	}
	w.first[e.Shard] = x
	return x.quiet
}

// granted is what questions with that progress bring.
func granted(asks []uint32) (sum time.Duration) {
	grant, n, last := silenceBound, 0, uint32(0)
	for _, done := range asks {
		if n < 5 && (n == 0 || done > last) {
			grant /= 2
			sum, n, last = sum+max(grant, time.Second), n+1, done
		}
	}
	return sum
}

// script has the run ask when its silence begins.
func (w *silence) script(e *message.ExecStart, _ *node.Rand) sim.Script {
	x := w.first[e.Shard]
	if x.asked {
		return nil
	}
	x.asked = true
	return &asking{after: x.quiet.At, asks: x.asks}
}

// asking asks for more time, again and again: the last time before the bound without any grant.
type asking struct {
	after time.Duration
	at    time.Duration // of the next question; zero: its run has not begun
	asks  []uint32
}

// Act implements sim.Script.
func (a *asking) Act(now time.Duration, _ node.Message) (says []node.Message, next time.Duration) {
	if a.at == 0 {
		a.at = now + a.after
	}
	if now < a.at {
		return nil, a.at
	}
	if len(a.asks) == 0 {
		return nil, now + time.Hour
	}
	says = append(says, &message.ExecAlive{Asks: true, Done: a.asks[0], Reason: "it does something long"})
	a.asks, a.at = a.asks[1:], a.at+askEvery
	return says, a.at
}

func (w *silence) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.ShardStarted:
		if _, known := w.fences[e.Shard]; !known {
			w.fences[e.Shard] = e.Fence
		}
	case event.ShardEnded:
		x := w.first[e.Shard]
		if x == nil || w.fences[e.Shard] != e.Fence {
			return
		}
		if killed := e.State != message.WorkflowCompleted; killed != (x.quiet.For > x.bound) {
			w.s.Checker.Violate("P", r, "the executor of shard %v says nothing for %v, may for %v, and ends %v: %s", e.Shard, x.quiet.For, x.bound, e.State, e.Reason)
		}
	}
}

// buildHungExecutor hangs executors of one worker: a shard whose executors die on two is the
// program's own failure.
func buildHungExecutor(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) { l.Every, l.Duration, l.Cores, l.Vus = 9*time.Second, 25*time.Second, 4, 16 })
	s.Complete = true
	s.EndsWithin(100 * time.Second)
	broken := stage.Names(s.Choose(s.Workers, 1))
	s.Slots(60*time.Second, func(i int, at time.Duration) {
		s.Fault(sim.Fault{At: at, For: 100 * time.Millisecond, Kind: sim.FaultExecHang, Nodes: broken})
	})
}
