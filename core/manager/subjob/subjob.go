package subjob

import (
	"fmt"
	"time"

	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/plan"
)

// Subjob is one job's share of this datacenter, while this manager holds it.
type Subjob struct {
	Job      message.JobID
	Fence    message.Fence // attempt 0
	Epoch    uint64        // of the job: the highest that was heard; on its way to a majority if above the fence's
	Gate     node.Addr     // to which it reports
	Granted  node.Instant
	Deadline node.Instant // until when the gate's word is valid; zero before the first

	Dispatch   *message.JobDispatch
	File       message.FileDigest // of the dispatch
	Digest     uint64             // of its plan
	RunTimeout time.Duration      // counted from Accepted
	Fetching
	State     message.JobState
	Stop      Pending
	Why       string
	Workflows []*Workflow
	Shared
	Accepted node.Instant
	Report
	Ending
	Newer
}

// Fetching is what the manager waits for after a take-over.
type Fetching struct {
	Missing int    // files that the manager is fetching
	Orders  *Claim // orders that came during the fetch of its record: no write may replace that record
}

// Shared is what all workflows of a job share in this datacenter.
type Shared struct {
	Counters []Counter // of the plan, as far as any was asked for
}

// Pending is the decided end of a subjob: CANCELLED, TIMED_OUT, or FAILED if it was cut off.
// The manager dispatches a shard only while neither state is set; it cancels shards only by the
// durable one.
type Pending struct {
	Decided message.JobState // once the manager has decided an end
	Durable message.JobState // the same, once a majority has it
	Writing bool             // the record with it is on its way
	Since   node.Instant     // when it was decided
	Over    bool             // after_all ends, too
	Sealed  bool             // the same, once a majority has it
	Clear   node.Instant     // by then workers have stopped what was lost: after_all begins later
}

// Report is what the gate got of a subjob's progress.
type Report struct {
	Sequence uint64 // of the newest
	Turn     uint64 // in which the manager sent it
	Dirty    bool   // the manager must send it again
	Moved    bool   // and does not wait for its turn: a state has changed
	Adding   bool   // the manager adds up the figures of the next: until it is sent no other one begins
}

// Stage is how far the end of a subjob is. It only rises, except after a failed write.
type Stage uint8

const (
	Unrecorded   Stage = iota // there is no result, or its write failed
	Recording                 // the result is on its way to a majority
	Recorded                  // a majority has it: the manager reports it until an acknowledgement
	Acknowledged              // a gate has it: the manager releases the register
)

// Ending is the end of a subjob.
type Ending struct {
	Result     *message.SubjobResult // nil while it runs
	Kept       message.FileDigest    // of the result
	Stage      Stage
	Finished   node.Instant
	Told       node.Instant
	Tries      int  // attempts to report it
	Redirected bool // the manager followed a gate's redirect at once since the last regular report
	Loss
}

// Loss is the end of a subjob whose record names a file that a majority of the disks lost, or one of
// another job.
type Loss struct {
	Lost  string       // why no file can take its place, for people; empty while none is lost
	Quiet node.Instant // when all workers have stopped it: its manager renews no shard since the loss
}

// Restamp puts a subjob's result under its current fence; the figures stay the same.
func (p *Subjob) Restamp() {
	r := *p.Result
	r.Fence = p.Fence
	p.Result = &r
}

// Outcome is how a subjob ends whose workflows have ended, and why.
func (p *Subjob) Outcome() (message.JobState, string) {
	var ends []message.JobState
	why, clients := p.Why, true
	for _, f := range p.Workflows {
		clients = clients && f.Client
		ends = append(ends, lifecycle.OfWorkflow(f.State))
		if why == "" && f.State != message.WorkflowCompleted {
			why = fmt.Sprintf("workflow %q: %s", f.Plan.Name, f.Failure)
		}
	}
	end := lifecycle.Outcome(ends)
	switch {
	case p.State == message.JobCancelling:
		return message.JobCancelled, why
	case len(ends) > 0 && end == message.JobCompleted:
		return end, ""
	case p.Stop.Durable == message.JobTimedOut:
		return message.JobTimedOut, why
	case p.Stop.Durable == message.JobFailed:
		return message.JobFailed, why // cut off: its ended workflows are only a part of it
	case end == message.JobCancelled && clients:
		return end, why
	case end == message.JobCancelled || len(ends) == 0:
		return message.JobFailed, why // no gate asked for it
	}
	return end, why
}

// Fresh says that the gate's word for a subjob is still valid. Each renewal and each
// dispatch of a shard checks it: after the deadline workers stop by themselves. It is never
// valid for a subjob that lost a file.
func (p *Subjob) Fresh(now node.Instant) bool { return now < p.Deadline && p.Lost == "" }

// Shard finds a shard of a subjob. It returns nil if there is none, or if p is nil.
func (p *Subjob) Shard(id message.ShardID) *Shard {
	if p == nil || int(id.Workflow) >= len(p.Workflows) || int(id.Ordinal) >= len(p.Workflows[id.Workflow].Shards) {
		return nil
	}
	return p.Workflows[id.Workflow].Shards[id.Ordinal]
}

// Unfold makes the workflows of a new subjob's plan.
func (p *Subjob) Unfold() {
	for i := range p.Dispatch.Plan.Workflows {
		p.Workflows = append(p.Workflows, &Workflow{Subjob: p, Index: uint32(i)})
	}
	p.Bind()
}

// Bind connects a subjob's workflows to its plan.
func (p *Subjob) Bind() {
	p.Digest = plan.Digest(&p.Dispatch.Plan)
	for i, f := range p.Workflows {
		f.Plan = &p.Dispatch.Plan.Workflows[i]
	}
}
