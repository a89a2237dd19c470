package manager

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Gates abort workflows under any fence, valid or not, next to cancellations and results, while
// the disk is slow. The manager rejects an order below the highest epoch and names that epoch.
// It ignores an order that fits no workflow, or no subjob that it holds. An aborted workflow
// ends FAILED with the first reason, unless all of its shards completed.
func TestAbortsNeedAuthority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(t, nil, "w1", "w2")
		d.Receive(d.gate, &message.JobDispatch{
			Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 2}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour,
			Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{
				{Name: "a", Test: true, VUs: 8, Timeout: time.Second, Cores: 2, Steps: home()},
				{Name: "b", Test: true, VUs: 99, Timeout: time.Second, Steps: home(), Cores: rapid.SampledFrom([]uint32{2, 99}).Draw(t, "cores")}, // 99 cores are never there
			}},
		})
		p := d.m.subjobs[message.JobID{1}]
		epoch := uint64(2)
		var why [2]string // that a majority has, or will have
		cancelled := false
		ignored, refused := 0, 0
		d.WatchEvent = func(e node.Event) {
			switch e.(type) {
			case event.Ignored:
				ignored++
			case event.FenceRefused:
				refused++
			}
		}
		for i := range rapid.IntRange(1, 14).Draw(t, "steps") {
			switch rapid.IntRange(0, 10).Draw(t, "what") {
			default:
				a := &message.SubjobAbort{
					Job: message.JobID{1}, Fence: message.Fence{JobEpoch: rapid.Uint64Range(1, 4).Draw(t, "epoch"), Attempt: rapid.SampledFrom([]uint64{0, 0, 0, 1}).Draw(t, "attempt")},
					Workflow: rapid.Uint32Range(0, 2).Draw(t, "workflow"), Reason: strings.Repeat("r", i+1),
				}
				elsewhere := rapid.IntRange(0, 9).Draw(t, "elsewhere") == 0
				if elsewhere {
					a.Job[0] = 9
				}
				wantIgnored, wantRefused := 0, 0
				switch {
				case elsewhere:
				case a.Fence.JobEpoch < epoch:
					wantRefused = 1
				case a.Fence.Attempt != 0 || a.Workflow > 1:
					wantIgnored = 1
				default:
					epoch = a.Fence.JobEpoch
					if f := p.Workflows[a.Workflow]; why[a.Workflow] == "" && !cancelled && f.End == message.WorkflowNone && p.Result == nil {
						why[a.Workflow] = a.Reason
					}
				}
				ignored, refused = 0, 0
				before, still := logbook(d.m), d.Pending() == 0
				d.Receive(d.gate, a)
				if ignored != wantIgnored || refused != wantRefused {
					t.Fatalf("abort of workflow %d under %v, the epoch is %d: ignored %d times, refused %d times, want %d and %d", a.Workflow, a.Fence, epoch, ignored, refused, wantIgnored, wantRefused)
				}
				if still && (elsewhere || wantIgnored+wantRefused > 0) && logbook(d.m) != before {
					t.Fatal("an order without authority changes something")
				}
			case 6:
				if !cancelled && p.Result == nil {
					cancelled = true
					d.Receive(d.gate, &message.SubjobCancel{Job: p.Job, Fence: message.Fence{JobEpoch: epoch}, State: message.JobCancelled})
				}
			case 10:
				if id := rapid.SampledFrom([]node.ID{"w1", "w2"}).Draw(t, "refuses"); d.attempt(id) != nil {
					s := d.attempt(id)
					d.Receive(d.up[id], &message.ShardRefused{Shard: s.Shard, Fence: s.Fence, Code: message.CodeNoCores, CoresFree: 4})
				}
			case 7:
				d.Held = !d.Held
			case 8:
				d.Complete(1, nil)
			case 9:
				d.finishes(rapid.SampledFrom([]node.ID{"w1", "w2"}).Draw(t, "worker"), message.WorkflowCompleted)
			}
		}
		d.Held = false
		for d.Pending() > 0 {
			d.Complete(1, nil)
		}
		for range 10 {
			d.live(1, nil, "w1", "w2")
			d.finishes("w1", message.WorkflowCancelled)
			d.finishes("w2", message.WorkflowCancelled)
		}
		if p.Fence.JobEpoch != epoch {
			t.Fatalf("the subjob goes on under epoch %d, the highest was %d", p.Fence.JobEpoch, epoch)
		}
		for i, f := range p.Workflows {
			whole := len(f.Shards) > 0
			for _, s := range f.Shards {
				whole = whole && s.State == message.WorkflowCompleted
			}
			if whole && f.State != message.WorkflowCompleted {
				t.Fatalf("all shards of workflow %d completed, and it is %v", i, f.State)
			}
			if why[i] != "" && !whole && !cancelled && (f.State != message.WorkflowFailed || f.Failure != why[i]) {
				t.Fatalf("workflow %d was aborted with %q and is %v, %q", i, why[i], f.State, f.Failure)
			}
			if why[i] == "" && f.State == message.WorkflowFailed {
				t.Fatalf("nothing aborted workflow %d, and it is FAILED: %s", i, f.Failure)
			}
		}
	})
}

// finishes makes a worker end all shards that it got.
func (d *desk) finishes(id node.ID, state message.WorkflowState) {
	for _, s := range took[*message.ShardDispatch](d, d.up[id]) {
		d.Receive(d.up[id], &message.ShardResult{Shard: s.Shard, Fence: s.Fence, State: state})
	}
}
