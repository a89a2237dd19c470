package manager

import (
	"strings"
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// slots sends a heartbeat of a worker with four cores, some of them free, that has used so many of ten
// slots.
func (d *desk) slots(id node.ID, used, free uint32) {
	d.beat++
	d.Receive(d.up[id], &message.WorkerHeartbeat{Datacenter: "dc1", Sequence: d.beat, CoresTotal: 4, CoresFree: free, SlotsUsed: used, SlotsMax: 10})
}

// A workflow whose workers all have too much to do waits, before its cut as well as for another
// attempt of a shard. It fails only once it has found no cores for dispatch_timeout since one of them
// had less.
func TestLoadedWorkersMakeWorkWait(t *testing.T) {
	for _, c := range []struct {
		what  string
		first uint32 // slots in use before the submission
		free  uint32 // cores at the end
	}{
		{"not cut, then it runs", 8, 4},
		{"not cut, then there are no cores", 8, 0},
		{"refused, then it runs", 0, 4},
		{"refused, then there are no cores", 0, 0},
	} {
		const timeout = 10 * time.Second
		d := newDesk(t, func(c *Config) { c.DispatchTimeout, c.DispatchMax = timeout, 2 }, "w1", "w2")
		both := func(used, free uint32) { d.slots("w1", used, free); d.slots("w2", used, free) }
		both(c.first, 4)
		p := d.submit(2)
		for range 60 {
			for _, id := range []node.ID{"w1", "w2"} {
				if d.attempt(id) != nil {
					d.refuse(id, message.CodeOverloaded)
				}
			}
			d.Advance(time.Second)
			both(8, 4)
		}
		if w := p.Workflows[0]; p.State.Terminal() || c.first > 0 && !strings.Contains(w.Waits, "2 workers have too much to do") {
			t.Errorf("%s: the subjob is %v and waits for %q", c.what, p.State, w.Waits)
		}
		d.forget()
		for n := range 10 {
			if p.State.Terminal() {
				t.Errorf("%s: it is %v %d seconds after workers had less to do", c.what, p.State, n)
			}
			both(7, c.free)
			d.Advance(time.Second)
			both(7, c.free)
		}
		runs := d.attempt("w1") != nil || d.attempt("w2") != nil
		if want := c.free > 0; runs != want || p.State.Terminal() == want {
			t.Errorf("%s: it runs: %v, and is %v", c.what, runs, p.State)
		}
	}
}

// A worker that refused a shard for its load gets none for as long as it asks, and not for ever.
// Another one gets it meanwhile.
func TestAWorkerIsSparedForItsTime(t *testing.T) {
	for _, c := range []struct {
		asks, want time.Duration
	}{{5 * time.Second, 5 * time.Second}, {30 * time.Second, 30 * time.Second}, {time.Hour, 30 * time.Second}} {
		d := newDesk(t, nil, "w1")
		d.submit(2)
		s := d.attempt("w1")
		d.forget()
		d.Receive(d.up["w1"], &message.ShardRefused{Shard: s.Shard, Fence: s.Fence, Code: message.CodeOverloaded, CoresFree: 4, RetryAfter: c.asks})
		at := d.Now()
		for d.attempt("w1") == nil && d.Now().Sub(at) < time.Minute {
			d.Advance(250 * time.Millisecond)
			d.lists("w1")
		}
		if took := d.Now().Sub(at); took != c.want {
			t.Errorf("it asks for %v, and gets a shard after %v, want %v", c.asks, took, c.want)
		}
		s = d.attempt("w1")
		d.arrive("w2")
		d.forget()
		d.Receive(d.up["w1"], &message.ShardRefused{Shard: s.Shard, Fence: s.Fence, Code: message.CodeOverloaded, CoresFree: 4, RetryAfter: c.asks})
		if d.Advance(250 * time.Millisecond); d.attempt("w2") == nil {
			t.Errorf("it asks for %v: another worker has cores, and the shard waits", c.asks)
		}
	}
}

// A workflow that runs alone asks for no worker while one of them takes nothing: it would leave that
// one out.
func TestALoneWorkflowWaitsForALoadedWorker(t *testing.T) {
	d := newDesk(t, nil, "w1", "w2")
	beat := func(used uint32) {
		for range 3 {
			d.Advance(time.Second)
			d.slots("w1", used, 4)
			d.slots("w2", 0, 4)
		}
	}
	beat(8)
	d.Receive(d.gate, &message.JobDispatch{
		Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour,
		Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{Name: "a", Test: true, VUs: 8, Timeout: time.Second, Priority: message.PriorityExclusive, Steps: home()}}},
	})
	beat(8)
	holds := func() int {
		return len(took[*message.WorkerHold](d, d.up["w1"])) + len(took[*message.WorkerHold](d, d.up["w2"]))
	}
	if w := d.m.subjobs[message.JobID{1}].Workflows[0]; holds() > 0 || !strings.Contains(w.Waits, "worker w1 to hand over its results") {
		t.Errorf("%d workers are asked, and it waits for %q", holds(), w.Waits)
	}
	if beat(7); holds() == 0 {
		t.Error("no worker is asked, and both take shards")
	}
}
