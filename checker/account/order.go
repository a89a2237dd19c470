package account

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// given is a shard that a manager dispatches, or a subjob that a gate dispatches.
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

// ShardDispatched notes that a manager dispatches a shard.
func (j *Judge) ShardDispatched(r history.Record, e event.ShardDispatched) {
	who := given{giver: r.Node, shard: e.Shard}
	j.given[who] = higher(j.given[who], e.Fence)
	if x := j.course(flow{r.Node, e.Shard.Job, e.Fence.SubjobEpoch, e.Shard.Workflow}); x.began == 0 {
		x.began = j.next()
	}
}

// ShardLost notes that a manager gives an attempt up. A later incarnation, whose disk does not
// know that yet, may still regard it as running; this one may not.
func (j *Judge) ShardLost(r history.Record, e event.ShardLost) {
	j.abandoned[abandoned{r.Node, r.Incarnation, e.Shard, e.Fence}] = true
}

// SubjobDispatched notes that a gate dispatches a subjob.
func (j *Judge) SubjobDispatched(r history.Record, e event.SubjobDispatched) {
	who := given{giver: r.Node, shard: message.ShardID{Job: e.Job}, datacenter: e.Datacenter}
	j.given[who] = higher(j.given[who], e.Fence)
}

// countsCurrent judges T3 of a result: a manager that has dispatched a shard again does not act
// on the earlier attempt.
func (j *Judge) countsCurrent(r history.Record, e event.ShardCounted, begun message.Fence) {
	last := j.given[given{giver: r.Node, shard: e.Shard}]
	// Another manager held the subjob since then, adopted the earlier attempt and counted it.
	// The manager that takes that record over reports its content.
	former := j.latest[shardOf{e.Datacenter, e.Shard}]
	retold := former.fence == e.Fence && former.held > last.SubjobEpoch && former.held < e.Subjob.SubjobEpoch
	if e.Fence.Less(last) && !retold {
		j.log.Violate("T3", r, "shard %v was counted under %v after it had been dispatched under %v", e.Shard, e.Fence, last)
	}
	if e.Fence.Less(begun) && former.fence != e.Fence {
		j.log.Violate("T3", r, "shard %v was counted under %v after it had been started under %v", e.Shard, e.Fence, begun)
	}
	if j.abandoned[abandoned{r.Node, r.Incarnation, e.Shard, e.Fence}] && !retold {
		j.log.Violate("T3", r, "shard %v was counted under %v, which had been given up", e.Shard, e.Fence)
	}
	x := j.course(flow{r.Node, e.Shard.Job, e.Subjob.SubjobEpoch, e.Shard.Workflow})
	j.places[r.Node] = e.Datacenter
	x.counted = j.next()
	x.failed = x.failed || e.State != message.WorkflowCompleted
}

// countsCurrentSubjob does the same for a gate.
func (j *Judge) countsCurrentSubjob(r history.Record, e event.SubjobCounted) {
	who := given{giver: r.Node, shard: message.ShardID{Job: e.Job}, datacenter: e.Datacenter}
	if last := j.given[who]; subjobFence(e.Fence).Less(last) {
		j.log.Violate("T3", r, "subjob %s of job %v was counted under %v after it had been dispatched under %v", e.Datacenter, e.Job, e.Fence, last)
	}
}

func higher(a, b message.Fence) message.Fence {
	if a.Less(b) {
		return b
	}
	return a
}
