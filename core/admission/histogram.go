package admission

import (
	"math/bits"
	"time"
)

const (
	stepsLog = 5 // 32 steps an octave: a quantile is at most 1/32 too low
	steps    = 1 << stepsLog
	octaves  = 33 // up to 137 s; longer samples count as that
)

// histogram holds the samples of one tick, of which it keeps steps. It never allocates.
type histogram struct {
	counts [octaves * steps]uint32
	n      int
}

// step returns the place of a duration.
func step(d time.Duration) int {
	v := uint64(max(0, d))
	if v < steps {
		return int(v)
	}
	octave := bits.Len64(v) - stepsLog
	if octave >= octaves {
		return octaves*steps - 1
	}
	return octave*steps + int(v>>(octave-1)) - steps
}

// floor returns the least duration of a step.
func floor(i int) time.Duration {
	if i < steps {
		return time.Duration(i)
	}
	return time.Duration(uint64(steps+i%steps) << (i/steps - 1))
}

func (h *histogram) add(d time.Duration) {
	h.counts[step(d)]++
	h.n++
}

// take returns the p99 of the tick and forgets its samples. It reports false for a tick without
// samples.
func (h *histogram) take() (time.Duration, bool) {
	if h.n == 0 {
		return 0, false
	}
	above := h.n / 100
	i := len(h.counts)
	for above >= 0 {
		i--
		above -= int(h.counts[i])
	}
	*h = histogram{}
	return floor(i), true
}
