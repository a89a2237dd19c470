package manager

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/stats"
)

// crowded is a manager that holds one job with a shard on each of its workers, all of them
// running. It discards what the manager sends.
type crowded struct {
	*nodetest.Env
	m       *Machine
	gate    node.StreamID
	workers []crowdedWorker
	acked   time.Duration        // interval of the last answer to a heartbeat
	pushed  *message.JobProgress // the last one
}

type crowdedWorker struct {
	peer     node.Peer
	stream   node.StreamID
	shard    message.ShardID
	fence    message.Fence
	every    time.Duration // of its dispatch
	sequence uint64
}

// Send implements node.Network.
func (c *crowded) Send(s node.StreamID, m node.Message) {
	switch m := m.(type) {
	case *message.ShardDispatch:
		w := &c.workers[int(s)-int(c.workers[0].stream)]
		w.shard, w.fence, w.every = m.Shard, m.Fence, m.Every
	case *message.HeartbeatAck:
		c.acked = m.Every
	case *message.JobProgress:
		c.pushed = m
	}
}

// Step implements node.Machine, so that completions reach the manager the same way.
func (c *crowded) Step(_ node.Env, in *node.Input) { c.m.Step(c, in) }

func (c *crowded) step(in node.Input) { c.m.Step(c, &in) }

func (c *crowded) beat(w *crowdedWorker) {
	w.sequence++
	hb := &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: w.sequence, CoresTotal: 4, CoresFree: 4}
	if w.fence != (message.Fence{}) {
		hb.CoresFree, hb.Running = 0, []message.ShardRef{{Shard: w.shard, Fence: w.fence}}
	}
	c.step(node.Input{Kind: node.InputMessage, Stream: w.stream, From: w.peer, Message: hb})
}

func (c *crowded) report(w *crowdedWorker, sequence uint64, s *message.Stats) {
	c.step(node.Input{Kind: node.InputMessage, Stream: w.stream, From: w.peer, Message: &message.ShardProgress{Shard: w.shard, Fence: w.fence, Sequence: sequence, Stats: *s}})
}

// named lets the gate name the job, as it does each second.
func (c *crowded) named() {
	for _, p := range c.m.order {
		c.m.extend(p, c.Now())
	}
}

func (c *crowded) dispatched() (n int) {
	for i := range c.workers {
		if c.workers[i].fence != (message.Fence{}) {
			n++
		}
	}
	return n
}

func newCrowded(workers, reports int) *crowded {
	c := &crowded{}
	config := small()
	config.ReportsMax = reports
	config.Gates = []node.Addr{"g1:1"}
	c.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
		New:  func() node.Machine { c.m = New(config); return c },
	})
	c.Discard = true
	c.Start()
	gate := node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"}
	c.gate = c.OpeningTo("g1:1")[0]
	c.Opened(c.gate, gate)
	c.Receive(c.gate, &message.HeartbeatAck{Sequence: 1})
	c.workers = make([]crowdedWorker, workers)
	for i := range c.workers {
		w := &c.workers[i]
		w.peer = node.Peer{ID: node.ID(fmt.Sprintf("worker-%05d", i)), Incarnation: 1, Role: node.RoleWorker, Addr: node.Addr(fmt.Sprintf("w%d:1", i))}
		w.stream = c.Accept(w.peer)
		c.beat(w)
	}
	d := &message.JobDispatch{
		Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 257}, Name: "n", Program: message.Program{Main: "f"}, RunTimeout: time.Hour,
		Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{Name: "w", Test: true, VUs: 4 * uint64(workers), Duration: time.Hour, Timeout: time.Second, Steps: home()}}},
	}
	c.step(node.Input{Kind: node.InputMessage, Stream: c.gate, From: gate, Message: d})
	for range 100 {
		c.Complete(100, nil)
		c.named()
		c.m.resumed(c, c.m.order)
		c.m.settle(c)
	}
	for c.dispatched() < workers { // as many at a time as the pace allows
		for i := range c.workers {
			c.beat(&c.workers[i])
		}
	}
	return c
}

