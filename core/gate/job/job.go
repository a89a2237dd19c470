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

// Job is one job that a gate owns, tries to own, or has seen end.
type Job struct {
	ID     message.JobID
	Turn   queue.Turn
	Token  message.LeaseToken // of its register; zero while this gate acquires the job
	Epoch  uint64             // the token as the first part of a fence
	Key    string
	Digest uint64 // of the submission
	Name   string

	Program
	Course
	Times
	Outcome
	Newer

	// Ready says that the record is on a majority and that this gate has all its files. While a
	// job is not ready, the gate accepts it or, if Takeover is set, rebuilds it from another
	// gate's record.
	Ready    bool
	Takeover bool
	Loading  int // number of files that the gate is fetching

	Subjobs  []*Subjob // by datacenter
	Closed   []string  // datacenters that the job left because they fell silent: their reports do not count
	Aborts   []*Abort
	watches  [][]*verdict.Watch // by workflow and condition; nil after the end
	Sequence uint64             // of the newest status
}

// Program is the submission, until the job ends.
type Program struct {
	Spec       *message.JobSubmit // nil after the end
	SpecSize   int                // of Spec, in bytes
	SpecFile   message.FileDigest // its file; zero after the end
	RunTimeout time.Duration
	Takeovers  uint64 // times that a gate took it over, since its group has level.Takeovers
	Owner      string // the subject of the certificate under which it was submitted; empty: not known
}

// Course holds the job's state as the gate has decided it, and as a majority has it. They
// differ by the transitions that are not on a majority yet.
type Course struct {
	State  message.JobState // as decided
	Reason string           // of State
	Shown  message.JobState // as a majority has it: what clients may see
	Last   Transition       // to Shown

	Restored string // from which backup its record comes; empty: from none

	lastUnknown record.Unknown // unknown fields of Last, from a record of a newer version

	confirmed int          // number of transitions on a majority
	pending   []Transition // the transitions after those, the last one to State
}

// Times are a job's instants, by this gate's clock. The job's time stands still while no gate
// owns it: the gate that adopts it moves Born and Started by that time.
type Times struct {
	Born      node.Instant // acceptance
	Started   node.Instant // first dispatch
	Ran       bool         // Started is set
	Cancelled node.Instant // when the gate decided the cancellation, or RunTimeout ended
	Expired   bool         // RunTimeout has ended
	Now       bool         // a client asked to end it without after_all
	Resend    node.Instant // when the gate last sent SubjobCancel or SubjobAbort
	Ended     node.Instant
	Elapsed   time.Duration // set at the end
}

// Outcome is how workflows ended, and the job's result after its end.
type Outcome struct {
	Ends        Ends
	Result      *message.JobResult // nil if this gate does not have it
	ResultFile  message.FileDigest // zero after the sweep
	ResultBytes int
	Sent        bool                 // this gate has sent the result to a watcher
	Freed       []message.FileDigest // that the job needed until its end
	Behind      []*Left              // what datacenters that the job left had begun
	Dead        bool                 // the cluster ended it, not its program or a client
	Letter      Letter               // of a dead one
	Rows        Rows                 // for sinks

	behindUnknown record.Unknown
}

// Newer holds fields that a gate of a newer version wrote into the job's record. This gate
// writes them back for the next gate that knows them.
type Newer struct {
	Files   []message.FileDigest // files that those fields name
	Unknown record.Unknown
}

// Transition is one change of state.
type Transition struct {
	From   message.JobState
	To     message.JobState
	Reason string
}

// Subjob returns the subjob of a datacenter, or nil.
func (j *Job) Subjob(datacenter string) *Subjob {
	for _, p := range j.Subjobs {
		if p.Datacenter == datacenter {
			return p
		}
	}
	return nil
}

// Own sets the token of the job's register.
func (j *Job) Own(token message.LeaseToken) { j.Token, j.Epoch = token, token.Packed() }

// Become decides a transition; the caller persists it.
func (j *Job) Become(to message.JobState, reason string) {
	if !lifecycle.LegalJob(j.State, to) {
		node.Bug("gate: job %v goes from %v to %v", j.ID, j.State, to)
	}
	j.pending = append(j.pending, Transition{From: j.State, To: to, Reason: reason})
	j.State, j.Reason = to, reason
}

// Decided counts the job's transitions: a record written now contains all of them.
func (j *Job) Decided() int { return j.confirmed + len(j.pending) }

// Pending counts the transitions that are not on a majority.
func (j *Job) Pending() int { return len(j.pending) }

// Confirm records that a majority has the first upTo transitions, and returns those that are
// newly confirmed.
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

// Drop drops the program, and returns its size in bytes.
func (j *Job) Drop() (bytes int) {
	if j.Spec == nil {
		return 0
	}
	j.Spec = nil
	return j.SpecSize
}

// InUse says that a manager may have a subjob. Then the job does not return to the queue, which
// could choose another datacenter.
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

// ElapsedAt is how long the job has existed, or existed until its end.
func (j *Job) ElapsedAt(now node.Instant) time.Duration {
	if j.State.Terminal() {
		return j.Elapsed
	}
	return now.Sub(j.Born)
}

// Left is the rest of the run timeout, at least a millisecond.
func (j *Job) Left(now node.Instant) time.Duration {
	if !j.Ran {
		return j.RunTimeout
	}
	return max(time.Millisecond, j.RunTimeout-now.Sub(j.Started))
}

// Fence is the fence of a subjob that no manager has taken up.
func (j *Job) Fence() message.Fence { return message.Fence{JobEpoch: j.Epoch} }

// Stopping says that nothing of the job may start any more.
func (j *Job) Stopping() bool { return j.State == message.JobCancelling || j.Expired }

// StoppedState is the terminal state of a subjob that the gate stops.
func (j *Job) StoppedState() message.JobState {
	if j.State == message.JobCancelling {
		return message.JobCancelled
	}
	return message.JobTimedOut
}

// ProgramOf returns a subjob's program. Each of several datacenters gets its own seed for
// random draws, so that they do not draw the same arrivals and data.
func (j *Job) ProgramOf(p *Subjob) message.Program {
	program := j.Spec.Program
	if len(j.Subjobs) > 1 {
		program.Seed = node.MixString(program.Seed, p.Datacenter)
	}
	return program
}

// Share is a subjob's share of the feeds' rows. If a job names several datacenters, each keeps
// its share, whichever of them run.
func (j *Job) Share(p *Subjob) message.RowShare {
	at := slices.Index(j.Turn.Named, p.Datacenter)
	if at < 0 || len(j.Turn.Named) < 2 {
		return message.RowShare{}
	}
	return message.RowShare{Index: uint32(at), Of: uint32(len(j.Turn.Named))}
}

// Merged merges the results of the subjobs into the job's result.
func (j *Job) Merged() *message.JobResult {
	r := message.Result{Job: j.ID, Name: j.Name, State: j.State, Error: j.Reason, Duration: j.Elapsed, Restored: j.Restored}
	for _, p := range j.Subjobs {
		r.Datacenters = append(r.Datacenters, *p.Result)
	}
	r.Missing = EffortOf(j).missing()
	merged := result.Merge(r, &j.Spec.Plan)
	for _, l := range j.Behind {
		if int(l.Workflow) < len(merged.Result.Workflows) {
			w := &merged.Result.Workflows[l.Workflow]
			w.Lost = append(w.Lost, l.attempt(j.ID))
		}
	}
	return merged
}
