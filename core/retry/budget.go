package retry

import (
	"time"

	"hyperscale/core/node"
)

// Limit says how many tries in a span may repeat earlier ones.
type Limit struct {
	Span  time.Duration
	Asks  int // first tries in the span that allow one more try again
	Least int // tries again that are always allowed in it
}

// slices is into how many parts a budget cuts the span of its limit. It keeps one more: the oldest
// may lie in the span in part.
const slices = 10

// Budget is what a node has asked and asked again in the last span. The zero value is a fresh one.
type Budget struct {
	slice int64 // the number of the newest
	asks  [slices + 1]int
	again [slices + 1]int
}

// Ask notes a first try.
func (b *Budget) Ask(l Limit, now node.Instant) {
	b.pass(l, now)
	b.asks[b.slice%(slices+1)]++
}

// Again notes a try that repeats one.
func (b *Budget) Again(l Limit, now node.Instant) {
	b.pass(l, now)
	b.again[b.slice%(slices+1)]++
}

// Wait returns how long a node must not try again, if it asks nothing new meanwhile; 0: it may now.
func (b *Budget) Wait(l Limit, now node.Instant) time.Duration {
	b.pass(l, now)
	for later := range int64(slices + 1) {
		if b.spent(later) < max(l.Least, b.earned(later)/max(1, l.Asks)) {
			if later == 0 {
				return 0
			}
			return node.Instant((b.slice + later) * int64(l.Span/slices)).Sub(now)
		}
	}
	return l.Span + l.Span/slices
}

// spent counts the tries again that may lie in the span, a number of slices later.
func (b *Budget) spent(later int64) (n int) {
	for i := b.slice - slices + later; i <= b.slice; i++ {
		n += b.again[(i+slices+1)%(slices+1)]
	}
	return n
}

// earned counts the first tries that certainly lie in the span.
func (b *Budget) earned(later int64) (n int) {
	for i := b.slice - slices + 1 + later; i <= b.slice; i++ {
		n += b.asks[(i+slices+1)%(slices+1)]
	}
	return n
}

// pass forgets what has left the span.
func (b *Budget) pass(l Limit, now node.Instant) {
	slice := int64(now) / int64(l.Span/slices)
	for range min(max(0, slice-b.slice), slices+1) {
		b.slice++
		b.asks[b.slice%(slices+1)], b.again[b.slice%(slices+1)] = 0, 0
	}
	b.slice = max(b.slice, slice)
}
