package job

import (
	"fmt"
	"strings"

	"hyperscale/core/gate/result"
	"hyperscale/core/lifecycle"
	"hyperscale/core/message"
)

// Ending says how a job ends whose subjobs have all ended: the states on the way, the last
// state, and the reason.
type Ending struct {
	Via    []message.JobState
	To     message.JobState
	Reason string
	Dead   bool // the cluster ended it
}

// Ending derives the job's end from those of its subjobs. COMPLETING lasts as long as the write
// of the result, which contains both transitions.
func (j *Job) Ending() Ending {
	var states []message.JobState
	var errors []string
	taken := false
	heard := EffortOf(j).heard()
	for _, p := range heard {
		states = append(states, p.Result.State)
		taken = taken || p.Accepted
		if p.Result.Error != "" {
			errors = append(errors, p.Datacenter+": "+p.Result.Error)
		}
	}
	reason := strings.Join(errors, "; ")
	if len(reason) > result.ErrorMax {
		reason = strings.ToValidUTF8(reason[:result.ErrorMax], "")
	}
	outcome := lifecycle.Outcome(states)
	switch {
	case j.State == message.JobCancelling:
		return Ending{To: message.JobCancelled, Reason: reason}
	case j.Expired && outcome != message.JobCompleted:
		return Ending{To: message.JobTimedOut, Reason: j.timeoutReason(reason)}
	case j.State == message.JobDispatching && !taken:
		return Ending{To: message.JobFailed, Reason: reason, Dead: clustered(heard)}
	case outcome == message.JobCancelled && len(j.Aborts) > 0: // a client cancelled each workflow
		return Ending{Via: []message.JobState{message.JobCancelling}, To: message.JobCancelled, Reason: reason}
	case outcome == message.JobCancelled:
		return via(Ending{To: message.JobFailed, Reason: "cancelled inside its datacenters, not by a client", Dead: true}, j.State)
	}
	return via(Ending{To: outcome, Reason: reason, Dead: outcome == message.JobFailed && clustered(heard)}, j.State)
}

// Unknown is the reason of the end of a job that a restored group knows from its backup alone.
func Unknown(j *Job) string {
	return fmt.Sprintf("its end is not known: the gates were restored from %s, when the job was %v, and it may have ended since", j.Restored, j.State)
}

// via adds the states on the way to an end of subjobs that managers took up.
func via(e Ending, from message.JobState) Ending {
	e.Via = []message.JobState{message.JobCompleting}
	if from == message.JobDispatching {
		e.Via = []message.JobState{message.JobRunning, message.JobCompleting}
	}
	return e
}

func (j *Job) timeoutReason(reason string) string {
	text := "ran longer than its timeout of " + j.RunTimeout.String()
	if reason != "" {
		text += "; " + reason
	}
	return text
}
