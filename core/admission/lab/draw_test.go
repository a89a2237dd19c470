package lab

import (
	"math/bits"
	"time"

	"hyperscale/core/node"
)

// exponential draws a duration with that mean. It compares random integers and computes no
// logarithm, which differs between processors (von Neumann, 1951): the length of a falling run
// of uniform numbers is odd with probability exp(-u) for the run's first number u.
func exponential(r *node.Rand, mean time.Duration) time.Duration {
	for whole := time.Duration(0); ; whole++ {
		first := r.Uint64()
		last, odd := first, true
		for next := r.Uint64(); next < last; next = r.Uint64() {
			last, odd = next, !odd
		}
		if odd {
			part, _ := bits.Mul64(first, uint64(mean))
			return whole*mean + time.Duration(part)
		}
	}
}
