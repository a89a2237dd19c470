package manager

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// A manager takes over a subjob whose record it cannot read, or whose files are missing or of
// another kind. It reports that, does nothing for the subjob and dispatches nothing. It gives
// the register up so that another manager may try, or asks for a missing file again.
func TestUnreadableRecordsAreGivenUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.Silence = 8 * time.Minute }, "w1")
		p := d.submit(2)
		d.accept("w1")
		absent := message.FileDigest{9}
		file := d.m.group.Files.Keep(d, encode(&message.ShardCancel{Shard: message.ShardID{Job: p.Job}, Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: 1}, State: message.WorkflowCancelled}), 1<<41)
		for d.Pending() > 0 {
			d.Complete(1, nil)
		}
		var record []byte
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			record = rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes")
			if _, err := subjob.Decode(p.Job, record, d.Now()); err == nil {
				t.Skip("these bytes are a record")
			}
			if _, spill := subjob.SpillOf(record); spill {
				t.Skip("these bytes are the name of a file")
			}
		case 1:
			record = subjob.Spilled(absent)
		case 2:
			record = subjob.Spilled(file)
		case 3:
			wrong := *p
			wrong.File = file
			record = wrong.Record(d.Now())
		case 4:
			wrong := *p
			wrong.File = absent
			record = wrong.Record(d.Now())
		}
		d.m.group.Leases.Update(d, p.Job, record, 1<<40)
		d.m.group.Leases.Flush(d)
		for d.Pending() > 0 {
			d.Complete(1, nil)
		}
		d.Crash()
		failed := 0
		d.WatchEvent = func(e node.Event) {
			switch e := e.(type) {
			case event.StoreFailed:
				failed++
			case event.Acted:
				t.Fatalf("it acts on a record that it cannot read: %+v", e)
			}
		}
		d.WatchSend = func(_ node.StreamID, m node.Message) {
			switch m.(type) {
			case *message.ShardDispatch, *message.JobAccepted, *message.SubjobResult:
				t.Fatalf("it sends %+v", m)
			}
		}
		d.Start()
		d.gate = d.OpeningTo("g1:1")[0]
		d.Opened(d.gate, node.Peer{ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"})
		d.arrive("w1")
		d.live(8, nil, "w1") // ledger.GoneMax rounds take longer
		if failed == 0 {
			t.Fatal("it says nothing of the record")
		}
		if now := d.m.subjobs[p.Job]; now != nil && (now.Missing == 0 || len(now.Workflows) > 0 && now.Dispatch != nil) {
			t.Fatalf("it holds the subjob as whole: %+v", now)
		}
	})
}

// The figures of shards decide how a workflow ends. Figures that do not add up fail it, and so
// does a target that refuses every connection, or a script that always fails; otherwise it completes with their sum. The
// manager reports bad figures of a running shard as ignored.
func TestFiguresDecideTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, func(c *Config) { c.Silence = 8 * time.Minute }, "w1", "w2")
		ignored := 0
		d.WatchEvent = func(e node.Event) {
			if _, ok := e.(event.Ignored); ok {
				ignored++
			}
		}
		p := d.submit(6)
		var all []*message.Stats
		torn := false
		var started, refused, broken uint64
		results := map[node.ID]message.Stats{}
		for _, id := range []node.ID{"w1", "w2"} {
			kind := rapid.SampledFrom([]string{"refused", subjob.KindScript}).Draw(t, "kind")
			n := rapid.Uint64Range(0, 4).Draw(t, "started")
			k := rapid.Uint64Range(0, n).Draw(t, "refused")
			if rapid.Bool().Draw(t, "all") {
				k = n
			}
			step := message.StepStats{Name: "get", Kind: message.StepRequest, Started: n, OK: n - k, Failed: k}
			if k > 0 {
				step.Errors = []message.ErrorCount{{Kind: kind, Count: k}}
			}
			s := message.Stats{Steps: []message.StepStats{step, {Name: "page", Kind: message.StepCheck, Started: 7}}}
			if rapid.IntRange(0, 4).Draw(t, "torn") == 0 {
				s.Generator.Lag, torn = message.Histogram{Count: 1}, true
			}
			if started += n; kind == "refused" {
				refused += k
			} else {
				broken += k
			}
			results[id] = s
			all = append(all, &s)
		}
		for _, id := range []node.ID{"w1", "w2"} {
			ref := d.accept(id)
			d.Receive(d.up[id], &message.ShardProgress{Shard: ref.Shard, Fence: ref.Fence, Sequence: 1, Stats: results[id]})
		}
		d.live(2, nil)
		if (ignored > 0) != torn {
			t.Fatalf("figures that add up: %v; told as ignored %d times", !torn, ignored)
		}
		for _, id := range []node.ID{"w1", "w2"} {
			s := d.attempt(id)
			d.Receive(d.up[id], &message.ShardResult{Shard: s.Shard, Fence: s.Fence, State: message.WorkflowCompleted, Stats: results[id]})
		}
		want, why := message.WorkflowCompleted, ""
		if torn {
			want, why = message.WorkflowFailed, "add up"
		} else if started > 0 && refused == started {
			want, why = message.WorkflowFailed, "reached the target (refused)"
		} else if started > 0 && broken == started {
			want, why = message.WorkflowFailed, "iterations worked"
		} else if started > 0 && refused+broken == started {
			want, why = message.WorkflowFailed, "was answered"
		}
		f := p.Workflows[0]
		if f.State != want || !strings.Contains(f.Failure, why) {
			t.Fatalf("%d of %d requests are refused, %d fail by the script, torn: %v: the workflow is %v, %q; want %v, %q", refused, started, broken, torn, f.State, f.Failure, want, why)
		}
		if sum, err := stats.Sum(all); err == nil && !reflect.DeepEqual(p.Result.Subjob.Workflows[0].Stats, sum) {
			t.Fatalf("the subjob's figures are %+v, want %+v", p.Result.Subjob.Workflows[0].Stats, sum)
		}
	})
}
