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

// A worker connects to the managers of a later set once a majority of its own tells the very same one.
func TestAWorkerFollowsAMajority(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.Managers = append(c.Managers, "m3:1") })
	links := func() (all []string) {
		for _, l := range d.m.managers.links.All() {
			all = append(all, string(l.Addr))
		}
		return slices.Sorted(slices.Values(all))
	}
	tell := func(i int, version uint64, set ...string) {
		d.Receive(d.to[i], &message.HeartbeatAck{Sequence: 1, Set: set, SetVersion: version})
	}
	tell(0, 9, "m1:1", "m8:1", "m9:1")
	tell(0, 1, "m1:1", "m2:1", "m4:1")
	tell(1, 2, "m1:1", "m2:1", "m4:1")
	tell(1, 1, "m1:1", "m2:1", "m5:1")
	if got := links(); !slices.Equal(got, []string{"m1:1", "m2:1", "m3:1"}) {
		t.Fatalf("one manager's word connects it to %v", got)
	}
	tell(1, 1, "m1:1", "m2:1", "m4:1")
	if got := links(); !slices.Equal(got, []string{"m1:1", "m2:1", "m4:1"}) {
		t.Fatalf("a majority's word connects it to %v", got)
	}
}
