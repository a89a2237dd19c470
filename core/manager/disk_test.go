package manager

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// listed makes each connected worker list the attempts that it got and that have not ended.
func (d *desk) listed(over map[message.ShardRef]bool, ids ...node.ID) {
	for _, id := range ids {
		if d.up[id] == 0 {
			continue
		}
		d.beat++
		hb := &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: d.beat, CoresTotal: 4, CoresFree: 4}
		for _, s := range took[*message.ShardDispatch](d, d.up[id]) {
			if ref := (message.ShardRef{Shard: s.Shard, Fence: s.Fence}); !over[ref] && !slices.Contains(hb.Running, ref) {
				hb.Running = append(hb.Running, ref)
				hb.CoresFree -= min(hb.CoresFree, s.Cores) // shards of a job share what is left
			}
		}
		d.Receive(d.up[id], hb)
	}
}

// A disk refuses and delays writes, and records take their time to become files. The manager
// never runs a shard again whose result it has acknowledged, and each shard counts once. When
// the disk works again, the subjob completes with the sum of all results.
func TestFailingDisksLoseNoResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []node.ID{"w1", "w2"}
		d := newDesk(t, func(c *Config) {
			c.DispatchMax, c.RerunMax, c.DispatchTimeout = 100, 100, time.Hour
			c.SweepInterval, c.Silence = time.Second, 5*time.Second
			c.FileAge = 5*(c.SubjobLease+c.QuorumTimeout) + time.Second
			if rapid.Bool().Draw(t, "records are files") {
				c.SpillAt = 1
			}
		}, ids...)
		acked, counted, over := map[message.ShardID]bool{}, map[message.ShardID]message.Fence{}, map[message.ShardRef]bool{}
		note := d.WatchSend
		d.WatchSend = func(s node.StreamID, m node.Message) {
			note(s, m)
			switch m := m.(type) {
			case *message.ShardResultAck:
				acked[m.Shard] = acked[m.Shard] || !m.Stale
			case *message.ShardDispatch:
				if acked[m.Shard] {
					t.Fatalf("%v is dispatched again, and its result was acknowledged", m.Shard)
				}
			}
		}
		d.WatchEvent = func(e node.Event) {
			if c, ok := e.(event.ShardCounted); ok {
				if counted[c.Shard] == c.Subjob {
					t.Fatalf("%v counts twice under %v", c.Shard, c.Subjob)
				}
				counted[c.Shard] = c.Subjob // the new holder publishes it again
			}
		}
		job := d.submit(6).Job
		end := func(id node.ID) {
			for _, s := range took[*message.ShardDispatch](d, d.up[id]) {
				over[message.ShardRef{Shard: s.Shard, Fence: s.Fence}] = true
				d.Receive(d.up[id], &message.ShardResult{Shard: s.Shard, Fence: s.Fence, State: message.WorkflowCompleted, Stats: requests(10)})
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				d.Held = !d.Held
			case 1:
				d.Complete(1, nil)
			case 2:
				d.Complete(1, errors.New("full"))
			case 3, 4:
				d.Advance(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
				d.listed(over, ids...)
			case 5:
				if id := rapid.SampledFrom(ids).Draw(t, "ends"); d.up[id] != 0 {
					end(id)
				}
			case 6:
				if id := rapid.SampledFrom(ids).Draw(t, "leaves"); d.up[id] != 0 && rapid.Bool().Draw(t, "for long") {
					d.Break(d.up[id], "reset")
					d.up[id] = 0
				}
			case 8:
				d.keepsNothing()
			case 9:
				id := rapid.SampledFrom(ids).Draw(t, "refuses")
				code := rapid.SampledFrom([]message.Code{message.CodeNoCores, message.CodeDraining, message.CodeStoreFull}).Draw(t, "code")
				if s := d.attempt(id); d.up[id] != 0 && s != nil && !over[message.ShardRef{Shard: s.Shard, Fence: s.Fence}] {
					over[message.ShardRef{Shard: s.Shard, Fence: s.Fence}] = true
					d.Receive(d.up[id], &message.ShardRefused{Shard: s.Shard, Fence: s.Fence, Code: code, CoresFree: 4})
				}
			case 7:
				d.Failure = nil
				if rapid.Bool().Draw(t, "disk fails") {
					d.Failure = errors.New("full")
				}
			}
		}
		d.Held, d.Failure = false, nil
		for d.Pending() > 0 {
			d.Complete(1, nil)
		}
		for _, id := range ids {
			if d.up[id] == 0 {
				d.arrive(id)
			}
		}
		for range 120 {
			if len(d.StreamsOf("g1")) == 0 {
				if opening := d.OpeningTo("g1:1"); len(opening) > 0 {
					d.gate = opening[0]
					d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
				}
			}
			if p := d.m.subjobs[job]; p != nil && p.Stage >= subjob.Recorded && len(took[*message.SubjobResult](d, d.gate)) > 0 {
				break
			}
			for _, id := range ids {
				end(id)
			}
			d.Advance(time.Second)
			d.listed(over, ids...)
		}
		told := took[*message.SubjobResult](d, d.gate)
		if len(told) == 0 {
			t.Fatalf("the subjob does not end: %+v", d.m.subjobs[job])
		}
		r := told[len(told)-1].Subjob
		if r.State != message.JobCompleted || len(r.Workflows) != 1 || len(r.Workflows[0].Stats.Steps) != 1 || r.Workflows[0].Stats.Steps[0].Started != uint64(10*len(counted)) {
			t.Fatalf("%d results count, and the subjob is told as %+v", len(counted), r)
		}
	})
}

