package manager

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// flow is what the model knows about a workflow.
type flow struct {
	plan    *message.WorkflowPlan
	before  []uint32 // all that must have ended before it
	state   message.WorkflowState
	ready   node.Instant // when it could begin
	started bool
	runs    map[message.ShardRef]bool // dispatched, and not yet over
}

// Workflows of all priorities wait for each other and for cores. No workflow begins before its
// dependencies have completed, or before the workflows that it starts after have ended. None
// begins next to one that runs alone, none gives up before the dispatch timeout, and all end.
func TestWorkflowsTakeTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 20 * time.Second
		ids := []node.ID{"w1", "w2"}
		d := newDesk(t, func(c *Config) {
			c.DispatchTimeout, c.RerunMax, c.DispatchMax, c.Silence = most, 100, 100, 8*time.Minute
		}, ids...)
		jobs := map[message.JobID][]*flow{}
		over := map[message.ShardRef]bool{}
		begin := func(id message.ShardID, fence message.Fence) {
			f := jobs[id.Job][id.Workflow]
			for _, on := range f.before {
				other := jobs[id.Job][on]
				if !other.state.Terminal() || slices.Contains(f.plan.Depends, on) && other.state != message.WorkflowCompleted {
					t.Fatalf("%v begins, and workflow %d before it is %v", id, on, other.state)
				}
			}
			f.started = true
			f.runs[message.ShardRef{Shard: id, Fence: fence}] = true
			//lint:orderfree each is looked at by itself
			for job, flows := range jobs {
				for i, other := range flows {
					under := other != f && len(other.runs) > 0
					if under && (other.plan.Priority == message.PriorityExclusive || f.plan.Priority == message.PriorityExclusive) {
						t.Fatalf("%v of priority %v begins beside workflow %d of %v, priority %v", id, f.plan.Priority, i, job, other.plan.Priority)
					}
				}
			}
		}
		note := d.WatchSend
		d.WatchSend = func(s node.StreamID, m node.Message) {
			note(s, m)
			if m, ok := m.(*message.ShardDispatch); ok {
				begin(m.Shard, m.Fence)
			}
		}
		d.WatchEvent = func(e node.Event) {
			c, ok := e.(event.WorkflowChanged)
			if !ok {
				return
			}
			f := jobs[c.Job][c.Workflow]
			f.state = c.To
			if c.To.Terminal() {
				for _, other := range jobs[c.Job] {
					if slices.Contains(other.before, c.Workflow) {
						other.ready = d.Now()
					}
				}
			}
			if c.To == message.WorkflowFailed && strings.HasPrefix(c.Reason, "it waited") && (f.started || d.Now().Sub(f.ready) < most) {
				t.Fatalf("workflow %d, which could begin %v ago: %s", c.Workflow, d.Now().Sub(f.ready), c.Reason)
			}
		}
		submit := func(n byte) {
			job := message.JobID{n}
			plan := message.Plan{Source: "f"}
			for i := range rapid.IntRange(1, 3).Draw(t, "workflows") {
				f := message.WorkflowPlan{
					Name: fmt.Sprint("f", i), Test: true, VUs: 8, Timeout: time.Second, Steps: home(), Cores: rapid.SampledFrom([]uint32{0, 0, 1, 3, 8, 9}).Draw(t, "cores"),
					Priority: rapid.SampledFrom([]message.Importance{message.PriorityAuto, message.PriorityLow, message.PriorityNormal, message.PriorityExclusive}).Draw(t, "priority"),
				}
				f.Cores = min(f.Cores, 8)
				if i > 0 {
					on := []uint32{rapid.Uint32Range(0, uint32(i-1)).Draw(t, "on")}
					switch rapid.IntRange(0, 2).Draw(t, "how") {
					case 0:
						f.Depends = on
					case 1:
						f.StartAfter = on
					}
					if len(f.Depends)+len(f.StartAfter) > 0 {
						f.Layer = plan.Workflows[on[0]].Layer + 1
					}
				}
				plan.Workflows = append(plan.Workflows, f)
			}
			for i := range plan.Workflows {
				f := &plan.Workflows[i]
				jobs[job] = append(jobs[job], &flow{plan: f, before: slices.Concat(f.Depends, f.StartAfter), ready: d.Now(), runs: map[message.ShardRef]bool{}})
			}
			d.Receive(d.gate, &message.JobDispatch{Job: job, Fence: message.Fence{JobEpoch: 1}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour, Plan: plan})
		}
		end := func(id node.ID, state message.WorkflowState) {
			for _, s := range took[*message.ShardDispatch](d, d.up[id]) {
				if ref := (message.ShardRef{Shard: s.Shard, Fence: s.Fence}); !over[ref] {
					over[ref] = true
					delete(jobs[ref.Shard.Job][ref.Shard.Workflow].runs, ref)
					d.Receive(d.up[id], &message.ShardResult{Shard: s.Shard, Fence: s.Fence, State: state})
					return
				}
			}
		}
		stop := func(id node.ID) { // workers report that the cancelled shards have stopped
			for _, c := range took[*message.ShardCancel](d, d.up[id]) {
				if ref := (message.ShardRef{Shard: c.Shard, Fence: c.Fence}); !over[ref] {
					over[ref] = true
					delete(jobs[ref.Shard.Job][ref.Shard.Workflow].runs, ref)
					d.Receive(d.up[id], &message.ShardResult{Shard: c.Shard, Fence: c.Fence, State: c.State})
				}
			}
		}
		for n := range byte(rapid.IntRange(1, 3).Draw(t, "jobs")) {
			submit(n + 1)
		}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			d.Advance(time.Second)
			d.listed(over, ids...)
			d.keeps(ids...)
			if id := rapid.SampledFrom(ids).Draw(t, "worker"); rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
				end(id, rapid.SampledFrom([]message.WorkflowState{message.WorkflowCompleted, message.WorkflowCompleted, message.WorkflowFailed}).Draw(t, "end"))
			}
			stop("w1")
			stop("w2")
		}
		for range 120 {
			for _, id := range ids {
				end(id, message.WorkflowCompleted)
				stop(id)
			}
			d.Advance(time.Second)
			d.listed(over, ids...)
			d.keeps(ids...)
		}
		//lint:orderfree each is looked at by itself
		for job, p := range d.m.subjobs {
			if p.Stage < subjob.Recorded {
				t.Fatalf("job %v does not end: %v", job, p.State)
			}
		}
	})
}

// keeps lets workers tell for which workflow they are kept, as they were asked last.
func (d *desk) keeps(ids ...node.ID) {
	for _, id := range ids {
		if all := took[*message.WorkerHold](d, d.up[id]); len(all) > 0 {
			held := &message.WorkerHeld{}
			if last := all[len(all)-1]; !last.Release {
				held.Job, held.Workflow, held.Known = last.Job, last.Workflow, true
			}
			d.Receive(d.up[id], held)
		}
	}
}
