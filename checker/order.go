package checker

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// given is what a manager (a shard) or a gate (a subjob) dispatches.
type given struct {
	giver      node.ID
	shard      message.ShardID
	datacenter string // of a subjob
}

// abandoned is an attempt that a manager gave up.
type abandoned struct {
	manager     node.ID
	incarnation uint64
	shard       message.ShardID
	fence       message.Fence
}

// course is how a workflow of a subjob went, in numbers of events.
type course struct {
	began   uint64 // when its first shard was dispatched
	counted uint64 // when its last shard was
	failed  bool   // one of them had not completed
}

func (c *Checker) course(f flow) *course {
	x := c.courses[f]
	if x == nil {
		x = &course{}
		c.courses[f] = x
	}
	return x
}

func (c *Checker) onShardDispatched(r Record, e event.ShardDispatched) {
	c.insideWindow(r, e.Shard.Job, e.Fence.SubjobEpoch, "a shard")
	who := given{giver: r.Node, shard: e.Shard}
	c.given[who] = higher(c.given[who], e.Fence)
	if x := c.course(flow{r.Node, e.Shard.Job, e.Fence.SubjobEpoch, e.Shard.Workflow}); x.began == 0 {
		x.began = c.seen
	}
}

// onSliceLost: what was given up may be taken for running by a later incarnation,
// whose disk does not know it yet; never by this one.
func (c *Checker) onShardLost(r Record, e event.ShardLost) {
	c.abandoned[abandoned{r.Node, r.Incarnation, e.Shard, e.Fence}] = true
}

func (c *Checker) onSubjobDispatched(r Record, e event.SubjobDispatched) {
	c.insideWindow(r, e.Job, e.Fence.JobEpoch, "a subjob")
	who := given{giver: r.Node, shard: message.ShardID{Job: e.Job}, datacenter: e.Datacenter}
	c.given[who] = higher(c.given[who], e.Fence)
}

// countsCurrent judges T3 of a result: who has given a shard out again acts on
// nothing of the attempt before.
func (c *Checker) countsCurrent(r Record, e event.ShardCounted) {
	last := c.given[given{giver: r.Node, shard: e.Shard}]
	// Another manager held the subjob since then, adopted the attempt before and counted
	// it: the manager that takes that record over reports what stands in it.
	former := c.latest[shardOf{e.Datacenter, e.Shard}]
	retold := former.fence == e.Fence && former.held > last.SubjobEpoch && former.held < e.Subjob.SubjobEpoch
	if e.Fence.Less(last) && !retold {
		c.violate("T3", r, "shard %v was counted under %v after it had been dispatched under %v", e.Shard, e.Fence, last)
	}
	if began := c.begun[shardOf{e.Datacenter, e.Shard}]; e.Fence.Less(began) && former.fence != e.Fence {
		c.violate("T3", r, "shard %v was counted under %v after it had been started under %v", e.Shard, e.Fence, began)
	}
	if c.abandoned[abandoned{r.Node, r.Incarnation, e.Shard, e.Fence}] && !retold {
		c.violate("T3", r, "shard %v was counted under %v, which had been given up", e.Shard, e.Fence)
	}
	x := c.course(flow{r.Node, e.Shard.Job, e.Subjob.SubjobEpoch, e.Shard.Workflow})
	c.places[r.Node] = e.Datacenter
	x.counted = c.seen
	x.failed = x.failed || e.State != message.WorkflowCompleted
}

// countsCurrentPart is the same for a gate.
func (c *Checker) countsCurrentSubjob(r Record, e event.SubjobCounted) {
	who := given{giver: r.Node, shard: message.ShardID{Job: e.Job}, datacenter: e.Datacenter}
	if last := c.given[who]; subjobFence(e.Fence).Less(last) {
		c.violate("T3", r, "subjob %s of job %v was counted under %v after it had been dispatched under %v", e.Datacenter, e.Job, e.Fence, last)
	}
}

// Depends judges T7 of a job that is known to have had such a plan: wherever the
// workflow began, what it depends on had been counted, and had completed.
func (c *Checker) Depends(r Record, job message.JobID, workflow, on uint32) {
	//lint:orderfree at most one violation is kept of a job
	for f, x := range c.courses {
		if f.job == job && f.workflow == workflow && x.began != 0 && !c.completed(f, x.began, on) {
			c.violate("T7", r, "workflow %d of job %v was begun, though workflow %d, on which it depends, had not completed", workflow, job, on)
			return
		}
	}
}

// completed says that a workflow had, when one of f began, by what f's manager
// counted or by what those counted that had held the subjob before it.
func (c *Checker) completed(f flow, began uint64, on uint32) bool {
	done := false
	//lint:orderfree all of them are looked at
	for g, y := range c.courses {
		same := g.manager == f.manager && g.held == f.held
		before := g.held < f.held && c.places[g.manager] == c.places[f.manager]
		switch {
		case g.job != f.job || g.workflow != on || !same && !before:
		case y.counted != 0 && y.counted <= began && !y.failed && !ended(c.flows[g]):
			done = true
		case same:
			return false
		}
	}
	return done
}

// ended says that a workflow ended otherwise than well.
func ended(s message.WorkflowState) bool { return s.Terminal() && s != message.WorkflowCompleted }

func higher(a, b message.Fence) message.Fence {
	if a.Less(b) {
		return b
	}
	return a
}
