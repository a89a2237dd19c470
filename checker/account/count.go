package account

import (
	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// counted is a shard in one subjob. A manager counts it once: also across its restarts,
// whatever the attempt, and whichever gate owns the job.
type counted struct {
	manager node.ID
	shard   message.ShardID
	held    uint64 // the manager's epoch of the subjob
}

// told is the first count of a shard.
type told struct {
	incarnation uint64
	event       event.ShardCounted
}

// subjobOf is a datacenter's subjob.
type subjobOf struct {
	job        message.JobID
	datacenter string
}

// subjobSum is what one manager counted of a subjob under one epoch.
type subjobSum struct {
	manager node.ID
	job     message.JobID
	held    uint64
}

// latest is the last count of a shard, by whichever manager of the datacenter held the subjob.
type latest struct {
	held    uint64
	started uint64
	fence   message.Fence
}

// Begun is what workers have started of a shard that a manager counts.
type Begun struct {
	Started bool          // under the counted fence
	Highest message.Fence // of all attempts
}

// ShardCounted judges T3 and T8 of a shard that a manager counts.
func (j *Judge) ShardCounted(r history.Record, e event.ShardCounted, begun Begun) {
	key := counted{r.Node, e.Shard, e.Subjob.SubjobEpoch}
	if first, ok := j.shards[key]; ok {
		first.event.Subjob.JobEpoch = e.Subjob.JobEpoch
		if first.event == e && first.incarnation < r.Incarnation {
			return // after a restart it cannot know whether a gate received it
		}
		j.log.Violate("T8", r, "shard %v was counted twice in subjob %v, now under %v", e.Shard, e.Subjob, e.Fence)
		return
	}
	j.shards[key] = told{r.Incarnation, e}
	if _, lost := j.lost[attempt{shardOf{e.Datacenter, e.Shard}, e.Fence}]; lost {
		j.log.Violate("T8", r, "shard %v was counted under %v, whose last report counts as that of a lost attempt", e.Shard, e.Fence)
	}
	j.countsCurrent(r, e, begun.Highest)
	j.reported[subjobSum{r.Node, e.Shard.Job, e.Subjob.SubjobEpoch}] += e.Started
	j.inherit(e)
	if !begun.Started && e.State == message.WorkflowCompleted {
		j.log.Violate("T8", r, "shard %v was counted as completed under %v, which no worker ever started", e.Shard, e.Fence)
	}
}

// countedBy says whether the holder of a subjob's epoch counted the last report of an attempt.
func (j *Judge) countedBy(held uint64, of attempt) bool {
	//lint:orderfree one of them did, or none
	for id, datacenter := range j.places {
		s := segment{id, of.shard.shard, held, of.fence}
		if _, counted := j.segments[s]; (counted || j.former[s]) && datacenter == of.shard.datacenter {
			return true
		}
	}
	return false
}

// segment is the last report of a lost attempt in one subjob.
type segment struct {
	manager node.ID
	shard   message.ShardID
	held    uint64 // the manager's epoch of the subjob
	fence   message.Fence
}

// attempt is an attempt of a shard in its datacenter.
type attempt struct {
	shard shardOf
	fence message.Fence
}

// SegmentCounted judges T8 of the last report of a lost attempt: it counts once under its fence,
// its worker started it, and no result of the same attempt counts.
func (j *Judge) SegmentCounted(r history.Record, e event.SegmentCounted, begun bool) {
	key, of := segment{r.Node, e.Shard, e.Subjob.SubjobEpoch, e.Fence}, attempt{shardOf{e.Datacenter, e.Shard}, e.Fence}
	if at, ok := j.segments[key]; ok && at == r.Incarnation {
		j.log.Violate("T8", r, "the last report of shard %v under %v was counted twice in subjob %v", e.Shard, e.Fence, e.Subjob)
		return
	} else if ok {
		return // after a restart it cannot know whether a gate received it
	}
	j.segments[key] = r.Incarnation
	j.places[r.Node] = e.Datacenter
	j.course(flow{r.Node, e.Shard.Job, e.Subjob.SubjobEpoch, e.Shard.Workflow}).counted = j.next()
	if !begun {
		j.log.Violate("T8", r, "the last report of shard %v was counted under %v, which no worker ever started", e.Shard, e.Fence)
	}
	if j.latest[of.shard].fence == e.Fence {
		j.log.Violate("T8", r, "shard %v was counted under %v, and the last report of that attempt besides", e.Shard, e.Fence)
	}
	j.reported[subjobSum{r.Node, e.Shard.Job, e.Subjob.SubjobEpoch}] += e.Started
	if _, known := j.lost[of]; !known {
		j.lost[of] = e.Started
		j.inherited[subjobOf{e.Shard.Job, e.Datacenter}] += e.Started
	}
}

// SubjobCounted judges that a gate counts a subjob once, and that it contains exactly what its
// manager counted of its shards.
func (j *Judge) SubjobCounted(r history.Record, e event.SubjobCounted) {
	key := subjobOf{e.Job, e.Datacenter}
	if j.subjobs[key] {
		j.log.Violate("T8", r, "subjob %s of job %v was counted twice, now under %v", e.Datacenter, e.Job, e.Fence)
		return
	}
	j.subjobs[key] = true
	j.countsCurrentSubjob(r, e)
	j.addSubjob(e)
	own, all := j.reported[subjobSum{e.Manager, e.Job, e.Fence.SubjobEpoch}], j.inherited[key]
	if own != e.Started && all != e.Started {
		j.log.Violate("T8", r, "subjob %s of job %v holds %d starts, its manager %s counted %d of its shards, all that held it %d", e.Datacenter, e.Job, e.Started, e.Manager, own, all)
	}
	j.countsLost(r, e)
}

// countsLost judges that the last reports of lost attempts count under whichever manager ends the
// subjob: a majority knows them. A subjob that lost a file has no figures.
func (j *Judge) countsLost(r history.Record, e event.SubjobCounted) {
	//lint:orderfree at most one violation is kept of a subjob
	for of := range j.lost {
		if of.shard.datacenter != e.Datacenter || of.shard.shard.Job != e.Job || e.State == message.JobFailed && e.Started == 0 {
			continue
		}
		if !j.countedBy(e.Fence.SubjobEpoch, of) {
			j.log.Violate("T8", r, "subjob %s of job %v lacks the last report of shard %v under %v, which an earlier manager counted", e.Datacenter, e.Job, of.shard.shard, of.fence)
			return
		}
	}
}

// SubjobGivenUp notes what a gate counts of a subjob that it ends without a result.
func (j *Judge) SubjobGivenUp(r history.Record, e event.SubjobGivenUp) {
	key := subjobOf{e.Job, e.Datacenter}
	if j.subjobs[key] {
		j.log.Violate("T8", r, "subjob %s of job %v was counted, and given up after that", e.Datacenter, e.Job)
	}
	sum := j.sums[e.Job]
	sum.Started += e.Started
	j.sums[e.Job] = sum
}

func (j *Judge) addSubjob(e event.SubjobCounted) {
	sum := j.sums[e.Job]
	sum.Started += e.Started
	if e.State == message.JobCompleted {
		sum.Completed++
	}
	j.sums[e.Job] = sum
}

// inherit sums a subjob over all managers that held it: a successor adopts the counts of its
// predecessor, or counts again.
func (j *Judge) inherit(e event.ShardCounted) {
	shard, subjob := shardOf{e.Datacenter, e.Shard}, subjobOf{e.Shard.Job, e.Datacenter}
	old := j.latest[shard]
	if e.Subjob.SubjobEpoch < old.held {
		return
	}
	j.latest[shard] = latest{e.Subjob.SubjobEpoch, e.Started, e.Fence}
	j.inherited[subjob] += e.Started - old.started
}

// subjobFence returns a fence without its attempt.
func subjobFence(f message.Fence) message.Fence {
	f.Attempt = 0
	return f
}
