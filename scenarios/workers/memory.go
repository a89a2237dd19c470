package workers

import (
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// memoryWorlds have executors that use memory in many ways.
func memoryWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "memory-budget", Virtual: 5 * time.Minute, Build: cluster.On(buildMemoryBudget),
			Doc: "Executors use memory: some little, some as much as they get until they are throttled, some more than their budget for seconds, for good, or ever more. Machines run short of memory. Workers pause, and clocks drift. One that is over its budget for five seconds, or far over it, is ended, and its job fails for that reason. One that is not completes, also where its machine ran short: another attempt runs. Each throttle is in the result."},
	}
}

// appetite is how an executor uses memory.
type appetite int

const (
	calm    appetite = iota // below where it is throttled
	obeys                   // grows until it is throttled
	swings                  // is over its budget for seconds, again and again
	stuck                   // stays over its budget
	runaway                 // grows ever faster
	crowded                 // has most of a machine that is short of memory, at its first attempt
	appetites
)

func (a appetite) String() string {
	return [...]string{"calm", "obeys", "swings", "stuck", "runaway", "crowded"}[a]
}

// fails says that jobs of that appetite are to fail.
func (a appetite) fails() bool { return a == stuck || a == runaway }

// Spans and sizes of memory-budget. Levels are in percent of a budget that the workflow declares.
const (
	memoryLook   = 250 * time.Millisecond
	memoryBudget = 1_000_000_000
	memoryHost   = 4_000_000_000 // what workers let executors have
	memoryBox    = 10_000_000_000
	memoryAfter  = 5 * time.Second // from an executor's begin until it swings, is stuck or runs away
	memorySwing  = 3 * time.Second // over its budget
	memoryOver   = 5 * time.Second // core/worker/budget
	memoryLate   = 7 * time.Second // ticks and pauses of a worker until it ends an executor
)

func buildMemoryBudget(s *cluster.Cluster) {
	w := &memory{s: s, of: map[message.JobID]appetite{}, runs: map[message.ShardID][]*eater{}, fences: map[message.ShardID][]message.Fence{}}
	s.Model.Script = w.script
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Vus, l.Layers = 5*time.Second, 30*time.Second, 1, 4, false
	})
	s.Complete = true
	s.Excused = func(j message.JobID) bool { return w.of[j].fails() }
	s.Witness = append(s.Witness, w.witness)
	for _, o := range s.Orders {
		kind := appetite(s.Rand.Int(int(appetites)))
		if kind != crowded {
			o.Plan.Workflows[0].Memory = memoryBudget
		}
		o.Plan.Workflows[0].Name = "w-" + kind.String()
		o.Judge = func(r *message.Result) { w.judge(o, kind, r) }
	}
	for _, id := range s.Workers {
		s.Fault(sim.Fault{At: 2 * time.Second, Kind: sim.FaultClockDrift, Nodes: []string{string(id)}, Value: sim.DriftBound * int64(s.Rand.Int(3)-1)})
	}
	s.Often(s.Workers, 20*time.Second, sim.FaultPause, s.Rand.Duration(600*time.Millisecond, 2*time.Second).Truncate(stage.Tick), 0)
}

// memory judges memory-budget.
type memory struct {
	s      *cluster.Cluster
	of     map[message.JobID]appetite
	runs   map[message.ShardID][]*eater // by attempt
	fences map[message.ShardID][]message.Fence
}

// script has a run use memory by the appetite of its job.
func (w *memory) script(e *message.ExecStart, r *node.Rand) sim.Script {
	kind := calm
	for k := calm; k < appetites; k++ {
		if e.Workflow == "w-"+k.String() {
			kind = k
		}
	}
	w.of[e.Shard.Job] = kind
	if kind == crowded && len(w.runs[e.Shard]) > 0 {
		kind = calm
	}
	x := &eater{kind: kind, used: int64(40 + r.Int(20)), most: int64(60 + r.Int(24))}
	w.runs[e.Shard] = append(w.runs[e.Shard], x)
	return x
}

// eater is one executor's use of memory.
type eater struct {
	kind       appetite
	used, most int64 // percent of the declared budget
	began      time.Duration
	next       time.Duration
	over       time.Duration // when it first told that it is over its budget; zero: it did not
	peak       int64         // that it has told
	last       time.Duration // when it last told anything
	throttled  bool
	throttles  int
	since      time.Duration
	sum        time.Duration // for which it was throttled, before since
}

// Act implements sim.Script.
func (x *eater) Act(now time.Duration, told node.Message) (says []node.Message, next time.Duration) {
	if x.began == 0 {
		x.began, x.next = now, now
	}
	if t, ok := told.(*message.ExecThrottle); ok {
		x.throttle(now, t.On)
	}
	if now < x.next {
		return nil, x.next
	}
	x.next, x.last = now+memoryLook, now
	x.eat(now - x.began)
	if x.used >= 100 && x.over == 0 {
		x.over = now
	}
	x.peak = max(x.peak, x.used)
	u := &message.ExecUsage{Memory: uint64(x.used) * memoryBudget / 100, MemoryMax: memoryHost, CPU: now - x.began, Left: memoryBox / 2, Machine: memoryBox}
	if x.kind == crowded {
		u.Memory = memoryHost / 2
		if now-x.began >= memoryAfter {
			u.Left = memoryBox / 25
		}
	}
	return []node.Message{u}, x.next
}

