package worker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// The worker remembers each refused shard by its highest fence, up to a bound on shards.
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

// A dispatch finds room, or the worker refuses it with the reason. While it remembers the
// refusal, it starts the shard under no fence at or below the refused one.
func TestDispatchesFindRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const remembered = 3
		d := newDesk(t, func(c *Config) { c.FencesMax, c.Silence = remembered, time.Hour })
		var answer node.Message
		d.WatchSend = func(_ node.StreamID, m node.Message) {
			switch m.(type) {
			case *message.ShardRefused, *message.ShardAccepted:
				answer = m
			}
		}
		draining := false
		high, refused := map[uint32]uint64{}, map[uint32]uint64{}
		var order []uint32 // of the refused shards
		free := uint32(4)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.IntRange(0, 4).Draw(t, "orders") == 0 {
				draining = !draining
				d.Receive(d.to[0], &message.Drain{Node: "w1", Undo: !draining})
				continue
			}
			n, attempt := rapid.Uint32Range(0, 6).Draw(t, "shard"), rapid.Uint64Range(0, 5).Draw(t, "attempt")
			msg := &message.ShardDispatch{
				Shard: shardOf(n), Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: attempt}, Workflow: "load", Program: message.Program{Main: "m"},
				PlanDigest: 9, VUs: 100, Cores: rapid.SampledFrom([]uint32{1, 1, 1, 2, 5}).Draw(t, "cores"),
			}
			long := rapid.IntRange(0, 9).Draw(t, "long name") == 0
			if long {
				msg.Workflow = strings.Repeat("w", 257)
			}
			if high[n] > 0 {
				continue // TestCoresAndFencesHold covers running shards
			}
			want := message.CodeNone
			switch {
			case draining:
				want = message.CodeDraining
			case attempt == 0, long:
				want = message.CodeBadPlan
			case msg.Cores > 4:
				want = message.CodeNoCores
			case slices.Contains(order, n) && attempt <= refused[n]:
				want = message.CodeNotRenewed
			case msg.Cores > free:
				want = message.CodeNoCores
			}
			answer = nil
			d.Receive(d.to[0], msg)
			if want == message.CodeNone {
				if _, ok := answer.(*message.ShardAccepted); !ok {
					t.Fatalf("%v under attempt %d: %+v, want it accepted", msg.Shard, attempt, answer)
				}
				high[n], free = attempt, free-msg.Cores
				continue
			}
			if r, ok := answer.(*message.ShardRefused); !ok || r.Code != want || r.Detail == "" || r.CoresFree != free {
				t.Fatalf("%v under attempt %d: %+v, want it refused, %v, with %d free cores", msg.Shard, attempt, answer, want, free)
			}
			if !slices.Contains(order, n) {
				if refused[n] = 0; len(order) == remembered {
					delete(refused, order[0])
					order = order[1:]
				}
				order = append(order, n)
			}
			refused[n] = max(refused[n], attempt)
			if n := d.m.refusals.Len(); n != len(order) {
				t.Fatalf("%d refusals are remembered, want %d", n, len(order))
			}
		}
	})
}

// Executors get all that a dispatch carries for them.
func TestExecutorsGetTheirShare(t *testing.T) {
	d := newDesk(t, nil)
	r := ref(0, 1)
	d.Receive(d.to[0], &message.ShardDispatch{
		Shard: r.Shard, Fence: r.Fence, Workflow: "load", Program: message.Program{Main: "main.star"}, PlanDigest: 9, VUs: 7, FirstVU: 3, Cores: 1,
		Duration: 5, Timeout: 6, Rows: message.RowShare{Index: 1, Of: 2},
	})
	starts := d.ExecCalls(nodetest.ExecStarted)
	if len(starts) != 1 {
		t.Fatalf("%d executors start, want 1", len(starts))
	}
	got := starts[0].Message.(*message.ExecStart)
	if got.VUs != 7 || got.FirstVU != 3 || got.Duration != 5 || got.Timeout != 6 || got.Rows != (message.RowShare{Index: 1, Of: 2}) || got.PlanDigest != 9 {
		t.Errorf("it is started with %+v", got)
	}
}
