// Package queue is a first-in, first-out queue in a ring that grows.
//
// It is not safe for several goroutines, it has no bound of its own, and it never
// shrinks: a queue of a load generator is as long again soon.
//
// Invariants:
//
//	LOADQUEUE-1 Pop returns the elements in the order in which Push took them.
//	LOADQUEUE-2 Push allocates only when the queue is longer than ever before; Pop never does.
//
// Example:
//
//	var q queue.Queue[int]
//	q.Push(1)
//	first := q.Pop()
//
// Read queue.go.
package queue
