package manager

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// desk is a manager with a gate and workers of four cores each, whose messages the test
// chooses.
type desk struct {
	*nodetest.Env
	t    rapid.TB
	m    *Machine
	gate node.StreamID
	up   map[node.ID]node.StreamID
	beat uint64
	sent map[node.StreamID][]node.Message
}

func newDesk(t rapid.TB, change func(*Config), workers ...node.ID) *desk {
	configured := func() Config {
		c := small()
		if change != nil {
			change(&c)
		}
		return c
	}
	d := &desk{t: t, up: map[node.ID]node.StreamID{}, sent: map[node.StreamID][]node.Message{}}
	d.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"},
		New:  func() node.Machine { d.m = New(configured()); return &answered{d.m} },
	})
	d.Discard = true
	d.WatchSend = func(s node.StreamID, m node.Message) { d.sent[s] = append(d.sent[s], m) }
	d.Start()
	d.gate = d.OpeningTo("g1:1")[0]
	d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
	for _, id := range workers {
		d.arrive(id)
	}
	return d
}

func (d *desk) arrive(id node.ID) {
	d.up[id] = d.Accept(node.Peer{ID: id, Incarnation: 1, Role: node.RoleWorker, Addr: node.Addr(id + ":1")})
	d.lists(id)
}

// lists sends a heartbeat of a worker with four cores that lists the given shards.
func (d *desk) lists(id node.ID, running ...message.ShardRef) {
	d.beat++
	d.Receive(d.up[id], &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: d.beat, CoresTotal: 4, CoresFree: 4, Running: running})
}

// live passes seconds in which the workers list their shards.
func (d *desk) live(seconds int, running map[node.ID][]message.ShardRef, ids ...node.ID) {
	for range seconds {
		d.Advance(time.Second)
		for _, id := range ids {
			d.lists(id, running[id]...)
		}
	}
}

// submit gives the manager a subjob of one workflow.
func (d *desk) submit(cores uint32) *subjob.Subjob {
	d.Receive(d.gate, &message.JobDispatch{
		Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour,
		Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{Name: "a", Test: true, VUs: 8, Timeout: time.Second, Cores: cores, Steps: home()}}},
	})
	p := d.m.subjobs[message.JobID{1}]
	if p == nil {
		d.t.Fatal("the subjob is not here")
	}
	return p
}

// took returns the messages to a stream since the last call.
func took[T node.Message](d *desk, s node.StreamID) (all []T) {
	for _, m := range d.sent[s] {
		if m, ok := m.(T); ok {
			all = append(all, m)
		}
	}
	return all
}

func (d *desk) forget() { clear(d.sent) }

// The manager cancels a shard again and again if its dispatch was never answered, and never
// dispatches it again.
func TestCancelFollowsALostDispatch(t *testing.T) {
	d := newDesk(t, nil, "w1")
	p := d.submit(2)
	if got := took[*message.ShardDispatch](d, d.up["w1"]); len(got) != 1 {
		t.Fatalf("%d dispatches, want 1", len(got))
	}
	d.forget()
	d.Receive(d.gate, &message.SubjobCancel{Job: p.Job, Fence: message.Fence{JobEpoch: 1}, State: message.JobCancelled})
	d.live(4, nil, "w1")
	if n := len(took[*message.ShardDispatch](d, d.up["w1"])); n > 0 {
		t.Errorf("it is dispatched again %d times after its cancellation", n)
	}
	if n := len(took[*message.ShardCancel](d, d.up["w1"])); n < 3 {
		t.Errorf("in four seconds it is cancelled %d times, and nobody has answered", n)
	}
}

// attempt returns the newest dispatch to a worker, if any.
func (d *desk) attempt(id node.ID) (last *message.ShardDispatch) {
	for _, m := range took[*message.ShardDispatch](d, d.up[id]) {
		last = m
	}
	return last
}

func (d *desk) accept(id node.ID) message.ShardRef {
	s := d.attempt(id)
	if s == nil {
		d.t.Fatalf("%s was sent nothing", id)
	}
	d.Receive(d.up[id], &message.ShardAccepted{Shard: s.Shard, Fence: s.Fence})
	return message.ShardRef{Shard: s.Shard, Fence: s.Fence}
}

func (d *desk) refuse(id node.ID, code message.Code) {
	s := d.attempt(id)
	d.forget()
	d.Receive(d.up[id], &message.ShardRefused{Shard: s.Shard, Fence: s.Fence, Code: code, CoresFree: 4})
}

