package stats

import (
	"cmp"
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

// Gap is the time in which none of the parts ran. Each states when it began, and when it ended.
func Gap(parts []*message.Stats) (sum time.Duration) {
	var until time.Duration
	parts = slices.SortedFunc(slices.Values(parts), func(a, b *message.Stats) int { return cmp.Compare(a.Gap, b.Gap) })
	for _, p := range parts {
		sum += max(0, p.Gap-until)
		until = max(until, p.Elapsed)
	}
	return sum
}

// Begun is what a datacenter reports of a workflow that began there at an instant of the job's time.
type Begun struct {
	At    time.Duration
	Stats *message.Stats
}

// SumBegun adds up what datacenters report of one workflow. Windows lie where they happened since
// the workflow began first, at origin. late is how much later than there it began last. Time in which
// it ran nowhere is a gap. Spans keep each datacenter's own time, as thresholds read stages from them.
func SumBegun(all []Begun) (sum message.Stats, origin, late time.Duration, err error) {
	first := true
	for _, b := range all {
		if b.Stats.Elapsed > 0 && (first || b.At < origin) {
			origin, first = b.At, false
		}
	}
	parts := make([]*message.Stats, 0, len(all))
	for _, b := range all {
		part := b.Stats
		if by := b.At - origin; by > 0 && part.Elapsed > 0 {
			moved := *part
			moved.Steps = slices.Clone(part.Steps)
			Delay(&moved, by)
			part, late = &moved, max(late, by)
		}
		parts = append(parts, part)
	}
	if sum, err = Sum(parts); err == nil && late > 0 {
		sum.Gap = Gap(parts)
	}
	return sum, origin, late, err
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
