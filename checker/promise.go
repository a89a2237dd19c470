package checker

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
)

// Promises are what a history keeps beyond the invariants because of what goes
// wrong in it, and what does not.
type Promises struct {
	// Once: nobody is lost, so nothing is run again.
	Once bool
	// CancelWithin bounds how long a cancellation takes; zero for no bound.
	CancelWithin time.Duration
	// HeldWithin bounds how long a job that has not ended is without an owner after
	// healing (T11); zero for the bound within which it must end.
	HeldWithin time.Duration
}

// Promise sets what this history must keep.
func (c *Checker) Promise(p Promises) { c.promises = p }

func (c *Checker) startsOnce(r Record, e event.ShardStarted) {
	if !c.promises.Once {
		return
	}
	run := execution{e.Datacenter, e.Shard, message.Fence{}}
	if first, ok := c.ran[run]; ok && first != e.Fence {
		c.violate("P", r, "shard %v was run again under %v after %v, though nobody was lost", e.Shard, e.Fence, first)
	}
	c.ran[run] = e.Fence
}

func (c *Checker) cancelsSoon(r Record, j *theJob, e event.JobChanged) {
	if e.To == message.JobCancelling {
		j.cancelling = r.At
		return
	}
	took := r.At - j.cancelling
	if bound := c.promises.CancelWithin; bound > 0 && e.From == message.JobCancelling && took > bound {
		c.violate("P", r, "the cancellation of job %v took %v", e.Job, took)
	}
}

// Delivered judges what a client was told of a job's end: it is what the gate
// decided, and holds what was counted of the job's subjobs, no more and no less. What
// a gate counted in the moment of its crash nobody heard of: only one that owned the
// job from its beginning to its end can be asked for the sum.
func (c *Checker) Delivered(r Record, job message.JobID, state message.JobState, subjobs int, started uint64) {
	j := c.jobs[job]
	if j == nil || j.state != state {
		c.violate("L", r, "%s was told that job %v is %v, its gate had not decided so", r.Node, job, state)
		return
	}
	if j.moved {
		return
	}
	sum := c.sums[job]
	if started != sum.started {
		c.violate("T8", r, "the result of job %v holds %d starts, %d were counted of its subjobs", job, started, sum.started)
	}
	if state == message.JobCompleted && sum.completed != subjobs {
		c.violate("L", r, "job %v is %v, though %d of its %d subjobs are", job, state, sum.completed, subjobs)
	}
}

// jobSum is what was counted of a job's subjobs.
type jobSum struct {
	started   uint64
	completed int
}

func (c *Checker) addSubjob(e event.SubjobCounted) {
	sum := c.sums[e.Job]
	sum.started += e.Started
	if e.State == message.JobCompleted {
		sum.completed++
	}
	c.sums[e.Job] = sum
}