// measured is what a worker reports of a step with three phases after some thousand requests.
func measured(requests int) *message.Stats {
	h := new(stats.Histogram)
	for i := range requests {
		h.Record(uint64(1_000_000 + i*i%40_000_000))
	}
	w := h.Wire()
	step := message.StepStats{Name: "home", Kind: message.StepRequest, Started: uint64(requests), Sent: uint64(requests), OK: uint64(requests), Latency: w, Service: w,
		Statuses: []message.StatusCount{{Status: 200, Count: uint64(requests)}}}
	for _, p := range []message.Phase{message.PhaseSend, message.PhaseWait, message.PhaseReceive} {
		step.Phases = append(step.Phases, message.PhaseTimes{Phase: p, Time: w})
	}
	var windows stats.Windows
	for i := range requests {
		at := time.Duration(i) * time.Minute / time.Duration(requests)
		windows.At(at).Started++
		windows.At(at).OK++
		windows.Record(at, uint64(1_000_000+i*i%40_000_000))
	}
	step.Windows = windows.Wire()
	return &message.Stats{Active: 4, Elapsed: time.Minute, Generator: message.Generator{Lag: w}, Steps: []message.StepStats{step}}
}

// The load of one job on all workers: a heartbeat, a report of figures, and the push of their
// sum to the gate.
func BenchmarkOneJobOnAllWorkers(b *testing.B) {
	for _, workers := range sizes() {
		c := newCrowded(workers, Default().ReportsMax)
		s := measured(5000)
		for i := range c.workers {
			c.report(&c.workers[i], 1, s)
		}
		n, sequence := 0, uint64(1)
		b.Run(fmt.Sprintf("heartbeat/workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n = (n + 1) % workers
				c.beat(&c.workers[n])
			}
		})
		b.Run(fmt.Sprintf("progress/workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n, sequence = (n+1)%workers, sequence+1
				c.report(&c.workers[n], sequence, s)
			}
		})
		for _, k := range []uint8{node.ManagerPush, node.ManagerHeartbeat, node.ManagerRetry} {
			b.Run(fmt.Sprintf("%s/workers=%d", map[uint8]string{node.ManagerPush: "push", node.ManagerHeartbeat: "own-heartbeat", node.ManagerRetry: "retry"}[k], workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for _, p := range c.m.order {
						p.Dirty = true
					}
					c.step(node.Input{Kind: node.InputTimer, Timer: node.Key(node.PartManager, k)})
				}
			})
		}
	}
}

// push fires the timer of pushes, and returns what the gate gets.
func (c *crowded) push() *message.JobProgress {
	c.pushed = nil
	c.step(node.Input{Kind: node.InputTimer, Timer: node.Key(node.PartManager, node.ManagerPush)})
	return c.pushed
}

// The workers of a job that is too large for reports each half second learn that with their dispatch.
// The manager reports as seldom, and says so; but a change of a state waits for nothing.
func TestWorkersOfALargeJobReportSeldom(t *testing.T) {
	c := newCrowded(10, 4)
	for i := range c.workers {
		if w := &c.workers[i]; w.every != 2500*time.Millisecond {
			t.Errorf("%s is dispatched to with an interval of %v, 10 shards and 4 reports a second make 2.5 s", w.peer.ID, w.every)
		}
	}
	c.beat(&c.workers[0])
	if c.acked != 2500*time.Millisecond {
		t.Errorf("a heartbeat is answered with an interval of %v", c.acked)
	}
	c.beat(&crowdedWorker{peer: c.workers[0].peer, stream: c.workers[0].stream}) // an old one
	if c.acked != 2500*time.Millisecond {
		t.Errorf("an old heartbeat is answered with an interval of %v", c.acked)
	}
	if p := c.push(); p == nil || p.Subjob.State != message.JobRunning || p.Subjob.Every != 2500*time.Millisecond {
		t.Fatalf("the start is not pushed at once, or without its interval: %+v", p)
	}
	var turns []int
	for turn := range 20 {
		c.report(&c.workers[turn%10], uint64(turn+1), &message.Stats{})
		if c.push() != nil {
			turns = append(turns, turn)
		}
	}
	if len(turns) != 4 || turns[3]-turns[0] != 15 {
		t.Errorf("of 20 turns of half a second figures are pushed in %v, each fifth was due", turns)
	}
	c.m.becomeWorkflow(c, c.m.order[0].Workflows[0], message.WorkflowCompleted, "")
	if c.push() == nil {
		t.Error("a change of a state waits for its turn")
	}
}

