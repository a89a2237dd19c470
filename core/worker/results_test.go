package worker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A shard completes when all executors report success, whichever comes last.
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

// The worker counts each executor's reports once, in their order, and none after its result.
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
}

// A renewal makes its manager the first that gets the result; only an acknowledgement of the
// same attempt ends it.
func TestResultsGoToTheirManager(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.finish(x, message.WorkflowCompleted)
	if d.ack(1, 1, ref(0, 1)); x.shard.result.Manager != "m2" {
		t.Errorf("it was renewed by m2, and goes to %s", x.shard.result.Manager)
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

// Executors report figures that add up, that do not, or that no frame can hold together. The
// result fails with that reason, or is their sum. A result that no manager takes stays for
// fence_age, and a drain order until the disk has it.
func TestResultsSayWhatExecutorsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const age = 20 * time.Second
		d := newDesk(t, func(c *Config) { c.Silence, c.FenceAge, c.SweepInterval = time.Hour, age, time.Second })
		var result *message.ShardResult
		d.WatchSend = func(_ node.StreamID, m node.Message) {
			if r, ok := m.(*message.ShardResult); ok {
				result = r
			}
		}
		ignored, want := 0, ""
		d.WatchEvent = func(e node.Event) {
			if _, ok := e.(event.Ignored); ok {
				ignored++
			}
		}
		x := d.dispatch(0, 1, 1, 2)
		sum := uint64(0)
		wide := rapid.IntRange(0, 3).Draw(t, "wide") == 0
		for i, r := range append([]*run(nil), x.runs...) {
			s := message.Stats{Steps: []message.StepStats{{Name: "get", Kind: message.StepRequest, Started: uint64(i + 1), OK: uint64(i + 1)}}}
			sum += uint64(i + 1)
			if rapid.IntRange(0, 3).Draw(t, "torn") == 0 {
				s.Generator.Lag, want = message.Histogram{Count: 1}, "add up"
			}
			for n := 0; wide && n < 450; n++ {
				s.Steps = append(s.Steps, message.StepStats{Name: fmt.Sprint(i, n, strings.Repeat("s", 1170)), Kind: message.StepRequest})
			}
			if rapid.Bool().Draw(t, "progress") {
				d.ExecSays(r.id, &message.ExecProgress{Sequence: 1, Stats: s})
			}
			d.ExecSays(r.id, &message.ExecResult{State: message.WorkflowCompleted, Stats: s})
		}
		if wide && want == "" && len(x.runs) > 1 {
			want = "split the workflow"
		}
		d.Advance(time.Second)
		if (ignored > 0) != (want != "") {
			t.Fatalf("progress is ignored %d times; the result is to say: %q", ignored, want)
		}
		for _, r := range append([]*run(nil), x.runs...) {
			d.ExecGone(r.id, "", "")
		}
		switch {
		case result == nil:
			t.Fatal("the worker sends no result")
		case want == "" && (result.State != message.WorkflowCompleted || result.Stats.Steps[0].Started != sum):
			t.Fatalf("%v with %+v, want COMPLETED with the sum %d", result.State, result.Stats.Steps, sum)
		case want != "" && (result.State != message.WorkflowFailed || !strings.Contains(result.Error, want) || len(result.Stats.Steps) > 0):
			t.Fatalf("%v with %d steps, %q; want FAILED, which says %q", result.State, len(result.Stats.Steps), result.Error, want)
		}
		d.Failure = errors.New("full")
		d.Receive(d.to[0], &message.Drain{Node: "w1"})
		d.Failure = nil
		wait := time.Duration(rapid.IntRange(1, 30).Draw(t, "seconds")) * time.Second
		d.Advance(wait)
		if kept := d.m.outbox.Len() > 0; kept && wait > age+time.Second || !kept && wait < age-time.Second {
			t.Fatalf("after %v the result is kept: %v", wait, kept)
		}
		if wait > time.Second && !strings.Contains(strings.Join(d.Disk(), " "), keyDraining) {
			t.Fatal("the disk does not have the order to drain")
		}
	})
}

