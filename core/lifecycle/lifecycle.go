package lifecycle

import "hyperscale/core/message"

// LegalJob reports whether a job may go from one state to another.
func LegalJob(from, to message.JobState) bool {
	const (
		submitted = 1 << (iota + 1)
		queued
		dispatching
		running
		completing
		cancelling
		completed
		partial
		failed
		cancelled
		timedOut
	)
	next := [...]uint16{
		message.JobNone:        submitted,
		message.JobSubmitted:   queued | failed | cancelling,
		message.JobQueued:      dispatching | failed | cancelling | timedOut,
		message.JobDispatching: running | queued | failed | cancelling | timedOut,
		message.JobRunning:     completing | cancelling | timedOut,
		message.JobCompleting:  completed | partial | failed | timedOut,
		message.JobCancelling:  cancelled,
		message.JobTimedOut:    0,
	}
	return int(from) < len(next) && to <= message.JobTimedOut && next[from]&(1<<to) != 0
}

// LegalWorkflow reports whether a workflow, or a shard of it, may go from one state to another.
func LegalWorkflow(from, to message.WorkflowState) bool {
	if from == to || from.Terminal() {
		return false
	}
	switch to {
	case message.WorkflowPending:
		return from == message.WorkflowNone || from == message.WorkflowAssigned || from == message.WorkflowRunning
	case message.WorkflowAssigned:
		return from == message.WorkflowPending
	case message.WorkflowRunning:
		return from == message.WorkflowAssigned
	case message.WorkflowCompleted:
		return from == message.WorkflowRunning
	case message.WorkflowFailed, message.WorkflowCancelled, message.WorkflowTimedOut:
		return from == message.WorkflowPending || from == message.WorkflowAssigned || from == message.WorkflowRunning
	}
	return false
}

// Outcome returns the end of a whole whose subjobs have ended: COMPLETED if all completed,
// PARTIAL if some completed, at least in part. Otherwise the whole timed out if one subjob did,
// is cancelled if all are, and else is FAILED.
func Outcome(subjobs []message.JobState) message.JobState {
	var good, some, late, cancelled int
	for _, s := range subjobs {
		switch s {
		case message.JobCompleted:
			good++
		case message.JobPartial:
			some++
		case message.JobTimedOut:
			late++
		case message.JobCancelled:
			cancelled++
		}
	}
	switch {
	case good == len(subjobs):
		return message.JobCompleted
	case good+some > 0:
		return message.JobPartial
	case late > 0:
		return message.JobTimedOut
	case cancelled == len(subjobs):
		return message.JobCancelled
	}
	return message.JobFailed
}

// OfWorkflow maps the end of a workflow to the state that it counts as in Outcome.
func OfWorkflow(s message.WorkflowState) message.JobState {
	switch s {
	case message.WorkflowCompleted:
		return message.JobCompleted
	case message.WorkflowCancelled:
		return message.JobCancelled
	case message.WorkflowTimedOut:
		return message.JobTimedOut
	}
	return message.JobFailed
}
