package job

import (
	"slices"
	"time"

	"hyperscale/core/gate/queue"
	"hyperscale/core/gate/result"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/verdict"
)

// Job is one job that a gate owns, wants to own, or has seen the end of.
type Job struct {
	ID     message.JobID
	Turn   queue.Turn
	Token  message.LeaseToken // of its register; zero while this gate acquires it
	Epoch  uint64             // the token as the first part of a fence
	Key    string
	Digest uint64 // of what was submitted under the key
	Name   string

	Program
	Course
	Times
	Outcome
	Newer

	// Ready: the record is on a majority and all its files are here. A job that is not
	// ready is being accepted or, with Takeover, rebuilt from a record that was there.
	Ready    bool
	Takeover bool
	Loading  int // files that are being fetched

	Subjobs  []*Subjob // by datacenter
	Closed   []string  // datacenters that fell silent with it: what they report counts no more
	Aborts   []*Abort
	watches  [][]*verdict.Watch // by workflow and condition; nil once ended
	Sequence uint64             // of the newest status
}

// Program is what was submitted, until the end.
type Program struct {
	Spec       *message.JobSubmit // nil once ended
	SpecSize   int                // of Spec, in bytes
	SpecFile   message.FileDigest // names it; zero once ended
	RunTimeout time.Duration
}

// Course is the job's state as the gate has decided it, and as a majority has it. The
// two differ by the transitions that are on their way.
type Course struct {
	State  message.JobState // as decided
	Reason string           // of State
	Shown  message.JobState // as a majority has it: what clients may learn
	Last   Transition       // to Shown

	lastUnknown record.Unknown // of Last, in the record of a newer version that had it

	confirmed int          // transitions that a majority has
	pending   []Transition // those after them, the last to State
}

// Times are the instants of a job, each by this gate's clock. The job's time stands still
// while no gate owns it: Born and Started move by that.
type Times struct {
	Born      node.Instant // acceptance
	Started   node.Instant // first dispatch
	Ran       bool         // Started is set
	Cancelled node.Instant // when a cancellation or the end of RunTimeout was decided
	Expired   bool         // RunTimeout is over
	Resend    node.Instant // when SubjobCancel, or SubjobAbort, was last sent
	Ended     node.Instant
	Elapsed   time.Duration // once ended
}

// Outcome is the job's result, once it has ended.
type Outcome struct {
	Result      *message.JobResult // nil when it is not here
	ResultFile  message.FileDigest // zero when swept
	ResultBytes int
}

// Newer is what a gate of a newer version wrote into the job's record. This gate writes it
// back, for the next one that knows it.
type Newer struct {
	Files   []message.FileDigest // that those fields name
	Unknown record.Unknown
}

// Transition is one change of state.
type Transition struct {
	From   message.JobState
	To     message.JobState
	Reason string
}

// Subjob finds that of a datacenter, or returns nil.
func (j *Job) Subjob(datacenter string) *Subjob {
	for _, p := range j.Subjobs {
		if p.Datacenter == datacenter {
			return p
		}
	}
	return nil
}

// Own puts the job under the token of its register.
func (j *Job) Own(token message.LeaseToken) { j.Token, j.Epoch = token, token.Packed() }

// Become moves the job; the caller persists it.
func (j *Job) Become(to message.JobState, reason string) {
	if !lifecycle.LegalJob(j.State, to) {
		node.Bug("gate: job %v goes from %v to %v", j.ID, j.State, to)
	}
	j.pending = append(j.pending, Transition{From: j.State, To: to, Reason: reason})
	j.State, j.Reason = to, reason
}

// Decided counts the transitions that the job has made: a record of now holds them all.
func (j *Job) Decided() int { return j.confirmed + len(j.pending) }

// Pending counts the transitions that no majority has.
func (j *Job) Pending() int { return len(j.pending) }

// Confirm notes that a majority has as many transitions, and returns those that are new.
func (j *Job) Confirm(upTo int) []Transition {
	if upTo <= j.confirmed {
		return nil
	}
	fresh := j.pending[:upTo-j.confirmed]
	if j.pending = j.pending[len(fresh):]; len(j.pending) == 0 {
		j.pending = nil
	}
	j.confirmed = upTo
	j.Last, j.lastUnknown = fresh[len(fresh)-1], nil
	j.Shown = j.Last.To
	return fresh
}

// Drop forgets the program, and returns how many bytes it had.
func (j *Job) Drop() (bytes int) {
	if j.Spec == nil {
		return 0
	}
	j.Spec = nil
	return j.SpecSize
}

// InUse says that some manager may have a subjob. Then the job does not return to the
// queue, from where another datacenter could be chosen.
func (j *Job) InUse(now node.Instant, guard time.Duration) bool {
	return slices.ContainsFunc(j.Subjobs, func(p *Subjob) bool {
		return p.Phase != Waiting || p.Accepted || len(p.Asked) > 0 || p.MayRun(now, guard)
	})
}

// Done says that all subjobs have ended.
func (j *Job) Done() bool {
	for _, p := range j.Subjobs {
		if p.Phase != Done {
			return false
		}
	}
	return true
}

// ElapsedAt is how long the job has been there, or was.
func (j *Job) ElapsedAt(now node.Instant) time.Duration {
	if j.State.Terminal() {
		return j.Elapsed
	}
	return now.Sub(j.Born)
}

// Left is what remains of the run timeout, at least a millisecond.
func (j *Job) Left(now node.Instant) time.Duration {
	if !j.Ran {
		return j.RunTimeout
	}
	return max(time.Millisecond, j.RunTimeout-now.Sub(j.Started))
}

// Fence is that of a subjob which no manager has taken up.
func (j *Job) Fence() message.Fence { return message.Fence{JobEpoch: j.Epoch} }

// Stopping says that nothing of the job starts any more.
func (j *Job) Stopping() bool { return j.State == message.JobCancelling || j.Expired }

// StoppedState is what a subjob becomes that is stopped.
func (j *Job) StoppedState() message.JobState {
	if j.State == message.JobCancelling {
		return message.JobCancelled
	}
	return message.JobTimedOut
}

// ProgramOf is a subjob's. What is drawn by chance, arrivals and what users draw, is drawn
// by each of several datacenters for itself: together they would march in step.
func (j *Job) ProgramOf(p *Subjob) message.Program {
	program := j.Spec.Program
	if len(j.Subjobs) > 1 {
		program.Seed = node.MixString(program.Seed, p.Datacenter)
	}
	return program
}

// Share is a subjob's share of the rows of feeds: those that name several datacenters
// keep theirs, whichever runs.
func (j *Job) Share(p *Subjob) message.RowShare {
	at := slices.Index(j.Turn.Named, p.Datacenter)
	if at < 0 || len(j.Turn.Named) < 2 {
		return message.RowShare{}
	}
	return message.RowShare{Index: uint32(at), Of: uint32(len(j.Turn.Named))}
}

// Merged is the job's result as its subjobs make it.
func (j *Job) Merged() *message.JobResult {
	r := message.Result{Job: j.ID, Name: j.Name, State: j.State, Error: j.Reason, Duration: j.Elapsed}
	for _, p := range j.Subjobs {
		r.Datacenters = append(r.Datacenters, *p.Result)
	}
	return result.Merge(r, &j.Spec.Plan)
}
