package follow

import (
	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/message"
)

// exitOf is the verdict on a job that ended.
func exitOf(r *message.Result) int {
	switch r.State {
	case message.JobCancelled:
		return command.ExitInterrupted
	case message.JobCompleted:
		for _, t := range r.Thresholds {
			if !t.OK {
				return command.ExitThreshold
			}
		}
		return command.ExitGood
	}
	return command.ExitFailed
}
