// Package worker runs slices of workflows on the cores of one machine: it keeps
// their fences, hands out cores, starts and ends executors, and keeps each
// result until a manager has it.
//
// It does not choose what runs (core/manager) and does not run it (the
// executors behind node.Executor do).
//
// Source: DESIGN.md, "Execution" and "The unit of dispatch". One dispatch is one
// slice under one fence; the allocator here, not the manager's count, decides
// whether there are cores.
//
// Invariants:
//
//	W1 The fence of a slice is on disk before anything starts or stops under it,
//	   and never falls, across restarts too, until it is reaped.
//	W2 One slice and fence is started at most once. An equal dispatch is answered
//	   again and starts nothing.
//	W3 A core has one owner from the moment it is reserved until its execution's
//	   last executor is gone.
//	W4 A result is kept, on disk where the disk lets us, until its manager
//	   acknowledges it, a higher fence supersedes it, or it is a day old.
//	W5 Nothing is confirmed as stopped before its last executor is gone.
//
// Read config.go, machine.go, link.go, dispatch.go, allocate.go, execute.go,
// cancel.go, result.go, store.go, drain.go.
package worker