// The manager forgets a worker that is gone for good: it reserves no cores there, and runs the
// shard elsewhere once its time is over. No executor gets the rows that the worker had.
func TestWorkerHaltsForEver(t *testing.T) {
	d := newDesk(t, nil, "w1")
	d.Receive(d.gate, &message.JobDispatch{
		Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour, Rows: message.RowShare{Index: 0, Of: 1},
		Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{
			Name: "a", Test: true, VUs: 8, Timeout: time.Second, Cores: 2, Steps: home(), Feed: message.FeedPlan{Name: "rows.csv", Rows: 1000, Unique: true, AtEnd: message.RowsStop},
		}}},
	})
	ref := d.accept("w1")
	d.Receive(d.up["w1"], &message.ShardRows{Shard: ref.Shard, Fence: ref.Fence, Core: 0, Ask: 1, Want: 10})
	had := took[*message.ShardRowsLeased](d, d.up["w1"])
	if len(had) != 1 || had[0].Count == 0 {
		t.Fatalf("leased %+v", had)
	}
	last := d.Now()
	d.arrive("w2")
	d.live(60, nil, "w2")
	second := d.attempt("w2")
	if second == nil || !ref.Fence.Less(second.Fence) {
		t.Fatalf("it does not run elsewhere: %+v", second)
	}
	if d.m.roster.Of("w1") != nil || d.m.roster.Streams() != 1 || d.m.roster.Len() != 1 {
		t.Errorf("%d workers and %d streams are left, want w2 alone", d.m.roster.Len(), d.m.roster.Streams())
	}
	s := d.m.subjobs[ref.Shard.Job].Workflows[0].Shards[0]
	if early := s.Sent.Sub(last); early < d.m.config.patience() {
		t.Errorf("it ran elsewhere after %v, its worker had %v", early, d.m.config.patience())
	}
	ref = d.accept("w2")
	d.Receive(d.up["w2"], &message.ShardRows{Shard: ref.Shard, Fence: ref.Fence, Core: 0, Ask: 1, Want: 10})
	has := took[*message.ShardRowsLeased](d, d.up["w2"])
	if len(has) != 1 || has[0].First < had[0].First+had[0].Count {
		t.Errorf("the second attempt is leased %+v, the first had %+v", has, had)
	}
	if f := s.Workflow; f.Burned != had[0].Count || f.Leased != f.Burned+has[0].Count {
		t.Errorf("%d rows are leased, %d burned; the first attempt had %d, the second has %d", f.Leased, f.Burned, had[0].Count, has[0].Count)
	}
}

// Refusals end: a shard waits longer after each, goes to another worker if there is one, and
// fails after dispatch_max dispatches. A lack of cores or of a renewal does not count against
// the shard.
func TestRefusalsAreCounted(t *testing.T) {
	for _, tt := range []struct {
		code  message.Code
		fails bool
	}{{message.CodeStoreFull, true}, {message.CodeQueueFull, true}, {message.CodeNoCores, false}, {message.CodeNotRenewed, false}, {message.CodeOverloaded, false}} {
		d := newDesk(t, func(c *Config) { c.DispatchMax = 3 }, "w1")
		p := d.submit(2)
		n := 0
		for ; n < 12 && d.attempt("w1") != nil; n++ {
			at := d.Now()
			d.refuse("w1", tt.code)
			if d.attempt("w1") != nil {
				t.Errorf("%v: it comes again at once", tt.code)
			}
			for range 40 { // refusedWait, doubled a few times
				if d.Advance(250 * time.Millisecond); d.attempt("w1") != nil {
					break
				}
				d.lists("w1")
			}
			if wait := d.Now().Sub(at); d.attempt("w1") != nil && wait < refusedWait {
				t.Errorf("%v: it comes again after %v", tt.code, wait)
			}
		}
		if tt.fails && (n != 3 || !p.State.Terminal()) || !tt.fails && n != 12 {
			t.Errorf("%v: %d dispatches, then the subjob is %v", tt.code, n, p.State)
		}
	}
}

// After rerun_max losses of its worker a shard runs once more; the next loss fails it.
func TestRerunsAreCounted(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.RerunMax, c.DispatchMax = 2, 9 }, "w1", "w2", "w3", "w4")
	p := d.submit(2)
	runs := 0
	for range 200 {
		var left []node.ID
		for _, id := range []node.ID{"w1", "w2", "w3", "w4"} {
			if d.up[id] == 0 {
				continue
			}
			if s := d.attempt(id); s != nil { // the worker's last sign of life
				runs++
				delete(d.sent, d.up[id])
				d.up[id] = 0
				continue
			}
			left = append(left, id)
		}
		d.live(1, nil, left...)
	}
	if runs != 3 || p.State != message.JobFailed || len(left(d)) != 1 {
		t.Errorf("it ran %d times on workers that never came back, and is %v; %d workers are known", runs, p.State, len(left(d)))
	}
}

func left(d *desk) (ids []node.ID) {
	for _, w := range d.m.roster.All() {
		ids = append(ids, w.Peer.ID)
	}
	return ids
}

