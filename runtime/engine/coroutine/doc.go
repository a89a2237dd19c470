// Package coroutine suspends code that waits in the middle, on one goroutine, and reuses the
// stacks of code that ended.
//
// It is not a scheduler: it knows no turns, no time and no sockets. runtime/engine decides
// which coroutine resumes when, and reads from Want what it waits for.
//
// Source: iter.Pull of the standard library, whose switch costs about 100 ns.
//
// Invariants:
//
//	CORO-1 Of all coroutines of a pool one runs at most, and its caller waits meanwhile.
//	CORO-2 A coroutine has one body at a time, and returns to the pool once that has run.
//	CORO-3 The pool keeps 1,024 idle stacks at most. A body that a pool has had before allocates
//	       nothing.
//	CORO-4 After Close no coroutine is left, provided that each has run its body.
//
// Example:
//
//	co := pool.Take(body) // body.Run calls co.Block(coroutine.WantRead)
//	switch pool.Resume(co) {
//	case coroutine.WantRead:
//		// resume it when there is something to read
//	}
//
// Read coroutine.go.
package coroutine
