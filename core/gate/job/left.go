package job

import (
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/stats"
)

// leftTextMax bounds a reason, as records do.
const leftTextMax = 128

// Left is what one workflow did in a datacenter that the job left: the target saw it, and no figure
// of the result counts it, because the job began again elsewhere.
type Left struct{ record.Left }

// Moves records what a subjob did in the datacenter that the job leaves, as far as the gate heard,
// and how long it may have sent load after that.
func (j *Job) Moves(p *Subjob, reason string, now node.Instant) {
	j.Ends.leave()
	if !p.Accepted {
		return // no manager began anything
	}
	end := Subjob{Datacenter: p.Datacenter, Accepted: true, Progress: p.Progress}
	j.GiveUp(&end, message.JobFailed, reason, now)
	if len(reason) > leftTextMax {
		reason = reason[:leftTextMax]
	}
	for i := range end.Result.Workflows {
		w := &end.Result.Workflows[i]
		l := &Left{record.Left{Workflow: uint32(i), Reason: reason, Started: stats.Started(&w.Stats), OK: succeeded(&w.Stats), Until: w.Stats.Elapsed}}
		if n := len(w.Lost); n > 0 {
			l.Unreported = w.Lost[n-1].Unreported
		}
		if l.Started > 0 || l.Unreported > 0 {
			j.Behind = append(j.Behind, l)
		}
	}
}

func succeeded(s *message.Stats) (n uint64) {
	for i := range s.Steps {
		if s.Steps[i].Kind.Measured() {
			n += s.Steps[i].OK
		}
	}
	return n
}

// attempt is how a result reports it.
func (l *Left) attempt(id message.JobID) message.LostAttempt {
	return message.LostAttempt{
		Shard: message.ShardID{Job: id, Workflow: l.Workflow}, Reason: l.Reason, Started: l.Started, OK: l.OK,
		Until: l.Until, Unreported: l.Unreported,
	}
}
