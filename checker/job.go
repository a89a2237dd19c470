package checker

import (
	"slices"
	"time"

	"hyperscale/checker/account"
	"hyperscale/checker/history"
	"hyperscale/checker/register"
	"hyperscale/core/event"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// jobs judges the states of jobs (L), and that each ends (T11).
type jobs struct {
	log      *history.Log
	promises Promises
	all      map[message.JobID]*theJob
}

func newJobs(log *history.Log) *jobs {
	return &jobs{log: log, all: map[message.JobID]*theJob{}}
}

// theJob is what the judge knows of one job.
type theJob struct {
	last  event.JobChanged
	state message.JobState
	gate  node.ID
	// incarnation of the gate that reported last
	incarnation uint64
	accepted    time.Duration
	cancelling  time.Duration // when it became CANCELLING
	ended       time.Duration
	moved       bool // another gate took it over since its acceptance
	granted     bool // a gate was granted its register since the last report
}

func (s *jobs) job(id message.JobID) *theJob {
	j := s.all[id]
	if j == nil {
		j = &theJob{}
		s.all[id] = j
	}
	return j
}

// changed judges L. owns says that the gate is the last that got a grant of the job. A gate
// that restarts, or takes a job over, may report again from the record's state, but not
// continue from another one.
func (s *jobs) changed(r Record, e event.JobChanged, owns bool) {
	j := s.job(e.Job)
	restarted := r.Node == j.gate && r.Incarnation > j.incarnation
	taken := j.gate != "" && r.Node != j.gate && owns
	again := e == j.last && (restarted || taken || j.granted && owns)
	j.granted = false
	j.last, j.incarnation = e, r.Incarnation
	if restarted || taken {
		j.gate, j.moved = r.Node, true
	}
	if again {
		return // it cannot know whether a client received it
	}
	if j.gate == "" {
		j.gate, j.accepted = r.Node, r.At
	}
	if e.From == message.JobNone {
		if j.state != message.JobNone {
			s.log.Violate("L", r, "job %v was accepted twice", e.Job)
		}
		j.gate, j.moved, j.accepted = r.Node, false, r.At
	}
	if j.state.Terminal() {
		s.log.Violate("L", r, "job %v had ended %v and became %v", e.Job, j.state, e.To)
		return
	}
	if !lifecycle.LegalJob(e.From, e.To) {
		s.log.Violate("L", r, "job %v went from %v to %v", e.Job, e.From, e.To)
	}
	j.state = e.To
	s.cancelsSoon(r, j, e)
	if e.To.Terminal() {
		j.ended = r.At
	}
}

func (s *jobs) subjobChanged(r Record, e event.SubjobChanged) {
	if e.From.Terminal() {
		s.log.Violate("L", r, "subjob of job %v under %v had ended %v and became %v", e.Job, e.Fence, e.From, e.To)
	}
}

// open returns the accepted jobs that have not ended, the oldest first.
func (s *jobs) open() []register.Open {
	var open []register.Open
	//lint:orderfree the jobs are sorted below
	for id, j := range s.all {
		if j.state != message.JobNone && !j.state.Terminal() {
			open = append(open, register.Open{Job: id, Gate: j.gate, State: j.state, Accepted: j.accepted})
		}
	}
	slices.SortFunc(open, func(a, b register.Open) int {
		if a.Accepted != b.Accepted {
			return int(a.Accepted - b.Accepted)
		}
		return a.Job.Compare(b.Job)
	})
	return open
}

// acknowledged judges that a gate knows each job that a client has an acknowledgement of.
func (s *jobs) acknowledged(r Record, id message.JobID) {
	if j := s.all[id]; j == nil || j.state == message.JobNone {
		s.log.Violate("T11", r, "job %v was acknowledged to %s but no gate has accepted it", id, r.Node)
	}
}

// count returns how many jobs gates accepted, and how many have ended.
func (s *jobs) count() (accepted, ended int) {
	//lint:orderfree counting does not depend on order
	for _, j := range s.all {
		if j.state != message.JobNone {
			accepted++
		}
		if j.state.Terminal() {
			ended++
		}
	}
	return accepted, ended
}

func (s *jobs) cancelsSoon(r Record, j *theJob, e event.JobChanged) {
	if e.To == message.JobCancelling {
		j.cancelling = r.At
		return
	}
	took := r.At - j.cancelling
	if bound := s.promises.CancelWithin; bound > 0 && e.From == message.JobCancelling && took > bound {
		s.log.Violate("P", r, "the cancellation of job %v took %v", e.Job, took)
	}
}

// Delivery is the result of a job as a client received it.
type Delivery struct {
	Job     message.JobID
	State   message.JobState
	Subjobs int // whose figures count: those that best effort left out do not
	Missing int // those
	Started uint64
}

// delivered judges the result that a client received: it is what the gate decided, and contains
// exactly what gates counted of the job's subjobs. A count right before a crash reaches no
// client. So only a gate that owned the job from beginning to end answers for the sum.
func (s *jobs) delivered(r Record, d Delivery, sum account.Sum) {
	job, state := d.Job, d.State
	j := s.all[job]
	if j == nil || j.state != state {
		s.log.Violate("L", r, "%s was shown that job %v is %v, its gate had not decided so", r.Node, job, state)
		return
	}
	if j.moved {
		return
	}
	if d.Started != sum.Started {
		s.log.Violate("T8", r, "the result of job %v holds %d starts, %d were counted of its subjobs", job, d.Started, sum.Started)
	}
	if state == message.JobCompleted && sum.Completed != d.Subjobs {
		s.log.Violate("L", r, "job %v is %v, though %d of its %d subjobs are", job, state, sum.Completed, d.Subjobs)
	}
}

// granted notes that a gate got a job: another gate, or the same one, which takes its record
// over.
func (s *jobs) granted(id message.JobID) {
	if j := s.all[id]; j != nil {
		j.moved, j.granted = true, true
	}
}

// ended returns when a job ended, or false.
func (s *jobs) ended(id message.JobID) (time.Duration, bool) {
	j := s.all[id]
	if j == nil || !j.state.Terminal() {
		return 0, false
	}
	return j.ended, true
}
