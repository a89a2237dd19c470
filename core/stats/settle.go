package stats

import (
	"slices"

	"hyperscale/core/message"
)

// Settle ends the figures of a run that reports no more. The ends of what was in flight remain
// unknown: it counts as cancelled, so that the figures add up.
func Settle(s message.Stats) message.Stats {
	s.Active = 0
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		step := &s.Steps[i]
		known := step.OK + step.Failed + step.TimedOut + step.Cancelled
		if step.Started > known {
			step.Cancelled += step.Started - known
		}
	}
	return s
}