// The figures of many shards are added up in steps. A report is of the instant at which it began, and the next one
// waits for it. A workflow ends with all figures.
func TestManyFiguresAreAddedUpInSteps(t *testing.T) {
	c := newCrowded(400, 1000)
	c.push()
	one, sequence := measured(5000), uint64(0)
	all := func(s *message.Stats) {
		sequence++
		for i := range c.workers {
			c.report(&c.workers[i], sequence, s)
		}
	}
	all(one)
	f := c.m.order[0].Workflows[0]
	want, err := f.Total()
	if err != nil {
		t.Fatal(err)
	}
	least := len(c.workers) * stats.SizeOf(one) / (sumBytes + stats.SizeOf(one))
	steps := func(done func() bool) {
		n := 1
		for ; !done() && n < 1000; n++ {
			c.step(node.Input{Kind: node.InputTimer, Timer: node.Key(node.PartManager, node.ManagerSum)})
		}
		if n < least {
			t.Errorf("a sum of %d steps, at least %d were due: more than %d bytes of figures at once", n, least, sumBytes)
		}
	}
	c.push()
	steps(func() bool {
		if c.pushed == nil {
			all(measured(10))
			c.step(node.Input{Kind: node.InputTimer, Timer: node.Key(node.PartManager, node.ManagerPush)})
		}
		return c.pushed != nil
	})
	if diff := cmp.Diff(want, c.pushed.Subjob.Workflows[0].Stats); diff != "" {
		t.Errorf("the figures of a report (-at its begin +reported):\n%s", diff)
	}
	all(one)
	for _, s := range f.Shards {
		s.State, s.Result, s.Progress = message.WorkflowCompleted, &message.ShardResult{Stats: s.Progress.Stats}, nil
	}
	c.m.endWhenAllEnded(c, f)
	steps(func() bool {
		c.m.endWhenAllEnded(c, f) // as other inputs make it
		return f.End != message.WorkflowNone
	})
	if diff := cmp.Diff(want, f.Stats); diff != "" || f.End != message.WorkflowCompleted || len(c.m.sums.ends) > 0 {
		t.Errorf("it ends %v, and %d workflows wait for their sums: figures (-of its shards +of its end):\n%s", f.End, len(c.m.sums.ends), diff)
	}
}

// A manager reports as seldom as the gate of a subjob asks, while the gate repeats it.
func TestAGateSlowsReportsDown(t *testing.T) {
	c := newCrowded(2, 1000)
	c.push()
	hear := func(every time.Duration) {
		l := c.m.gates.All()[0]
		c.m.onHeartbeatAck(c, l, &message.HeartbeatAck{Sequence: l.Sequence, Every: every})
	}
	reports := uint64(0)
	pushes := func() (n int) {
		for range 6 {
			reports++
			c.report(&c.workers[0], reports, &message.Stats{})
			if p := c.push(); p != nil {
				n++
			}
		}
		return n
	}
	for _, s := range []struct {
		every time.Duration
		want  int
	}{{0, 6}, {time.Second, 3}, {1500 * time.Millisecond, 2}, {0, 6}} {
		hear(s.every)
		if got := pushes(); got != s.want {
			t.Errorf("a gate that asks for a report each %v gets %d in 3 s, want %d", s.every, got, s.want)
		}
	}
}
