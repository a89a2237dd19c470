package worker

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/uplink"
)

// desk is a worker with two managers whose subjobs are looked at.
type desk struct {
	*nodetest.Env
	t  rapid.TB
	m  *Machine
	to [2]node.StreamID
}

func newDesk(t rapid.TB, change func(*Config)) *desk {
	c := small()
	if change != nil {
		change(&c)
	}
	d := &desk{t: t}
	d.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"},
		New:  func() node.Machine { d.m = New(c); return d.m },
	})
	d.Discard = true
	d.Start()
	for i := range d.to {
		d.open(i)
	}
	return d
}

// open lets a manager take the stream that is being opened to it.
func (d *desk) open(i int) {
	id := [2]node.ID{"m1", "m2"}[i]
	d.to[i] = d.OpeningTo(node.Addr(id + ":1"))[0]
	d.Opened(d.to[i], node.Peer{ID: id, Incarnation: 1, Role: node.RoleManager, Addr: node.Addr(id + ":1")})
	d.ack(i, 1)
}

func (d *desk) ack(i int, sequence uint64, named ...message.ShardRef) {
	d.Receive(d.to[i], &message.HeartbeatAck{Sequence: sequence, Shards: named})
}

func shardOf(n uint32) message.ShardID { return message.ShardID{Job: message.JobID{1}, Ordinal: n} }

func ref(n uint32, attempt uint64) message.ShardRef {
	return message.ShardRef{Shard: shardOf(n), Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: attempt}}
}

func (d *desk) dispatch(i int, n uint32, attempt uint64, cores uint32) *execution {
	r := ref(n, attempt)
	d.Receive(d.to[i], &message.ShardDispatch{Shard: r.Shard, Fence: r.Fence, Workflow: "load", Program: message.Program{Main: "main.star"}, PlanDigest: 9, VUs: 4, Cores: cores})
	if s := d.m.shards[r.Shard]; s != nil {
		return s.current
	}
	return nil
}

// finish ends what runs of an execution.
func (d *desk) finish(x *execution, states ...message.WorkflowState) {
	for i, r := range append([]*run(nil), x.runs...) {
		d.ExecSays(r.id, &message.ExecResult{State: states[min(i, len(states)-1)]})
	}
	for _, r := range append([]*run(nil), x.runs...) {
		d.ExecGone(r.id, "", "")
	}
}

// What was refused is remembered at its highest fence, and of so many shards.
func TestRefusalsAreRememberedAtTheirHighest(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.FencesMax = 3 })
	d.dispatch(0, 1, 5, 9)
	d.dispatch(0, 1, 2, 9)
	if x := d.dispatch(0, 1, 4, 1); x != nil {
		t.Error("an attempt below one that was refused has started")
	}
	for n := range uint32(9) {
		d.dispatch(0, 10+n, 1, 9)
	}
	if n := d.m.refusals.Len(); n != 3 {
		t.Errorf("%d refusals are remembered, want 3", n)
	}
}

// Renewals never shorten, and never revive what is over.
func TestRenewalsMoveOnOnly(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.Silence = time.Hour })
	x := d.dispatch(0, 0, 1, 1)
	sent := d.Now()
	d.Advance(20 * time.Second)
	late := d.m.managers.links.All()[0].Sequence
	early := d.m.managers.links.All()[1].Sequence - 10
	d.ack(0, late, ref(0, 1))
	until := x.until
	if until < sent.Add(79*time.Second) {
		t.Fatalf("renewed until %v", until)
	}
	if d.ack(1, early, ref(0, 1)); x.until != until || x.manager != "m2" {
		t.Errorf("an older renewal by another manager: until %v, want %v; told is %s", x.until, until, x.manager)
	}
}

// A deadline that has come stands, though no timer has fired yet.
func TestWhatIsOverIsNotRenewed(t *testing.T) {
	d := newDesk(t, nil)
	x := &execution{config: &d.m.config, shard: &shard{id: shardOf(0)}, until: d.Now()}
	if x.extend(d, "m2", d.Now().Add(time.Hour)); x.until != d.Now() {
		t.Error("what is over was renewed")
	}
}

// A dispatch runs on an answer that is younger than the timeout.
func TestOldAnswersAllowNothing(t *testing.T) {
	const timeout = time.Minute
	l := &uplink.Link{}
	for _, tc := range []struct {
		answered, now node.Instant
		ok            bool
	}{{0, 1, false}, {5, 5, true}, {5, node.Instant(5).Add(timeout - 1), true}, {5, node.Instant(5).Add(timeout), false}} {
		m := managers{rhythms: map[*uplink.Link]*rhythm{l: {answered: tc.answered}}, timeout: timeout}
		if until, ok := m.limit(tc.now, l); ok != tc.ok || ok && until != tc.answered.Add(timeout) {
			t.Errorf("answered at %v, at %v it may run until %v, %v; want %v", tc.answered, tc.now, until, ok, tc.ok)
		}
	}
}

