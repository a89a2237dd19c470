package job

import (
	"time"

	"hyperscale/core/gate/places"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// Phase says where a subjob stands.
type Phase uint8

// Phases of a subjob.
const (
	Waiting  Phase = iota // for a manager
	Saving                // the record that it is to be sent is on its way to a majority
	Sent                  // dispatched, not taken up
	Adopting              // after a take-over: its manager may tell of it
	Running               // taken up
	Done
)

// Subjob is what one datacenter does of a job. Its managers decide among themselves which
// of them has it: the gate follows the highest subjob epoch that it hears.
type Subjob struct {
	Datacenter string
	Fence      message.Fence // the highest that it was heard under
	Manager    node.ID       // that has it, or was asked last
	Phase      Phase

	Marks
	Reservation
	Sender

	Asked     []node.ID // managers that it was sent to under this job epoch, and that did not refuse
	RefusedBy []node.ID // in this round; empty outside Saving and Sent
	Ever      bool      // sent under any job epoch
	Accepted  bool      // by a manager, under any
	Losses    int       // how often its managers lost it
	Missed    int       // heartbeats of Manager in a row that did not list it

	Sequence uint64 // of Progress
	Progress *message.DatacenterResult
	Result   *message.DatacenterResult // set when Phase is Done, until the job's has it
	File     message.FileDigest        // holds the counted result, until the job's does
	End      End
	unknown  record.Unknown // of a newer version, in the record that had it
}

// Marks are the instants of a subjob.
type Marks struct {
	Since   node.Instant // of the phase
	Sent    node.Instant // last dispatch, or look for a manager
	Renewed node.Instant // when the datacenter last heard that it may go on
	Named   node.Instant // when a gate last named it, or may have; 0 while none can have
}

// Reservation keeps cores of the datacenter for a dispatch until heartbeats count them.
type Reservation struct {
	Reserved uint32
	Beats    int // heartbeats until the cores are given back
}

// Sender is the node that sent the result, and awaits its acknowledgement.
type Sender struct {
	From  node.ID
	AckTo node.StreamID
	AckBy node.Addr // of the gate that passed the result on, instead of AckTo
}

// End says what a majority knows of a subjob's end.
type End uint8

// Ends of a subjob. Only Open has a result that may still be replaced.
const (
	Open    End = iota // no majority has a result
	Counted            // a majority has the result that its manager sent
	Unheard            // it ended without a word of its manager
)

// Expired says that a datacenter which was asked to run the subjob must have stopped it by
// now: no gate has named the subjob there for a guard.
func (p *Subjob) Expired(now node.Instant, guard time.Duration) bool {
	return p.Ever && p.Phase != Done && now.Sub(p.Renewed) >= guard
}

// MayRun says that a gate may have named the subjob, and that the guard has not passed
// since. A refusal proves nothing: a peer of the holder rejects what it does not know.
func (p *Subjob) MayRun(now node.Instant, guard time.Duration) bool {
	return p.Named > 0 && now.Sub(p.Named) < guard
}

// AnswerTo names the node that the acknowledgement of a result goes to.
func (p *Subjob) AnswerTo(from node.Peer, s node.StreamID) {
	p.From, p.AckTo, p.AckBy = from.ID, s, ""
	if from.Role == node.RoleGate {
		p.From, p.AckBy = p.Manager, from.Addr
	}
}

// GiveUp ends the subjob without a word of a manager.
func (p *Subjob) GiveUp(to message.JobState, reason string, started, now node.Instant) {
	p.Become(now, Done)
	p.End = Unheard
	p.Result = &message.DatacenterResult{Name: p.Datacenter, State: to, Error: reason, Duration: now.Sub(started)}
}

// Holders are the managers that may have the subjob: the one that does, or all that were
// asked to take it, while none has said that it did.
func (p *Subjob) Holders() []node.ID {
	if p.Phase == Running || len(p.Asked) == 0 {
		return []node.ID{p.Manager}
	}
	return p.Asked
}

// Become moves the subjob to a phase.
func (p *Subjob) Become(now node.Instant, to Phase) {
	p.Phase, p.Since = to, now
	if to != Saving && to != Sent {
		p.RefusedBy = nil
	}
}

// Shown is a subjob as people see it.
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
		if d.State = message.JobDispatching; p.Accepted { // by who goes on with it
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

// Release gives back the cores that were kept for a dispatch.
func (p *Subjob) Release(in *places.Places) {
	in.Release(p.Datacenter, p.Reserved)
	p.Reserved = 0
}
