package worker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ledger is all that a worker tells of itself.
func ledger(m *Machine) string {
	var lines []string
	tell := func(what string, n, bound int) { lines = append(lines, fmt.Sprintln(what, n, bound)) }
	m.Sizes(tell)
	m.Rests(tell)
	slices.Sort(lines) // maps tell theirs in any order
	return strings.Join(lines, "")
}

// A message that its sender may not send, or that names nothing of this worker, changes
// nothing. A stream of a role that a worker serves nothing is closed; a command is refused.
func TestStrangeMessagesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, nil)
		x := d.dispatch(0, 1, 1, 2)
		told := 0
		d.WatchEvent = func(e node.Event) {
			if _, ok := e.(event.Ignored); ok {
				told++
			}
		}
		if client := d.Accept(node.Peer{ID: "c1", Incarnation: 1, Role: node.RoleClient, Addr: "c1:1"}); slices.Contains(d.StreamsOf("c1"), client) {
			t.Fatal("a client's stream stands")
		}
		fellow := d.Accept(node.Peer{ID: "w2", Incarnation: 1, Role: node.RoleWorker, Addr: "w2:1"})
		r := ref(1, 1)
		before, want := ledger(d.m), 0
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			want++
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				d.Receive(fellow, &message.ShardCancel{Shard: r.Shard, Fence: r.Fence, State: message.WorkflowCancelled})
			case 1:
				d.Receive(d.to[0], &message.ShardAccepted{Shard: r.Shard, Fence: r.Fence})
			case 2:
				d.Receive(d.to[0], &message.Drain{Node: "w2"})
			case 3:
				c := &message.ShardCancel{Shard: r.Shard, Fence: r.Fence, State: message.WorkflowCompleted}
				if rapid.Bool().Draw(t, "of no attempt") {
					c.State, c.Fence.Attempt = message.WorkflowCancelled, 0
				}
				d.Receive(d.to[0], c)
			case 4:
				want--
				d.ack(0, 1000, r) // of no heartbeat
			case 5:
				want--
				d.Discard = false
				d.Command(&message.JobQuery{Request: message.RequestID{Incarnation: 1, Counter: 1}, Job: r.Shard.Job})
				if answer := d.Take(); !strings.Contains(answer, "ask a gate") {
					t.Fatalf("a command is answered with %q", answer)
				}
				d.Discard = true
			}
		}
		if after := ledger(d.m); after != before || told != want || x.phase != running {
			t.Fatalf("%d messages are told as ignored, want %d; the shard is in phase %d; before\n%s\nafter\n%s", told, want, x.phase, before, after)
		}
	})
}

// A dispatch finds room or is refused with the reason, and a shard that was refused starts
// under no fence at or below it, for as long as refusals are remembered.
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
		var order []uint32 // of the shards that were refused
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
				continue // what becomes of a shard that runs is in TestCoresAndFencesHold
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
