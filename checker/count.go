package checker

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// counted is a slice in one subjob: a manager counts it once, also across its
// restarts, whatever the attempt, and whichever gate owns the job meanwhile.
type counted struct {
	manager node.ID
	slice   message.SliceID
	held    uint64 // its epoch of the subjob
}

// told is how a slice was counted first.
type told struct {
	incarnation uint64
	event       event.SliceCounted
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

// latest is the last count of a slice, whichever manager of the datacenter held the
// subjob then.
type latest struct {
	held    uint64
	started uint64
	fence   message.Fence
}

func (c *Checker) onSliceCounted(r Record, e event.SliceCounted) {
	key := counted{r.Node, e.Slice, e.Subjob.Manager}
	if first, ok := c.slices[key]; ok {
		first.event.Subjob.Job = e.Subjob.Job
		if first.event == e && first.incarnation < r.Incarnation {
			return // after a restart it cannot know whether anybody heard of it
		}
		c.violate("T8", r, "slice %v was counted twice in subjob %v, now under %v", e.Slice, e.Subjob, e.Fence)
		return
	}
	c.slices[key] = told{r.Incarnation, e}
	c.countsCurrent(r, e)
	c.reported[subjobSum{r.Node, e.Slice.Job, e.Subjob.Manager}] += e.Started
	c.inherit(e)
	if _, ok := c.started[execution{e.Datacenter, e.Slice, e.Fence}]; !ok && e.State == message.WorkflowCompleted {
		c.violate("T8", r, "slice %v was counted as completed under %v, which no worker ever started", e.Slice, e.Fence)
	}
}

// onPartCounted judges that a subjob counts once and holds exactly what its
// manager counted of its slices.
func (c *Checker) onSubjobCounted(r Record, e event.SubjobCounted) {
	key := subjobOf{e.Job, e.Datacenter}
	if c.subjobs[key] {
		c.violate("T8", r, "subjob %s of job %v was counted twice, now under %v", e.Datacenter, e.Job, e.Fence)
		return
	}
	c.subjobs[key] = true
	c.countsCurrentSubjob(r, e)
	c.addSubjob(e)
	own, all := c.reported[subjobSum{e.Manager, e.Job, e.Fence.Manager}], c.inherited[key]
	if own != e.Started && all != e.Started {
		c.violate("T8", r, "subjob %s of job %v holds %d starts, its manager %s counted %d of its slices, all that held it %d", e.Datacenter, e.Job, e.Started, e.Manager, own, all)
	}
}

// inherit adds up a subjob over all managers that held it: a successor adopts what its
// predecessor counted, or counts it anew.
func (c *Checker) inherit(e event.SliceCounted) {
	slice, subjob := sliceOf{e.Datacenter, e.Slice}, subjobOf{e.Slice.Job, e.Datacenter}
	old := c.latest[slice]
	if e.Subjob.Manager < old.held {
		return
	}
	c.latest[slice] = latest{e.Subjob.Manager, e.Started, e.Fence}
	c.inherited[subjob] += e.Started - old.started
}

// partFence is a fence without its attempt.
func subjobFence(f message.Fence) message.Fence {
	f.Attempt = 0
	return f
}
