package subjob

import (
	"hyperscale/core/message"
	"hyperscale/core/stats"
)

// Fit makes the histograms of a subjob that is too large for a frame coarser, all to the same
// degree; if that is not enough, Slim follows.
func Fit(d *message.DatacenterResult, size func() int) {
	for i := range d.Workflows {
		if message.HeaderSize+size() <= message.FrameMax {
			return
		}
		stats.Fit(&d.Workflows[i].Stats, message.FrameMax/2/len(d.Workflows))
	}
}

// Slim drops the histograms, which are all that can be large, and the workers if their names
// fill the frame.
func Slim(d *message.DatacenterResult, size func() int) {
	for i := range d.Workflows {
		s := &d.Workflows[i].Stats
		s.Generator.Lag, s.Activity = message.Histogram{}, message.Windows{Dropped: s.Activity.Dropped || s.Activity.Width != 0}
		steps := append([]message.StepStats(nil), s.Steps...)
		for j := range steps {
			stats.Bare(&steps[j])
		}
		s.Steps = steps
	}
	if message.HeaderSize+size() > message.FrameMax {
		d.Workers = nil
	}
}
