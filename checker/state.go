package checker

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// theJob is what is known of one job.
type theJob struct {
	last  event.JobChanged
	state message.JobState
	gate  node.ID
	// incarnation of the gate that told last
	incarnation uint64
	accepted    time.Duration
	cancelling  time.Duration // when it became so
	ended       time.Duration
	moved       bool // taken over since a gate accepted it, by whomever
	calls       *jobCalls
}

// flow is a workflow of a subjob.
type flow struct {
	manager  node.ID
	job      message.JobID
	held     uint64 // the manager's epoch of the subjob
	workflow uint32
}

func (c *Checker) job(id message.JobID) *theJob {
	j := c.jobs[id]
	if j == nil {
		j = &theJob{}
		c.jobs[id] = j
	}
	return j
}

// onJobChanged judges L. A gate that restarts, or takes a job over, may tell again
// from where the record stands; it may not go on from elsewhere.
func (c *Checker) onJobChanged(r Record, e event.JobChanged) {
	j := c.job(e.Job)
	restarted := r.Node == j.gate && r.Incarnation > j.incarnation
	taken := j.gate != "" && r.Node != j.gate && c.owns(r.Node, e.Job)
	again := e == j.last && (restarted || taken)
	j.last, j.incarnation = e, r.Incarnation
	if restarted || taken {
		j.gate, j.moved = r.Node, true
	}
	if again {
		return // it cannot know whether anybody heard of it
	}
	if j.gate == "" {
		j.gate, j.accepted = r.Node, r.At
	}
	if e.From == message.JobNone {
		if j.state != message.JobNone {
			c.violate("L", r, "job %v was accepted twice", e.Job)
		}
		j.gate, j.moved, j.accepted = r.Node, false, r.At
	}
	if j.state.Terminal() {
		c.violate("L", r, "job %v had ended %v and became %v", e.Job, j.state, e.To)
		return
	}
	if !lifecycle.LegalJob(e.From, e.To) {
		c.violate("L", r, "job %v went from %v to %v", e.Job, e.From, e.To)
	}
	j.state = e.To
	c.cancelsSoon(r, j, e)
	if e.To.Terminal() {
		j.ended = r.At
	}
}

func (c *Checker) onSubjobChanged(r Record, e event.SubjobChanged) {
	if e.From.Terminal() {
		c.violate("L", r, "subjob of job %v under %v had ended %v and became %v", e.Job, e.Fence, e.From, e.To)
	}
}

func (c *Checker) onWorkflowChanged(r Record, e event.WorkflowChanged) {
	key := flow{r.Node, e.Job, e.Fence.SubjobEpoch, e.Workflow}
	if last := c.flows[key]; last.Terminal() {
		c.violate("L", r, "workflow %d of job %v had ended %v and became %v", e.Workflow, e.Job, last, e.To)
		return
	}
	if !lifecycle.LegalWorkflow(e.From, e.To) {
		c.violate("L", r, "workflow %d of job %v went from %v to %v", e.Workflow, e.Job, e.From, e.To)
	}
	c.flows[key] = e.To
}

// Open is a job that has not ended.
type Open struct {
	Job      message.JobID
	Gate     node.ID
	State    message.JobState
	Accepted time.Duration
}

// Open returns the accepted jobs that have not ended, the oldest first.
func (c *Checker) Open() []Open {
	var open []Open
	//lint:orderfree the jobs are sorted below
	for id, j := range c.jobs {
		if j.state != message.JobNone && !j.state.Terminal() {
			open = append(open, Open{id, j.gate, j.state, j.accepted})
		}
	}
	slices.SortFunc(open, func(a, b Open) int {
		if a.Accepted != b.Accepted {
			return int(a.Accepted - b.Accepted)
		}
		return a.Job.Compare(b.Job)
	})
	return open
}

// Finish judges T11 at the end of a history: every job that was accepted at least
// bound ago, with no fault since, must have ended, and until then somebody must own
// it, with no longer gap than was promised; that no core stays behind (T9); and T4
// of what is left.
func (c *Checker) Finish(now, bound time.Duration) {
	for _, o := range c.Open() {
		if o.Accepted <= now-bound {
			c.violate("T11", Record{At: now, Node: o.Gate}, "job %v, accepted at %v, is still %v", o.Job, o.Accepted, o.State)
		}
		c.owned(now, min(bound, cmp.Or(c.promises.HeldWithin, bound)), o)
	}
	c.leaks(now, bound)
	c.keepsHands(now, bound)
	c.Settle()
}

// Acknowledged tells that a client was told of a job: it must be known.
func (c *Checker) Acknowledged(r Record, id message.JobID) {
	if j := c.jobs[id]; j == nil || j.state == message.JobNone {
		c.violate("T11", r, "job %v was acknowledged to %s but no gate has accepted it", id, r.Node)
	}
}

// Jobs returns how many jobs were accepted, and how many have ended.
func (c *Checker) Jobs() (accepted, ended int) {
	//lint:orderfree counting does not depend on order
	for _, j := range c.jobs {
		if j.state != message.JobNone {
			accepted++
		}
		if j.state.Terminal() {
			ended++
		}
	}
	return accepted, ended
}
