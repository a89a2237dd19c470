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
	Epoch    uint64        // of the job: the highest heard, on its way to a majority if above the fence's
	Gate     node.Addr     // that it reports to
	Granted  node.Instant
	Deadline node.Instant // until when the gate's word counts; zero before the first

	Dispatch   *message.JobDispatch
	File       message.FileDigest // of the dispatch
	Digest     uint64             // of its plan
	RunTimeout time.Duration      // from accepted on
	Missing    int                // files of it that are being fetched
	Orders     *Claim             // that came while its record is fetched: nothing may be recorded in its place
	State      message.JobState
	Stop       Pending
	Why        string
	Workflows  []*Workflow
	Accepted   node.Instant
	Report
	Ending
	Newer
}

// Pending is what a subjob is to end as: CANCELLED, TIMED_OUT, or FAILED when cut off. A
// shard is dispatched only while neither state is set; workers stop by the durable one.
type Pending struct {
	Decided message.JobState // once it is to end
	Durable message.JobState // the same once a majority has it
	Writing bool             // it is on its way there
}

// Report is what the gate was sent of a subjob's progress.
type Report struct {
	Sequence uint64 // of the newest
	Dirty    bool   // it is to be sent anew
}

// Stage is how far the end of a subjob is. It only rises, but for a write that failed.
type Stage uint8

const (
	Unrecorded   Stage = iota // there is no result, or no majority is asked to keep it
	Recording                 // the result is on its way to a majority
	Recorded                  // a majority has it: it is reported until it is acknowledged
	Acknowledged              // a gate has it: the register is released
)

// Ending is the end of a subjob.
type Ending struct {
	Result     *message.SubjobResult // nil while it goes on
	Kept       message.FileDigest    // of the result
	Stage      Stage
	Finished   node.Instant
	Told       node.Instant
	Tries      int  // to report it
	Redirected bool // it was reported at once where a gate had said, since the last time by itself
	Loss
}

// Loss is the end of a subjob whose record names a file that a majority of the disks lost.
type Loss struct {
	Lost  string       // which file, for people; empty while no file is lost
	Quiet node.Instant // all workers have stopped it by then: its manager renews no shard since the loss
}

// Restamp puts a subjob's result under its present fence: the figures are the same
// for ever.
func (p *Subjob) Restamp() {
	r := *p.Result
	r.Fence = p.Fence
	p.Result = &r
}

// Outcome is how a subjob ends whose workflows have ended, and why.
func (p *Subjob) Outcome() (message.JobState, string) {
	var ends []message.JobState
	why := p.Why
	for _, f := range p.Workflows {
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
		return message.JobFailed, why // cut off: what has ended is only a part of it
	case end == message.JobCancelled || len(ends) == 0:
		return message.JobFailed, why // no gate asked for it
	}
	return end, why
}

// Fresh says that the gate's word for a subjob still counts. Each renewal and each dispatch
// of a shard asks it: from the deadline on workers stop by themselves. No word counts for a
// subjob that lost a file.
func (p *Subjob) Fresh(now node.Instant) bool { return now < p.Deadline && p.Lost == "" }

// Shard finds one of a subjob, which may be nil, or returns nil.
func (p *Subjob) Shard(id message.ShardID) *Shard {
	if p == nil || int(id.Workflow) >= len(p.Workflows) || int(id.Ordinal) >= len(p.Workflows[id.Workflow].Shards) {
		return nil
	}
	return p.Workflows[id.Workflow].Shards[id.Ordinal]
}

// Unfold makes the workflows of a fresh subjob's plan.
func (p *Subjob) Unfold() {
	for i := range p.Dispatch.Plan.Workflows {
		p.Workflows = append(p.Workflows, &Workflow{Subjob: p, Index: uint32(i)})
	}
	p.Bind()
}

// Bind ties a subjob's workflows to its plan.
func (p *Subjob) Bind() {
	p.Digest = plan.Digest(&p.Dispatch.Plan)
	for i, f := range p.Workflows {
		f.Plan = &p.Dispatch.Plan.Workflows[i]
	}
}