// A heartbeat may be answered twice, an older one late; a new stream begins anew.
func TestHeartbeatsAreAnswered(t *testing.T) {
	r := &rhythm{sent: []beat{{3, 30}, {4, 40}, {5, 50}}}
	for range 2 {
		if at, ok := r.answer(4); !ok || at != 40 {
			t.Fatalf("the second heartbeat was sent at %v, %v", at, ok)
		}
	}
	r.sent = append([]beat{{3, 30}}, r.sent...)
	r.answer(3)
	if r.answered != 40 {
		t.Errorf("the newest that was answered was sent at %v", r.answered)
	}
	d := newDesk(t, nil)
	d.Advance(5 * time.Second)
	d.Break(d.to[0], "cut")
	d.Advance(5 * time.Second)
	d.to[0] = d.OpeningTo("m1:1")[0]
	d.Opened(d.to[0], node.Peer{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"})
	if got := d.m.managers.rhythms[d.m.managers.links.All()[0]]; got.answered != 0 || len(got.sent) != 1 {
		t.Errorf("a new stream begins with %+v", got)
	}
}

// A shard is over well when all executors say so, whichever comes last.
func TestOneOfTwoExecutorsIsNotAll(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 2)
	d.finish(x, message.WorkflowFailed, message.WorkflowCompleted)
	if got := x.shard.result; got == nil || got.Result.State != message.WorkflowFailed {
		t.Errorf("one of two executors failed: %+v", got)
	}
	x = &execution{runs: []*run{{result: &message.ExecResult{State: message.WorkflowCancelled}}, {result: &message.ExecResult{State: message.WorkflowCompleted}}}, stop: message.WorkflowCancelled}
	if state, _ := x.outcome(); state != message.WorkflowCancelled {
		t.Errorf("one cancelled and one completed are %v", state)
	}
}

// What executors say is counted once, in its order, and not after their result.
func TestProgressEndsWithTheResult(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 2)
	r := x.runs[0]
	say := func(sequence, started uint64) {
		d.ExecSays(r.id, &message.ExecProgress{Sequence: sequence, Stats: message.Stats{Active: started}})
	}
	say(2, 20)
	say(1, 10)
	if r.stats.Active != 20 {
		t.Errorf("an older progress counts: %d", r.stats.Active)
	}
	d.ExecSays(r.id, &message.ExecResult{State: message.WorkflowCompleted, Stats: message.Stats{Active: 30}})
	say(3, 25)
	if r.stats.Active != 30 {
		t.Errorf("a progress behind the result counts: %d", r.stats.Active)
	}
	s := settle(message.Stats{Active: 4, Steps: []message.StepStats{{Started: 10, OK: 3, Failed: 2, TimedOut: 1, Cancelled: 1}}})
	if got := s.Steps[0].Cancelled; got != 4 || s.Active != 0 {
		t.Errorf("of 10 starts 6 ended by themselves: %d were cancelled, %d are active", got, s.Active)
	}
}

// A renewal makes its manager the first that a result goes to; only its own
// acknowledgement ends it.
func TestResultsGoToTheirManager(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.finish(x, message.WorkflowCompleted)
	if d.ack(1, 1, ref(0, 1)); x.shard.result.Manager != "m2" {
		t.Errorf("it was renewed by m2, and is told %s", x.shard.result.Manager)
	}
	d.Receive(d.to[0], &message.ShardResultAck{Shard: shardOf(0), Fence: ref(0, 2).Fence})
	if d.m.outbox.Len() != 1 {
		t.Error("the acknowledgement of another attempt ended it")
	}
	d.Receive(d.to[0], &message.ShardResultAck{Shard: shardOf(0), Fence: ref(0, 1).Fence})
	if d.m.outbox.Len() != 0 {
		t.Error("its own acknowledgement did not")
	}
}

// A stop ends as soon as the last result is acknowledged, and not before; and it ends.
func TestStopsEnd(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.Stop()
	d.finish(x, message.WorkflowCompleted)
	if !d.Running() {
		t.Fatal("it is gone before its result is known to anybody")
	}
	d.Receive(d.to[0], &message.ShardResultAck{Shard: shardOf(0), Fence: ref(0, 1).Fence})
	if d.Running() {
		t.Error("nothing is left to do, and it stays")
	}
	d = newDesk(t, nil)
	d.dispatch(0, 0, 1, 1)
	d.Stop()
	for range 60 {
		d.Advance(time.Second)
		if d.Running() {
			d.ack(0, d.m.managers.links.All()[0].Sequence)
			d.ack(1, d.m.managers.links.All()[1].Sequence)
		}
	}
	if d.Running() {
		t.Error("an executor that does not stop keeps its worker for ever")
	}
}

