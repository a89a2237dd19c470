package retry

import (
	"time"

	"hyperscale/core/node"
)

// Kind says how a wait is drawn below its bound.
type Kind uint8

// The kinds. Full spreads many nodes best; with Equal no wait is short.
const (
	Full  Kind = iota // from the whole range
	Equal             // from its upper half
)

// Backoff is how waits grow with the number of tries in a row.
type Backoff struct {
	Base  time.Duration // bound of the first wait
	Cap   time.Duration // the bound doubles up to this
	Least time.Duration // no wait of kind Full is shorter, unless the bound is
	Kind  Kind
}

// Bound is the longest wait after a number of tries that failed before this one.
func (b Backoff) Bound(tries int) time.Duration {
	bound := min(b.Base, b.Cap)
	for ; tries > 0 && bound < b.Cap; tries-- {
		bound = Doubled(bound, b.Cap)
	}
	return bound
}

// Next draws a wait.
func (b Backoff) Next(r *node.Rand, tries int) time.Duration {
	bound := b.Bound(tries)
	least := min(b.Least, bound)
	if b.Kind == Equal {
		least = bound / 2
	}
	return r.Duration(least, bound)
}

// After is the wait behind another one, without jitter: for what is repeated until it is done.
func (b Backoff) After(previous time.Duration) time.Duration {
	return max(Doubled(previous, b.Cap), b.Base)
}

// Doubled is twice a duration, at most a cap.
func Doubled(d, most time.Duration) time.Duration {
	if d > most/2 {
		return most
	}
	return min(2*d, most)
}