func (x *eater) throttle(now time.Duration, on bool) {
	switch {
	case on && !x.throttled:
		x.throttles, x.since = x.throttles+1, now
	case !on && x.throttled:
		x.sum += now - x.since
	}
	x.throttled = on
}

// eat is what an executor uses after so long.
func (x *eater) eat(passed time.Duration) {
	switch x.kind {
	case calm, crowded:
		x.used = min(x.used+1, x.most)
	case obeys:
		if x.throttled {
			x.used -= 2
		} else {
			x.used++
		}
	case swings:
		if x.used = 60; passed >= memoryAfter && (passed-memoryAfter)%(2*memorySwing) < memorySwing {
			x.used = 105
		}
	case stuck:
		if x.used = 60; passed >= memoryAfter {
			x.used = 100 + int64(passed/time.Second)%9
		}
	case runaway:
		if passed >= memoryAfter {
			x.used += 25
		}
	}
}

// throttledFor is for how long it was throttled at least.
func (x *eater) throttledFor() time.Duration {
	if x.throttled {
		return x.sum + max(0, x.last-x.since)
	}
	return x.sum
}

func (w *memory) witness(r checker.Record) {
	switch e := r.Event.(type) {
	case event.ShardStarted:
		w.fences[e.Shard] = append(w.fences[e.Shard], e.Fence)
	case event.ShardEnded:
		for i, f := range w.fences[e.Shard] {
			if f == e.Fence && i < len(w.runs[e.Shard]) {
				w.ended(r, &e, w.runs[e.Shard][i])
			}
		}
	}
}

// ended judges the end of an attempt: too early, too late, or for another reason than its memory.
func (w *memory) ended(r checker.Record, e *event.ShardEnded, x *eater) {
	if completed := e.State == message.WorkflowCompleted; completed == (x.kind.fails() || x.kind == crowded) {
		w.s.Checker.Violate("P", r, "the executor of shard %v %v, and ends %v: %s", e.Shard, x.kind, e.State, e.Reason)
		return
	}
	took := r.At - x.over
	switch {
	case x.kind == stuck && (took < memoryOver*98/100 || took > memoryOver+memoryLate):
		w.s.Checker.Violate("P", r, "shard %v was over its budget for %v when it ended, at least %v were called for", e.Shard, took, memoryOver)
	case x.kind == runaway && took > memoryLate/2:
		w.s.Checker.Violate("P", r, "shard %v took %d %% of its budget, and ended %v after it came over it", e.Shard, x.peak, took)
	}
}

// judge asserts that a result says what executors used, and that none was throttled in silence.
func (w *memory) judge(o *cluster.Order, kind appetite, r *message.Result) {
	at := w.s.Record(o.Client)
	if kind.fails() && (r.State != message.JobFailed || !strings.Contains(r.Error, "of its budget of")) {
		w.s.Checker.Violate("P", at, "job %v %v, and ended %v: %s", o.Job, kind, r.State, r.Error)
	}
	if len(r.Workflows) != 1 {
		return
	}
	u := &r.Workflows[0].Stats.Generator.Usage
	throttles, longest, peak := 0, time.Duration(0), int64(0)
	//lint:orderfree sums and maxima
	for shard, runs := range w.runs {
		for _, x := range runs {
			if shard.Job == o.Job {
				throttles, longest, peak = throttles+x.throttles, max(longest, x.throttledFor()), max(peak, x.peak)
			}
		}
	}
	const drift = 50 // of the worker's clock, at most one part in that many
	switch {
	case kind == crowded:
		if len(r.Workflows[0].Lost) == 0 || r.Workflows[0].Lost[0].Fault != message.FaultMemory {
			w.s.Checker.Violate("P", at, "job %v lost an executor to a machine without memory, and its result says %+v", o.Job, r.Workflows[0].Lost)
		}
	case int(u.Throttles) < throttles || u.Throttled < longest-longest/drift-memoryLook:
		w.s.Checker.Violate("P", at, "job %v %v: its executors were throttled %d times, for %v at most, and its result says %+v", o.Job, kind, throttles, longest, *u)
	case u.Throttles > 0 != (kind != calm):
		w.s.Checker.Violate("P", at, "job %v %v: its result says %+v", o.Job, kind, *u)
	case u.MemoryMax != memoryBudget || u.Memory != uint64(peak)*memoryBudget/100:
		w.s.Checker.Violate("P", at, "job %v used %d %% of its budget at most, and its result says %+v", o.Job, peak, *u)
	}
}