// What was superseded is waited for once, however often it is given up.
func TestLeaversAreCountedOnce(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.dispatch(0, 0, 2, 1)
	x.giveUp(d)
	if x.shard.leaving != 1 {
		t.Errorf("%d leave, want 1", x.shard.leaving)
	}
	next := x.shard.current
	if next == x || next.phase != waiting {
		t.Fatalf("the second attempt is not waiting: %+v", next)
	}
	for _, ref := range d.m.listed() {
		if ref.Fence != next.fence {
			t.Errorf("it lists %v, which is superseded", ref.Fence)
		}
	}
	d.finish(x, message.WorkflowCancelled)
	if next.phase != running {
		t.Errorf("the second attempt does not start behind the first: phase %d", next.phase)
	}
	r := next.runs[0]
	r.asks = &message.ExecRows{Ask: 1, Want: 5}
	if d.Receive(d.to[0], &message.ShardRowsLeased{Shard: shardOf(0), Fence: x.fence, Ask: 1, Count: 5}); r.asks == nil {
		t.Error("rows that were leased to a former attempt are handed out")
	}
}

// Executors get all that a dispatch carries for them.
func TestExecutorsGetTheirShare(t *testing.T) {
	d := newDesk(t, nil)
	var got *message.ExecStart
	d.WatchStart = func(_ node.ExecID, _ int, m node.Message) { got = m.(*message.ExecStart) }
	r := ref(0, 1)
	d.Receive(d.to[0], &message.ShardDispatch{
		Shard: r.Shard, Fence: r.Fence, Workflow: "load", Program: message.Program{Main: "main.star"}, PlanDigest: 9, VUs: 7, FirstVU: 3, Cores: 1,
		Duration: 5, Timeout: 6, Rows: message.RowShare{Index: 1, Of: 2},
	})
	if got == nil || got.VUs != 7 || got.FirstVU != 3 || got.Duration != 5 || got.Timeout != 6 || got.Rows != (message.RowShare{Index: 1, Of: 2}) || got.PlanDigest != 9 {
		t.Errorf("it is started with %+v", got)
	}
}

// An order to drain that the disk refused is kept once it takes it.
func TestAnOrderIsKeptWhenTheDiskIsWell(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.Silence = time.Hour })
	d.Failure = errors.New("no space left on device")
	d.Receive(d.to[0], &message.Drain{Node: "w1"})
	d.Failure = nil
	if d.Advance(d.m.config.SweepInterval); !slices.Contains(d.Disk(), keyDraining) {
		t.Errorf("the disk has %v: a restart would forget the order", d.Disk())
	}
}

// What was superseded by a fence whose own dispatch came to nothing runs on for a moment:
// until it is gone it is listed under that fence, as nobody must take it for stopped.
func TestListsUnderTheFenceOnDisk(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.Held = true
	d.dispatch(0, 0, 2, 1)
	d.dispatch(0, 0, 3, 1) // the second is given up for it, and is on its way to the disk
	d.Complete(1, nil)
	d.Complete(1, errors.New("no space left on device"))
	if x.phase != ending || !x.silent || x.shard.current != nil {
		t.Fatalf("the first attempt is not on its way out: phase %d, silent %v", x.phase, x.silent)
	}
	if got := d.m.listed(); len(got) != 1 || got[0] != ref(0, 2) {
		t.Errorf("it lists %v, and %v is on disk", got, ref(0, 2).Fence)
	}
	d.Held = false
	for d.Pending() > 0 {
		d.Complete(1, nil)
	}
	d.finish(x, message.WorkflowCancelled)
	if got := d.m.listed(); len(got) != 0 {
		t.Errorf("all is gone, and it lists %v", got)
	}
}

// An executor that a cancellation does not end is killed after KillGrace, once.
func TestDeafExecutorsAreKilled(t *testing.T) {
	d := newDesk(t, nil)
	killed := map[node.ExecID]int{}
	d.WatchKill = func(id node.ExecID) { killed[id]++ }
	x := d.dispatch(0, 0, 1, 2)
	quick, deaf := x.runs[0].id, x.runs[1].id
	d.Receive(d.to[0], &message.ShardCancel{Shard: shardOf(0), Fence: x.fence, State: message.WorkflowCancelled, Reason: "asked"})
	d.ExecGone(quick, "", "")
	d.Advance(d.m.config.KillGrace - time.Millisecond)
	if len(killed) > 0 {
		t.Fatalf("killed within its grace: %v", killed)
	}
	d.Advance(2 * time.Millisecond)
	if killed[deaf] != 1 || killed[quick] != 0 {
		t.Errorf("killed %v, want executor %d once", killed, deaf)
	}
}
