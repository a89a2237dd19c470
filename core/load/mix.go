package load

import (
	"math/bits"

	"hyperscale/core/message"
)

// Mix chooses among the weighted steps of a workflow.
type Mix struct {
	steps []int
	up    []uint64 // sums of the weights up to each
}

// NewMix returns the mix of a workflow's steps; it is empty if none is weighted.
func NewMix(p *message.WorkflowPlan) Mix {
	var m Mix
	var sum uint64
	for i := range p.Steps {
		if w := p.Steps[i].Weight; w > 0 {
			sum += uint64(w)
			m.steps, m.up = append(m.steps, i), append(m.up, sum)
		}
	}
	return m
}

// Empty reports that there is nothing to choose.
func (m *Mix) Empty() bool { return len(m.steps) == 0 }

// Pick turns 64 random bits into a step of the plan, each as often as its weight says. The mix
// must not be empty.
func (m *Mix) Pick(draw uint64) int {
	at, _ := bits.Mul64(draw, m.up[len(m.up)-1])
	for i, up := range m.up {
		if at < up {
			return m.steps[i]
		}
	}
	return m.steps[len(m.steps)-1]
}
