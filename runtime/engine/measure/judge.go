package measure

import "hyperscale/core/message"

// Judge judges a run that has ended. Whether its requests reached the target is not judged here:
// other executors of the workflow may have had answers, and the manager sees the figures of all.
func Judge(all message.Stats, cancelled bool) *message.ExecResult {
	out := &message.ExecResult{State: message.WorkflowCompleted, Duration: all.Elapsed, Stats: all}
	if cancelled {
		out.State = message.WorkflowCancelled
	}
	return out
}