// keepsNothing makes the archive refuse all files in flight: it is full.
func (d *desk) keepsNothing() {
	for ticket := range uint64(1000) { // the ledger ignores tickets without a waiter
		d.m.ledger.OnFile(d, &archive.Outcome{Kind: archive.Failed, Ticket: ticket, Err: archive.ErrFull})
	}
	d.m.persisted(d)
	d.m.settle(d)
}

// The manager leases rows of a unique feed once, however often executors ask, however slow the
// disk is, and also after a restart. A repeated request gets the same answer.
func TestRowsAreLeasedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const rows = 200
		unique := rapid.IntRange(0, 4).Draw(t, "unique") > 0
		d := newDesk(t, func(c *Config) { c.Silence = 8 * time.Minute }, "w1")
		submit := func() {
			d.Receive(d.gate, &message.JobDispatch{
				Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour, Rows: message.RowShare{Index: 0, Of: 1},
				Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{
					Name: "a", Test: true, VUs: 8, Timeout: time.Second, Cores: 2, Steps: home(), Feed: message.FeedPlan{Name: "rows.csv", Rows: rows, Unique: unique, AtEnd: message.RowsStop},
				}}},
			})
		}
		submit()
		ref := d.accept("w1")
		type ask struct {
			core uint32
			ask  uint64
		}
		has := map[ask]*message.ShardRowsLeased{}
		last := map[uint32]uint64{}
		note := func(_ node.StreamID, m node.Message) {
			l, ok := m.(*message.ShardRowsLeased)
			if !ok {
				return
			}
			key := ask{l.Core, l.Ask}
			if old := has[key]; old != nil && (old.First != l.First || old.Count != l.Count) {
				t.Fatalf("%+v was answered with %d rows from %d, and now with %d from %d", key, old.Count, old.First, l.Count, l.First)
			}
			//lint:orderfree any one that is found fails the test
			for other, o := range has {
				if other != key && l.First < o.First+o.Count && o.First < l.First+l.Count {
					t.Fatalf("%d rows from %d go to %+v, of which %+v has %d from %d", l.Count, l.First, key, other, o.Count, o.First)
				}
			}
			if l.First+l.Count > rows || !unique || l.Core >= subjob.AsksMax {
				t.Fatalf("%d rows from %d of %d go to core %d, unique: %v", l.Count, l.First, rows, l.Core, unique)
			}
			has[key] = l
		}
		d.WatchSend = note
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			default:
				core := rapid.SampledFrom([]uint32{0, 1, subjob.AsksMax}).Draw(t, "core")
				n := max(1, last[core]+rapid.Uint64Range(0, 2).Draw(t, "ask")-1)
				last[core] = max(last[core], n)
				d.Receive(d.up["w1"], &message.ShardRows{Shard: ref.Shard, Fence: ref.Fence, Core: core, Ask: n, Want: rapid.Uint64Range(1, 50).Draw(t, "want")})
			case 3:
				d.Held = true
			case 4:
				d.Complete(1, nil)
			case 5:
				d.Held = false
				for d.Pending() > 0 {
					d.Complete(1, nil)
				}
			case 6:
				d.Held = false
				d.Crash()
				d.sent = map[node.StreamID][]node.Message{}
				d.Start()
				d.WatchSend = note
				d.gate = d.OpeningTo("g1:1")[0]
				d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
				d.up["w1"] = d.Accept(node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"})
				d.lists("w1", ref)
				d.live(1, map[node.ID][]message.ShardRef{"w1": {ref}}, "w1")
			}
		}
	})
}

// A record is a file, and the disk is slow. If the write takes longer than an eighth of the age
// at which other managers delete files, the manager stores the files again before the record
// names them. Otherwise it does not. The subjob completes either way.
func TestFilesAreKeptAgainFromAnEighthOfTheirAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) {
			c.SpillAt, c.Silence, c.SweepInterval = 1, 8*time.Minute, time.Second
			c.SubjobLease, c.RenewalTimeout = 10*time.Second, 30*time.Second
			c.FileAge = 5 * (c.SubjobLease + c.QuorumTimeout)
		}, "w1")
		again := 0
		d.WatchEvent = func(e node.Event) {
			if r, ok := e.(event.Reached); ok && r.What == "ledger/record-late" {
				again++
			}
		}
		job := d.submit(2).Job
		ref := d.accept("w1")
		wait := time.Duration(rapid.IntRange(0, 9000).Draw(t, "ms")) * time.Millisecond
		d.Held = true
		d.Receive(d.up["w1"], &message.ShardResult{Shard: ref.Shard, Fence: ref.Fence, State: message.WorkflowCompleted})
		d.Complete(1, nil) // the result; the record that names it follows
		d.Advance(wait)
		d.Held = false
		for d.Pending() > 0 {
			d.Complete(1, nil)
		}
		if late := wait >= d.m.config.FileAge/8; late != (again > 0) {
			t.Fatalf("the record took %v, an eighth of the age is %v; its files are kept again %d times", wait, d.m.config.FileAge/8, again)
		}
		d.live(3, nil, "w1")
		if p := d.m.subjobs[job]; p == nil || p.State != message.JobCompleted {
			t.Fatalf("the subjob does not complete: %+v", p)
		}
	})
}
