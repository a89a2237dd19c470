package lanes

import (
	"slices"

	"hyperscale/core/load/queue"
)

// Lanes are the connections to one host. T names a claim on one. The zero value has no connection and
// may have none.
type Lanes[T any] struct {
	Most    int // connections
	count   int // of them, with those that are being opened
	idle    []int32
	waiting queue.Queue[T]
}

// Count counts the connections, and those that are being opened.
func (l *Lanes[T]) Count() int { return l.count }

// Idle counts those that are free.
func (l *Lanes[T]) Idle() int { return len(l.idle) }

// Take takes the free connection that was used last.
func (l *Lanes[T]) Take() (at int32, free bool) {
	last := len(l.idle) - 1
	if last < 0 {
		return 0, false
	}
	at = l.idle[last]
	l.idle = l.idle[:last]
	return at, true
}

// Reserve reports whether another connection may be opened, and counts it.
func (l *Lanes[T]) Reserve() bool {
	if l.count >= l.Most {
		return false
	}
	l.count++
	return true
}

// Beyond counts a connection that opened without a claim: its host turned out to share connections.
func (l *Lanes[T]) Beyond() { l.count++ }

// Free gives a connection back.
func (l *Lanes[T]) Free(at int32) { l.idle = append(l.idle, at) }

// Part forgets a connection that ends, or one that did not open. A free one is so no longer.
func (l *Lanes[T]) Part(at int32) {
	l.count--
	if i := slices.Index(l.idle, at); i >= 0 {
		l.idle = slices.Delete(l.idle, i, i+1)
	}
}

// Wait adds a claim behind the others.
func (l *Lanes[T]) Wait(claim T) { l.waiting.Push(claim) }

// Waiting counts the claims, with those that have left since they were first.
func (l *Lanes[T]) Waiting() int { return l.waiting.Len() }

// First returns the claim whose turn it is, and drops those before it that have left.
func (l *Lanes[T]) First(left func(T) bool) (claim T, some bool) {
	for l.waiting.Len() > 0 {
		if claim = l.waiting.First(); !left(claim) {
			return claim, true
		}
		l.waiting.Pop()
	}
	return claim, false
}

// Served drops the claim whose turn it was.
func (l *Lanes[T]) Served() T { return l.waiting.Pop() }
