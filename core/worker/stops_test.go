package worker

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
	"hyperscale/core/worker/outbox"
)

// An operator stops a worker while shards are in any phase, and twice more. The worker takes
// nothing new. It halts once all shards have ended and all results are acknowledged, or when
// its time is over. It kills executors that do not end and reports that; it loses no result on
// disk.
func TestStopsEndWhateverRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.Silence, c.OutboxMax = time.Hour, 8 })
		const late = 9 // its dispatch comes after the stop
		obeys := rapid.Bool().Draw(t, "executors obey")
		acks := rapid.Bool().Draw(t, "results are acknowledged")
		stopped := false
		d.WatchEvent = func(e node.Event) {
			if e, ok := e.(event.ShardStarted); ok && stopped && e.Shard.Ordinal == late {
				t.Fatalf("%v starts after the stop", e.Shard)
			}
		}
		var results []*message.ShardResult
		watch := func(_ node.StreamID, m node.Message) {
			switch m := m.(type) {
			case *message.ShardResult:
				results = append(results, m)
			case *message.ShardAccepted:
				if stopped && m.Shard.Ordinal == late {
					t.Fatalf("%v is accepted after the stop", m.Shard)
				}
			}
		}
		d.WatchSend = watch
		for n := range uint32(rapid.IntRange(0, 3).Draw(t, "shards")) {
			d.Held = d.Held || rapid.IntRange(0, 2).Draw(t, "fence is on its way") == 0
			x := d.dispatch(0, n, 1, 1)
			if x != nil && !d.Held && rapid.IntRange(0, 2).Draw(t, "ended") == 0 {
				d.finish(x, message.WorkflowCompleted)
			}
			if rapid.IntRange(0, 2).Draw(t, "again") == 0 {
				d.dispatch(0, n, 2, 1)
			}
		}
		stopped = true
		d.Stop()
		if d.Running() && rapid.Bool().Draw(t, "disk goes on") {
			d.Held = false
			for d.Pending() > 0 {
				d.Complete(1, nil)
			}
		}
		if d.Running() {
			refused := 0
			d.WatchSend = func(_ node.StreamID, m node.Message) {
				if r, ok := m.(*message.ShardRefused); ok && r.Code == message.CodeDraining {
					refused++
				}
			}
			if d.dispatch(1, late, 1, 1); refused != 1 {
				t.Fatalf("a dispatch after the stop is refused %d times", refused)
			}
			d.WatchSend = watch
		}
		began := d.Now()
		second := rapid.IntRange(0, 3).Draw(t, "second stop")
		for s := 0; d.Running() && s < 60; s++ {
			if (s == second || s == second+1) && d.Running() { // the third one does not wait
				d.Stop()
			}
			for _, id := range d.Execs() {
				if obeys && d.Running() {
					d.ExecSays(id, &message.ExecResult{State: message.WorkflowCancelled})
					d.ExecGone(id, "", "")
				}
			}
			for _, r := range results {
				if acks && d.Running() {
					d.Receive(d.to[0], &message.ShardResultAck{Shard: r.Shard, Fence: r.Fence})
				}
			}
			results = nil
			if d.Running() {
				d.Advance(time.Second)
			}
		}
		c := d.m.config
		if most := c.DrainTimeout + c.KillGrace + c.Heartbeat + time.Second; d.Running() || d.Now().Sub(began) > most {
			t.Fatalf("it runs: %v, %v after the stop, want at most %v", d.Running(), d.Now().Sub(began), most)
		}
		killed := d.ExecCalls(nodetest.ExecKilled)
		for _, id := range d.Execs() {
			if !slices.ContainsFunc(killed, func(c nodetest.ExecCall) bool { return c.ID == id }) {
				t.Fatalf("executor %v was not killed, and its worker is gone", id)
			}
		}
		for _, x := range d.m.outbox.All() {
			if x.Copy == outbox.Written && !strings.Contains(strings.Join(d.Disk(), " "), keyOf(prefixResult, x.Result.Shard)) {
				t.Fatalf("the result of %v is not on disk", x.Result.Shard)
			}
		}
	})
}

// A stop ends as soon as the last result is acknowledged, and not before.
func TestStopsEnd(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 1)
	d.Stop()
	d.finish(x, message.WorkflowCompleted)
	if !d.Running() {
		t.Fatal("it is gone before any manager has its result")
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

// The worker kills an executor that a cancellation does not end after KillGrace, once.
func TestDeafExecutorsAreKilled(t *testing.T) {
	d := newDesk(t, nil)
	x := d.dispatch(0, 0, 1, 2)
	quick, deaf := x.runs[0].id, x.runs[1].id
	d.Receive(d.to[0], &message.ShardCancel{Shard: shardOf(0), Fence: x.fence, State: message.WorkflowCancelled, Reason: "asked"})
	d.ExecGone(quick, "", "")
	d.Advance(d.m.config.KillGrace - time.Millisecond)
	if killed := d.ExecCalls(nodetest.ExecKilled); len(killed) > 0 {
		t.Fatalf("killed within its grace: %v", killed)
	}
	d.Advance(2 * time.Millisecond)
	if killed := d.ExecCalls(nodetest.ExecKilled); len(killed) != 1 || killed[0].ID != deaf {
		t.Errorf("killed %v, want executor %d once", killed, deaf)
	}
}

// The worker stores a drain order that the disk refused as soon as the disk takes it.
func TestAnOrderIsKeptWhenTheDiskIsWell(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.Silence = time.Hour })
	d.Failure = errors.New("no space left on device")
	d.Receive(d.to[0], &message.Drain{Node: "w1"})
	d.Failure = nil
	if d.Advance(d.m.config.SweepInterval); !slices.Contains(d.Disk(), keyDraining) {
		t.Errorf("the disk has %v: a restart would forget the order", d.Disk())
	}
}
