package linear

import (
	"fmt"

	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
)

// Job is what clients may know of a job.
type Job struct {
	Known   bool
	Payload uint64           // digest of its submission's content
	State   message.JobState // the last one that a client saw: it may have changed since
	Result  uint64           // digest of its result, 0 until a client has read it
}

// JobOp is an operation of the job API.
type JobOp struct {
	What    string // "submit", "status", "cancel", "result"
	Payload uint64
	Refused message.Code // CodeNone: no gate rejected it
	State   message.JobState
	Result  uint64
}

// JobAPI is the model of one job as its clients see it. Submitting is idempotent by key, and
// gates reject another payload under it. The reported state never goes back, and the first
// terminal state stays. The result is always the same.
func JobAPI() *Model[Job, JobOp] {
	later := laterStates()
	return &Model[Job, JobOp]{
		Name:  "job",
		Init:  Job{},
		Step:  func(s Job, o *JobOp, returned bool) (Job, bool) { return stepJob(&later, s, o, returned) },
		Idle:  func(s Job, _ *JobOp) bool { return s.Known },
		Inert: func(o *JobOp) bool { return o.What != "submit" },
		Operation: func(o *JobOp, returned bool) string {
			call := o.What + "()"
			if o.What == "submit" {
				call = fmt.Sprintf("submit(%x)", o.Payload)
			}
			switch {
			case !returned:
				return call + openMark(returned)
			case o.Refused != message.CodeNone:
				return fmt.Sprintf("%s -> refused: %v", call, o.Refused)
			case o.Result != 0:
				return fmt.Sprintf("%s -> %v, result %x", call, o.State, o.Result)
			}
			return fmt.Sprintf("%s -> %v", call, o.State)
		},
		State: func(s Job) string {
			if !s.Known {
				return "unknown"
			}
			return fmt.Sprintf("payload %x, %v, result %x", s.Payload, s.State, s.Result)
		},
	}
}

// states is, for each state, the set of those that a gate may report after it: itself, and all
// that core/lifecycle allows to follow.
type states [message.JobTimedOut + 1]uint32

func laterStates() (later states) {
	for s := range later {
		later[s] = 1 << s
	}
	for range later { // until a pass adds nothing: the longest chain is shorter than this
		for s := range later {
			for from := range later {
				for to := range later {
					if later[s]&(1<<from) != 0 && lifecycle.LegalJob(message.JobState(from), message.JobState(to)) {
						later[s] |= 1 << to
					}
				}
			}
		}
	}
	return later
}

func (l *states) may(from, to message.JobState) bool {
	return int(to) < len(l) && l[from]&(1<<to) != 0
}

func stepJob(later *states, s Job, o *JobOp, returned bool) (Job, bool) {
	if o.What == "submit" {
		return stepSubmit(s, o, returned)
	}
	switch {
	case !returned:
		return s, true
	case o.Refused != message.CodeNone: // an unknown job: gates may forget one that has ended
		return s, !s.Known || s.State.Terminal()
	case !s.Known:
		return s, false
	case o.State == message.JobNone:
		return s, o.What != "result"
	case !later.may(s.State, o.State):
		return s, false
	case o.What == "cancel" && o.State != message.JobCancelling && !o.State.Terminal():
		return s, false
	}
	s.State = o.State
	if o.What != "result" {
		return s, true
	}
	same := s.Result == 0 || s.Result == o.Result
	s.Result = o.Result
	return s, same && o.State.Terminal()
}

// stepSubmit: a submit without an answer may have created the job, or may find it created.
func stepSubmit(s Job, o *JobOp, returned bool) (Job, bool) {
	switch {
	case o.Refused != message.CodeNone: // another payload under that key
		return s, s.Known && s.Payload != o.Payload
	case s.Known:
		return s, !returned || s.Payload == o.Payload
	}
	return Job{Known: true, Payload: o.Payload, State: message.JobSubmitted}, true
}
