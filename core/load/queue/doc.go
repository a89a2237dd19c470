// Package queue is a first-in, first-out queue in a ring that grows.
//
// It serves one goroutine and has no bound of its own. It never shrinks: a load generator's
// queue soon has its old length again.
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