// The manager repeats an end that no gate acknowledges until ResultAge. Then it drops the
// register and all files, and has room again.
func TestResultsGrowTooOld(t *testing.T) {
	d := newDesk(t, func(c *Config) {
		c.ResultAge, c.SweepInterval, c.SubjobsMax, c.Silence = 10*time.Second, time.Second, 1, time.Minute
	}, "w1")
	p := d.submit(2)
	ref := d.accept("w1")
	d.Receive(d.up["w1"], &message.ShardResult{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCompleted})
	if p.Stage < subjob.Recorded {
		t.Fatal("the subjob has not ended")
	}
	d.forget()
	d.live(9, nil, "w1")
	if n := len(took[*message.SubjobResult](d, d.gate)); n < 8 || d.m.subjobs[p.Job] != p {
		t.Errorf("in nine seconds its end is told %d times", n)
	}
	d.live(3, nil, "w1")
	if len(d.m.subjobs) != 0 || d.m.unfinished() != 0 || len(d.m.group.Leases.Held()) != 0 {
		t.Errorf("%d subjobs and %d registers are held for a gate that never comes", len(d.m.subjobs), len(d.m.group.Leases.Held()))
	}
}

// With workers_max workers the manager registers no other until one is gone. A known one may
// always return.
func TestWorkersAreBounded(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.WorkersMax = 2 }, "w1", "w2", "w3")
	if d.m.roster.Len() != 2 || d.m.roster.Of("w3") != nil {
		t.Fatalf("%d workers are known, want 2", d.m.roster.Len())
	}
	d.Break(d.up["w2"], "reset")
	d.arrive("w2")
	if w := d.m.roster.Of("w2"); w == nil || w.Stream != d.up["w2"] {
		t.Error("one that is known could not come back")
	}
	d.live(6, nil, "w2")
	d.arrive("w3")
	if d.m.roster.Of("w3") == nil || d.m.roster.Of("w1") != nil {
		t.Errorf("w1 is gone, and w3 is not taken: %v", left(d))
	}
}

// A worker that finds no place may keep a result of a former attempt. The manager answers once
// the subjob is over, and not before: until then the worker may get a place.
func TestAWorkerWithoutAPlaceForgetsAResult(t *testing.T) {
	d := newDesk(t, func(c *Config) {
		c.WorkersMax, c.ResultAge, c.SweepInterval, c.Silence = 1, 10*time.Second, time.Second, time.Minute
	}, "w1")
	d.submit(2)
	ref := d.accept("w1")
	d.arrive("w2")
	late := &message.ShardResult{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCompleted}
	late.Fence.Attempt--
	d.Receive(d.up["w2"], late)
	if got := took[*message.ShardResultAck](d, d.up["w2"]); len(got) != 0 {
		t.Fatalf("the subjob runs, and the result of a worker without a place got %+v", got)
	}
	d.Receive(d.up["w1"], &message.ShardResult{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCompleted})
	d.live(12, nil, "w1")
	if d.Receive(d.up["w2"], late); d.m.roster.Of("w2") != nil || len(d.m.subjobs) != 0 {
		t.Fatal("w2 has a place, or the subjob is kept")
	}
	if got := took[*message.ShardResultAck](d, d.up["w2"]); len(got) != 1 || got[0].Fence != late.Fence || !got[0].Stale {
		t.Errorf("the subjob is over, and the result of a worker without a place got %+v", got)
	}
}

// An operator's drain order survives a restart of the manager, until an undo: it takes no
// subjob. The manager passes an order for a worker on, and places nothing new there.
func TestDrainOrders(t *testing.T) {
	d := newDesk(t, nil, "w1")
	d.Receive(d.gate, &message.Drain{Node: "w1"})
	if got := took[*message.Drain](d, d.up["w1"]); len(got) != 1 || got[0].Node != "w1" || d.m.draining {
		t.Errorf("w1 is told %+v; the manager drains itself: %v", got, d.m.draining)
	}
	d.Receive(d.gate, &message.Drain{Node: "m1"})
	for _, restarted := range []bool{false, true} {
		if restarted {
			d.Crash()
			d.Start()
			d.gate = d.OpeningTo("g1:1")[0]
			d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
		}
		if code, _ := d.m.room(); !d.m.draining || code != message.CodeDraining {
			t.Errorf("restarted %v: it takes parts (%v)", restarted, code)
		}
	}
	d.Receive(d.gate, &message.Drain{Node: "m1", Undo: true})
	if code, _ := d.m.room(); d.m.draining || code != message.CodeNone {
		t.Errorf("the order was undone: %v", code)
	}
	d.Crash()
	if d.Start(); d.m.draining {
		t.Error("an order that was undone is back after a restart")
	}
}
