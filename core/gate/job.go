package gate

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/queue"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/verdict"
)

// job is one job that this gate owns, wants to own, or has seen the end of.
type job struct {
	id     message.JobID
	turn   queue.Turn
	token  message.LeaseToken
	epoch  uint64 // the token as the first part of a fence
	key    string
	digest uint64 // of what was submitted under the key
	name   string

	spec       *message.JobSubmit // nil once ended
	specSize   int
	specFile   message.FileDigest // names it
	runTimeout time.Duration

	state  message.JobState // as decided
	shown  message.JobState // as a majority has it: what anybody may be told
	reason string
	last   transition   // the newest that was emitted
	told   int          // how many were
	untold []transition // those after them

	ready     bool         // its record is on a majority and all its files are here
	takeover  bool         // of a record that was there, not submitted here
	loading   int          // files that are being fetched
	open      []*put       // writes that no majority has confirmed, the oldest first
	born      node.Instant // acceptance, moved by what went before a restart
	started   node.Instant // first dispatch, moved likewise
	ran       bool         // started is set
	cancelled node.Instant // when a cancellation or the end of RunTimeout was decided
	expired   bool         // RunTimeout is over
	resend    node.Instant // when SubjobCancel, or SubjobAbort, was last sent
	ended     node.Instant

	subjobs []*subjob // by datacenter
	closed  []string  // datacenters that fell silent with it: what they tell counts no more

	aborts  []*abort
	watches [][]*verdict.Watch // by workflow and condition

	waiting  audience.Waiting
	sequence uint64

	result      *message.JobResult // nil when it is not here
	resultFile  message.FileDigest // zero when swept
	resultBytes int
	elapsed     time.Duration // once ended
}

// transition is one change of state.
type transition struct {
	From   message.JobState `json:"from"`
	To     message.JobState `json:"to"`
	Reason string           `json:"reason,omitempty"`
}

// phase says where a subjob stands.
type phase uint8

const (
	subjobWaiting  phase = iota // for a manager
	subjobSaving                // the record that it is to be sent is on its way to a majority
	subjobSent                  // dispatched, not taken up
	subjobAdopting              // after a take-over: its manager may tell of it
	subjobRunning               // taken up
	subjobDone
)

// subjob is what one datacenter does of a job. Its managers decide among themselves
// which of them has it: the gate follows the highest manager epoch it hears.
type subjob struct {
	datacenter string
	fence      message.Fence
	manager    node.ID // who has it, or was asked last
	phase      phase
	since      node.Instant // of the phase
	sent       node.Instant // last dispatch, or look for a manager
	renewed    node.Instant // when the datacenter was last told that it may go on
	named      node.Instant // when a gate last named it, or may have; 0 while none can have
	asked      []node.ID    // sent to under this job epoch, and not refused
	ever       bool         // was sent under any
	accepted   bool         // by a manager, under any
	refusedBy  []node.ID    // in this round
	losses     int
	missed     int    // heartbeats of its manager that did not list it
	reserved   uint32 // cores that its dispatch will take
	beats      int    // heartbeats until reserved is given up
	sequence   uint64 // of progress
	progress   *message.DatacenterResult
	result     *message.DatacenterResult
	file       message.FileDigest // holds the counted result, until the job's
	from       node.ID            // who sent the result
	counted    bool               // the result is on a majority
	ackTo      node.StreamID
	ackBy      node.Addr // of the gate that passed the result on, instead
	unheard    bool      // ended without a word of its manager
}

func (p *subjob) become(now node.Instant, to phase) {
	p.phase, p.since = to, now
	if to != subjobSaving && to != subjobSent {
		p.refusedBy = nil
	}
}

func (j *job) subjob(datacenter string) *subjob {
	for _, p := range j.subjobs {
		if p.datacenter == datacenter {
			return p
		}
	}
	return nil
}

// become moves the job; the caller saves it.
func (j *job) become(to message.JobState, reason string) {
	if !lifecycle.LegalJob(j.state, to) {
		node.Bug("gate: job %v goes from %v to %v", j.id, j.state, to)
	}
	j.untold = append(j.untold, transition{j.state, to, reason})
	j.state, j.reason = to, reason
}

// tell emits the transitions up to the given count, which are on a majority now.
func (m *Machine) tell(env node.Env, j *job, upTo int) {
	for j.told < upTo {
		t := j.untold[0]
		if len(j.untold) == 1 {
			j.untold = nil
		} else {
			j.untold = j.untold[1:]
		}
		j.told++
		j.shown, j.last = t.To, t
		emitLast(env, j)
	}
}

// reached counts a rare state: a swarm names those that it never visited.
func reached(env node.Env, what string) { env.Emit(event.Reached{What: what}) }

func emitLast(env node.Env, j *job) {
	env.Emit(event.JobChanged{Job: j.id, From: j.last.From, To: j.last.To, Reason: j.last.Reason})
}

func (j *job) done() bool {
	for _, p := range j.subjobs {
		if p.phase != subjobDone {
			return false
		}
	}
	return true
}

func (j *job) elapsedAt(now node.Instant) time.Duration {
	if j.state.Terminal() {
		return j.elapsed
	}
	return now.Sub(j.born)
}

// left is what remains of the run timeout, at least a millisecond.
func (j *job) left(now node.Instant) time.Duration {
	if !j.ran {
		return j.runTimeout
	}
	return max(time.Millisecond, j.runTimeout-now.Sub(j.started))
}

// fence is that of a subjob which no manager has taken up.
func (j *job) fence() message.Fence { return message.Fence{JobEpoch: j.epoch} }
