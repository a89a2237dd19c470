package worker

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A worker refuses a dispatch, before it writes anything, exactly while results that managers may take
// soon fill four fifths of its outbox: whatever cores are taken, and however many results of a manager
// wait that is away for good. It warns once from seven tenths until less than six tenths.
func TestSlotsRefuseDispatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const away = 5 * time.Second
		most := rapid.IntRange(1, 12).Draw(t, "outbox")
		d := newDesk(t, func(c *Config) {
			c.OutboxMax, c.Cores, c.RenewalTimeout, c.Silence = most, 4, away, time.Hour
		})
		near := false
		var sent node.Message
		d.WatchEvent = func(e node.Event) {
			if e, ok := e.(event.BoundNear); ok {
				if e.Near == near || near && 10*e.Used >= 6*e.Bound || !near && 10*e.Used < 7*e.Bound {
					t.Fatalf("near %v: %+v", near, e)
				}
				near = e.Near
			}
		}
		beats := [2]uint64{1, 1}
		d.WatchSend = func(s node.StreamID, m node.Message) {
			switch m := m.(type) {
			case *message.WorkerHeartbeat:
				for i, to := range d.to {
					if to == s {
						beats[i] = m.Sequence
					}
				}
			case *message.ShardAccepted, *message.ShardRefused:
				sent = m
			}
		}
		absent := rapid.Bool().Draw(t, "m2 is away for good")
		for n := range uint32(40) {
			d.ack(0, beats[0])
			if !absent {
				d.ack(1, beats[1])
			}
			by := rapid.IntRange(0, 1).Draw(t, "manager")
			if absent && n >= uint32(most) {
				by = 0
			}
			used := uint64(0)
			for _, x := range d.m.outbox.All() {
				if x.Manager == "m1" && len(d.StreamsOf("m1")) > 0 || x.Manager == "m2" && len(d.StreamsOf("m2")) > 0 || d.Now().Sub(x.Ended) < away {
					used++
				}
			}
			before := len(d.Disk())
			sent = nil
			x := d.dispatch(by, n, 1, 1)
			r, refused := sent.(*message.ShardRefused)
			switch full := 5*used >= 4*uint64(most); {
			case full && (!refused || r.Code != message.CodeOverloaded || r.RetryAfter != 30*time.Second || len(d.Disk()) != before || x != nil):
				t.Fatalf("%d of %d slots are used: %+v, %d records more", used, most, sent, len(d.Disk())-before)
			case !full && refused && r.Code == message.CodeOverloaded:
				t.Fatalf("%d of %d slots are used: %+v", used, most, r)
			}
			if x != nil && rapid.IntRange(0, 3).Draw(t, "ends") > 0 {
				d.finish(x, message.WorkflowCompleted)
			}
			if all := d.m.outbox.All(); len(all) > 0 && all[0].Manager == "m1" && rapid.Bool().Draw(t, "acknowledged") {
				d.Receive(d.to[0], &message.ShardResultAck{Shard: all[0].Result.Shard, Fence: all[0].Result.Fence})
			}
			if absent && n == uint32(most) {
				for _, s := range d.StreamsOf("m2") {
					d.Break(s, "reset")
				}
			}
			d.Advance(time.Duration(rapid.IntRange(0, 2).Draw(t, "seconds")) * time.Second)
		}
		if total := d.m.outbox.Len(); total > most+d.m.cores.Total() {
			t.Fatalf("%d results wait, the bound is %d and %d cores", total, most, d.m.cores.Total())
		}
	})
}

// A manager that never returns holds the outbox at its bound for a day. Ten seconds later the worker
// takes shards of the others, and loses no result of theirs.
func TestResultsOfAnAbsentManagerCloseNoWorker(t *testing.T) {
	d := newDesk(t, func(c *Config) { c.OutboxMax, c.Cores, c.RenewalTimeout, c.Silence = 5, 5, 5*time.Second, time.Hour })
	for n := range uint32(4) {
		d.finish(d.dispatch(1, n, 1, 1), message.WorkflowCompleted)
	}
	d.Break(d.to[1], "reset")
	if x := d.dispatch(0, 9, 1, 1); x != nil {
		t.Error("four of five slots are used by a manager that left a moment ago, and it takes a shard")
	}
	d.Advance(5 * time.Second)
	for n := range uint32(40) {
		d.ack(0, d.m.managers.links.Peer("m1").Sequence)
		x := d.dispatch(0, 10+n, 1, 1)
		if x == nil {
			t.Fatalf("shard %d is not taken, and all results that wait are of a manager that is away", n)
		}
		d.finish(x, message.WorkflowCompleted)
		if d.m.shards[shardOf(10+n)].result == nil {
			t.Fatalf("the result of shard %d is lost", n)
		}
		d.Receive(d.to[0], &message.ShardResultAck{Shard: shardOf(10 + n), Fence: ref(10+n, 1).Fence})
		d.Advance(time.Second)
	}
	if n := d.m.outbox.Len(); n > 5 {
		t.Errorf("%d results wait, the bound is 5", n)
	}
}
