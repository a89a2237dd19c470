package subjob

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Reopen marks the shards that may run under a former holder. The manager adopts such a shard
// from the worker that reports it, and dispatches none before its worker has surely stopped it.
func (p *Subjob) Reopen(now, until node.Instant) {
	for _, f := range p.Workflows {
		f.State = message.WorkflowPending
		f.Await()
		if f.End == message.WorkflowNone && f.Cut {
			f.Ready = now
		}
		for _, s := range f.Shards {
			s.State = message.WorkflowPending
			s.NotBefore, s.Renewed = until, p.Granted
			switch {
			case s.Kept != nil:
				s.State, s.Why, s.Written = s.Kept.State, s.Kept.Why, true
			case s.End != message.WorkflowNone:
				s.State = s.End
			default:
				s.Open = f.End == message.WorkflowNone
			}
		}
	}
}

// Derive sets the states that follow from a record.
func (p *Subjob) Derive(now node.Instant) {
	p.State = message.JobQueued
	for _, f := range p.Workflows {
		for _, s := range f.Shards {
			if s.Result != nil && s.Kept.Why == "" {
				s.Why = s.Result.Error
			}
			if s.State == message.WorkflowFailed && f.Failure == "" && f.End == message.WorkflowNone {
				f.Failure = Reason(s.Why)
			}
			ran := s.Kept != nil || s.State == message.WorkflowCompleted // the second without a result: it was lost, and its time was over
			if ran || s.State == message.WorkflowRunning {               // adopted while the files were on their way
				f.State, p.State = message.WorkflowRunning, message.JobRunning
			}
		}
		if f.End != message.WorkflowNone {
			if f.End == message.WorkflowCompleted {
				p.State = message.JobRunning
			}
			f.State = f.End
			f.Stats, _ = f.Total()
		}
	}
	if p.Stop.Durable == message.JobCancelled {
		p.State = message.JobCancelling
	}
	if p.Result != nil {
		p.Stage, p.Finished, p.State = Recorded, now, p.Result.Subjob.State
		p.Restamp()
	}
}

// Adoptable says whether a fence is that of an attempt of a former holder that is not given up
// and above any that was adopted already.
func (s *Shard) Adoptable(f message.Fence) bool {
	return s.Open && s.Commit != Counting && s.Kept == nil && s.End == message.WorkflowNone && s.Floor.Less(f) &&
		(s.State == message.WorkflowPending || s.Fence.Less(f))
}
