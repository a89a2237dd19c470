package plan

import (
	"slices"
	"time"

	"hyperscale/core/message"
)

// Above returns the layer of a workflow or step that waits for a list: 0 for none, else one
// above the highest.
func Above(list []uint32, layer func(uint32) uint32) uint32 {
	var above uint32
	for _, at := range list {
		above = max(above, layer(at)+1)
	}
	return above
}

// Lasts is how long a workflow with a duration takes from when nothing holds it back any more.
func Lasts(w *message.WorkflowPlan) time.Duration {
	return min(DurationMax+1, w.StartDelay) + w.Duration
}

// Longest adds up the longest workflow of each layer, measured by of. No chain of workflows
// that wait for each other takes longer.
func Longest(p *message.Plan, of func(*message.WorkflowPlan) time.Duration) time.Duration {
	const bound = 1 << 60 // far from overflow
	w := p.Workflows
	byLayer := make([]time.Duration, len(w))
	for i := range w {
		at := min(int(w[i].Layer), len(w)-1)
		byLayer[at] = max(byLayer[at], min(bound, of(&w[i])))
	}
	var total time.Duration
	for _, d := range byLayer {
		total = min(bound, total+d)
	}
	return total
}

// Sequence groups the steps of a workflow by layer if those of each layer wait for all of the
// layer before; nil: they are a graph of another form.
func Sequence(steps []message.StepPlan) [][]uint32 {
	var groups [][]uint32
	for i := range steps {
		s := &steps[i]
		switch {
		case int64(s.Layer) == int64(len(groups)):
			groups = append(groups, nil)
		case int64(s.Layer) != int64(len(groups)-1):
			return nil
		}
		groups[s.Layer] = append(groups[s.Layer], uint32(i))
		if s.Layer == 0 {
			continue
		}
		for _, k := range groups[s.Layer-1] {
			_, needed := slices.BinarySearch(s.After, k)
			if _, behind := slices.BinarySearch(s.Behind, k); !needed && !behind {
				return nil
			}
		}
	}
	return groups
}