// Results leave the outbox in their order, each repeated until its acknowledgement and not
// after it, whatever managers connect and whatever restarts.
func TestOutboxTellsInOrderUntilAcknowledged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.OutboxMax = rapid.IntRange(1, 4).Draw(t, "outbox")
		peers := [2]node.Peer{{ID: "m1", Incarnation: 1, Role: node.RoleManager, Addr: "m1:1"}, {ID: "m2", Incarnation: 1, Role: node.RoleManager, Addr: "m2:1"}}
		w := world(c)
		w.Discard = true
		acked := map[message.ShardRef]bool{}
		owed := []message.ShardRef{} // in the order of their ends
		var burst []message.ShardRef // sent in this step
		w.WatchSend = func(_ node.StreamID, m node.Message) {
			r, ok := m.(*message.ShardResult)
			if !ok {
				return
			}
			which := message.ShardRef{Shard: r.Shard, Fence: r.Fence}
			if acked[which] {
				t.Fatalf("%v is sent after its acknowledgement", which)
			}
			burst = append(burst, which)
		}
		place := func(r message.ShardRef) int {
			for i, o := range owed {
				if o == r {
					return i
				}
			}
			return -1
		}
		w.Start()
		up := func(i int) node.StreamID {
			for _, s := range w.OpeningTo(peers[i].Addr) {
				w.Opened(s, peers[i])
				w.Receive(s, &message.HeartbeatAck{Sequence: 1})
			}
			if all := w.StreamsOf(peers[i].ID); len(all) > 0 {
				return all[len(all)-1]
			}
			return 0
		}
		next := uint32(0)
		running := map[node.ExecID]message.ShardRef{}
		which := rapid.IntRange(0, 1)
		m := func() *Machine { return w.Machine().(*Machine) }
		t.Repeat(map[string]func(*rapid.T){
			"run": func(t *rapid.T) {
				s := up(which.Draw(t, "manager"))
				if s == 0 {
					return
				}
				r := ref(next, 1)
				next++
				before := len(w.Execs())
				w.Receive(s, &message.ShardDispatch{Shard: r.Shard, Fence: r.Fence, Workflow: "load", Program: message.Program{Main: "f"}, PlanDigest: 9, VUs: 1, Cores: 1})
				if ids := w.Execs(); len(ids) > before {
					running[ids[len(ids)-1]] = r
				}
			},
			"end": func(t *rapid.T) {
				if ids := w.Execs(); len(ids) > 0 {
					id := rapid.SampledFrom(ids).Draw(t, "which")
					if r, ok := running[id]; ok {
						owed = append(owed, r)
					}
					w.ExecSays(id, &message.ExecResult{State: message.WorkflowCompleted})
					w.ExecGone(id, "", "")
				}
			},
			"acknowledge": func(t *rapid.T) {
				if len(owed) == 0 {
					return
				}
				r := rapid.SampledFrom(owed).Draw(t, "which")
				if s := up(which.Draw(t, "manager")); s != 0 {
					w.Receive(s, &message.ShardResultAck{Shard: r.Shard, Fence: r.Fence})
					acked[r] = true
				}
			},
			"break": func(t *rapid.T) {
				if s := w.StreamsOf(peers[which.Draw(t, "manager")].ID); len(s) > 0 {
					w.Break(s[0], "reset")
				}
			},
			"retry": func(*rapid.T) { w.Advance(c.ResultRetry) },
			"restart": func(*rapid.T) {
				w.Crash()
				clear(running)
				w.Start()
				owed = owed[:0]
				// by key: the disk has no other order
				owed = append(owed, m().outbox.Refs()...)
			},
			"": func(t *rapid.T) {
				burst = nil
				w.Advance(c.ResultRetry)
				at := -1
				for _, r := range burst {
					if i := place(r); i <= at {
						t.Fatalf("%v is sent out of its order: %v of %v", r, burst, owed)
					} else {
						at = i
					}
				}
				standing := len(w.StreamsOf("m1"))+len(w.StreamsOf("m2")) > 0
				for _, r := range m().outbox.Refs() {
					if acked[r] {
						t.Fatalf("%v is kept after its acknowledgement", r)
					}
					told := false
					for _, b := range burst {
						told = told || b == r
					}
					if standing && !told {
						t.Fatalf("%v waits in the outbox, and is not told: %v", r, burst)
					}
				}
			},
		})
	})
}
