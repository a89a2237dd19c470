package job

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// Phase is the state of a subjob at its gate.
type Phase uint8

// Phases of a subjob.
const (
	Waiting  Phase = iota // for a manager
	Saving                // the gate is writing the record before it sends the subjob
	Sent                  // dispatched, not taken up
	Adopting              // after a takeover: its manager may list it
	Running               // taken up
	Done
)

// Subjob is the part of a job that one datacenter runs. The datacenter's managers decide which
// of them has it; the gate follows the highest subjob epoch that it hears.
type Subjob struct {
	Datacenter string
	Fence      message.Fence // the highest fence that the gate heard
	Manager    node.ID       // that has it, or that the gate asked last
	Phase      Phase

	Marks
	Reservation
	Sender
	Round

	Ever     bool // sent under any job epoch
	Accepted bool // by a manager, under any epoch
	Losses   int  // how often its managers lost it
	Missed   int  // consecutive heartbeats of Manager that did not list it

	Sequence uint64 // of Progress
	Progress *message.DatacenterResult
	Result   *message.DatacenterResult // set when Phase is Done, until the job's result contains it
	File     message.FileDigest        // holds the result, until the job's file does
	End      End
	Told     bool           // a majority has the end without a result, and an event says so
	Fault    message.Fault  // of a FAILED one
	unknown  record.Unknown // fields of a newer version, from the record
}

// Marks are the instants of a subjob.
type Marks struct {
	Since   node.Instant // when the phase began
	Sent    node.Instant // last dispatch, look at its stream, or choice of a manager
	Renewed node.Instant // when a gate last let the datacenter continue
	Named   node.Instant // when a gate last named it, or may have; 0 if no gate can have
}

// Reservation keeps cores of the datacenter for a dispatch until heartbeats count them.
type Reservation struct {
	Reserved places.Room
	Beats    int // heartbeats until the gate releases the cores
}

// Sender is the node that sent the result and waits for its acknowledgement.
type Sender struct {
	From  node.ID
	AckTo node.StreamID
	AckBy node.Addr // of the gate that passed the result on, instead of AckTo
}

// End says what a majority knows about a subjob's end.
type End uint8

// Ends of a subjob. The gate may still replace a result only while it is Open.
const (
	Open    End = iota // no majority has a result
	Counted            // a majority has the result that its manager sent
	Unheard            // it ended without a report of its manager
)

// Expired says that a datacenter that the gate asked to run the subjob must have stopped it by
// now: no gate has named the subjob for a guard.
func (p *Subjob) Expired(now node.Instant, guard time.Duration) bool {
	return p.Ever && p.Phase != Done && now.Sub(p.Renewed) >= guard
}

// MayRun says that a gate has named the subjob, and that less than the guard has passed since.
// A refusal proves nothing: other managers reject a subjob that they do not know.
func (p *Subjob) MayRun(now node.Instant, guard time.Duration) bool {
	return p.Named > 0 && now.Sub(p.Named) < guard
}

// AnswerTo sets the node that gets the acknowledgement of a result.
func (p *Subjob) AnswerTo(from node.Peer, s node.StreamID) {
	p.From, p.AckTo, p.AckBy = from.ID, s, ""
	if from.Role == node.RoleGate {
		p.From, p.AckBy = p.Manager, from.Addr
	}
}

// GiveUp ends a subjob without a result of a manager. What a manager reported last counts, and a
// lost attempt of each workflow that had not ended bounds what the gate does not know.
func (j *Job) GiveUp(p *Subjob, to message.JobState, reason string, now node.Instant) {
	p.Become(now, Done)
	p.End = Unheard
	p.Result = &message.DatacenterResult{Name: p.Datacenter, State: to, Error: reason, Duration: now.Sub(j.Started)}
	if to == message.JobFailed {
		p.Fault = cmp.Or(p.Fault, message.FaultLost)
	}
	if !p.Accepted {
		return
	}
	for i := range j.Spec.Plan.Workflows {
		plan := &j.Spec.Plan.Workflows[i]
		w := message.WorkflowResult{Name: plan.Name, VUs: plan.VUs}
		if p.Progress != nil && i < len(p.Progress.Workflows) {
			w = p.Progress.Workflows[i]
		}
		if !w.State.Terminal() {
			unheard(&w, message.ShardID{Job: j.ID, Workflow: uint32(i)}, p.Result, ranAtMost(j, boundOf(plan, p.Result.Duration)))
		}
		p.Result.Workflows = append(p.Result.Workflows, w)
	}
	if p.Progress != nil {
		p.Result.Workers = lost(p.Progress.Workers)
	}
}

