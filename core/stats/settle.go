package stats

import (
	"slices"
	"time"

	"hyperscale/core/message"
)

// Delay moves the figures of a run to where it began in the time of its workflow.
func Delay(s *message.Stats, by time.Duration) {
	if by <= 0 {
		return
	}
	s.Elapsed, s.Gap = s.Elapsed+by, s.Gap+by
	s.Activity = delayed(s.Activity, by)
	for i := range s.Steps {
		s.Steps[i].Windows = delayed(s.Steps[i].Windows, by)
	}
}

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
