package worker

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// The worker ignores a message that its sender may not send, or that names nothing of this
// worker. It closes a stream of a role that it does not serve, and refuses a command.
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
			t.Fatalf("%d messages are ignored, want %d; the shard is in phase %d; before\n%s\nafter\n%s", told, want, x.phase, before, after)
		}
	})
}