// GivenUp lists the subjobs that ended without a result since a majority last confirmed such ends.
func GivenUp(subjobs []*Subjob) (all []*Subjob) {
	for _, p := range subjobs {
		if p.End == Unheard && !p.Told {
			all = append(all, p)
		}
	}
	return all
}

// ranAtMost bounds how long the job has run, which this gate counts as a time. A gate that knows it from a
// backup does not know when it ended, nor how often attempts were replaced since: only its timeout bounds it.
func ranAtMost(j *Job, counted time.Duration) time.Duration {
	if j.Restored != "" {
		return max(counted, j.RunTimeout)
	}
	return counted
}

// boundOf bounds how long a workflow ran in a job that ran for so long.
func boundOf(plan *message.WorkflowPlan, ran time.Duration) time.Duration {
	if plan.Duration > 0 {
		return min(ran, plan.Duration+cmp.Or(plan.GracefulStop, message.GracefulStopDefault))
	}
	return ran
}

// unheard ends a workflow of which the gate hears nothing more: it may have sent load until its
// subjob ended, in a workflow that ran for so long at most.
func unheard(w *message.WorkflowResult, shard message.ShardID, end *message.DatacenterResult, now time.Duration) {
	w.State, w.Error = message.WorkflowFailed, end.Error
	switch end.State {
	case message.JobCancelled:
		w.State = message.WorkflowCancelled
	case message.JobTimedOut:
		w.State = message.WorkflowTimedOut
	}
	w.Stats = stats.Settle(w.Stats)
	until := w.Stats.Elapsed
	w.Lost = append(w.Lost[:len(w.Lost):len(w.Lost)], message.LostAttempt{
		Shard: shard, Reason: end.Error, Started: stats.Started(&w.Stats), Counted: until > 0, Until: until, Unreported: max(0, now-until),
	})
}

// lost are the shares of workers that ran for a gate which heard nothing more of them.
func lost(workers []message.WorkerShare) []message.WorkerShare {
	workers = slices.Clone(workers)
	for i := range workers {
		if w := &workers[i]; w.State != message.WorkerDone {
			w.State, w.Active = message.WorkerLost, 0
			w.Cancelled += w.Started - min(w.Started, w.OK+w.Failed+w.TimedOut+w.Cancelled)
		}
	}
	return workers
}

// Workflows are those of the subjob as its managers last reported them, in the plan's order; nil: they have not.
func (p *Subjob) Workflows() []message.WorkflowResult {
	if p.Progress == nil {
		return nil
	}
	return p.Progress.Workflows
}

// Holders are the managers that may have the subjob: the one that accepted it, or all that the
// gate asked while none has.
func (p *Subjob) Holders() (all []node.ID) {
	if p.Phase == Running || len(p.Asked) == 0 {
		return []node.ID{p.Manager}
	}
	for _, a := range p.Asked {
		all = append(all, a.Manager)
	}
	return all
}

// Become moves the subjob to a phase.
func (p *Subjob) Become(now node.Instant, to Phase) {
	p.Phase, p.Since = to, now
	if to != Saving && to != Sent {
		p.RefusedBy = nil
	}
}

// Shown returns the subjob as clients see it.
func (p *Subjob) Shown() message.DatacenterResult {
	d := message.DatacenterResult{Name: p.Datacenter}
	switch {
	case p.Result != nil && p.End != Open:
		return *p.Result
	case p.Progress != nil:
		d = *p.Progress
	}
	d.Name = p.Datacenter
	switch p.Phase {
	case Running, Done:
		d.State = message.JobRunning
	case Sent:
		if d.State = message.JobDispatching; p.Accepted { // by the manager that continues it
			d.State = message.JobRunning
		}
	case Waiting:
		d.State, d.Error = message.JobQueued, "waits for a manager"
	case Adopting:
		d.State, d.Error = message.JobRunning, "waits to hear of it after a take-over"
	default:
		d.State = message.JobDispatching
	}
	return d
}

// Release releases the cores that the gate reserved for a dispatch.
func (p *Subjob) Release(in *places.Places) {
	in.Release(p.Datacenter, p.Reserved)
	p.Reserved = places.Room{}
}
