package checker

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// counted is a shard in one subjob: a manager counts it once, also across its
// restarts, whatever the attempt, and whichever gate owns the job meanwhile.
type counted struct {
	manager node.ID
	shard   message.ShardID
	held    uint64 // its epoch of the subjob
}

// told is how a shard was counted first.
type told struct {
	incarnation uint64
	event       event.ShardCounted
}

// partOf is a datacenter's subjob.
type subjobOf struct {
	job        message.JobID
	datacenter string
}

// partSum is what one manager counted of a subjob that it held under one epoch.
type subjobSum struct {
	manager node.ID
	job     message.JobID
	held    uint64
}

// latest is the last count of a shard, whichever manager of the datacenter held the
// subjob then.
type latest struct {
	held    uint64
	started uint64
	fence   message.Fence
}

func (c *Checker) onShardCounted(r Record, e event.ShardCounted) {
	key := counted{r.Node, e.Shard, e.Subjob.SubjobEpoch}
	if first, ok := c.shards[key]; ok {
		first.event.Subjob.JobEpoch = e.Subjob.JobEpoch
		if first.event == e && first.incarnation < r.Incarnation {
			return // after a restart it cannot know whether anybody heard of it
		}
		c.violate("T8", r, "shard %v was counted twice in subjob %v, now under %v", e.Shard, e.Subjob, e.Fence)
		return
	}
	c.shards[key] = told{r.Incarnation, e}
	c.countsCurrent(r, e)
	c.reported[subjobSum{r.Node, e.Shard.Job, e.Subjob.SubjobEpoch}] += e.Started
	c.inherit(e)
	if _, ok := c.started[execution{e.Datacenter, e.Shard, e.Fence}]; !ok && e.State == message.WorkflowCompleted {
		c.violate("T8", r, "shard %v was counted as completed under %v, which no worker ever started", e.Shard, e.Fence)
	}
}

// onPartCounted judges that a subjob counts once and holds exactly what its
// manager counted of its shards.
func (c *Checker) onSubjobCounted(r Record, e event.SubjobCounted) {
	key := subjobOf{e.Job, e.Datacenter}
	if c.subjobs[key] {
		c.violate("T8", r, "subjob %s of job %v was counted twice, now under %v", e.Datacenter, e.Job, e.Fence)
		return
	}
	c.subjobs[key] = true
	c.countsCurrentSubjob(r, e)
	c.addSubjob(e)
	own, all := c.reported[subjobSum{e.Manager, e.Job, e.Fence.SubjobEpoch}], c.inherited[key]
	if own != e.Started && all != e.Started {
		c.violate("T8", r, "subjob %s of job %v holds %d starts, its manager %s counted %d of its shards, all that held it %d", e.Datacenter, e.Job, e.Started, e.Manager, own, all)
	}
}

// inherit adds up a subjob over all managers that held it: a successor adopts what its
// predecessor counted, or counts it anew.
func (c *Checker) inherit(e event.ShardCounted) {
	shard, subjob := shardOf{e.Datacenter, e.Shard}, subjobOf{e.Shard.Job, e.Datacenter}
	old := c.latest[shard]
	if e.Subjob.SubjobEpoch < old.held {
		return
	}
	c.latest[shard] = latest{e.Subjob.SubjobEpoch, e.Started, e.Fence}
	c.inherited[subjob] += e.Started - old.started
}

// partFence is a fence without its attempt.
func subjobFence(f message.Fence) message.Fence {
	f.Attempt = 0
	return f
}
