// Package worker runs shards of workflows on the cores of one machine: it keeps
// their fences, hands out cores, starts and ends executors, and keeps each
// result until a manager has it.
//
// It does not choose what runs (core/manager) and does not run it (the
// executors behind node.Executor do).
//
// Source: DESIGN.md, "Execution" and "The unit of dispatch". One dispatch is one
// shard under one fence; the allocator here, not the manager's count, decides
// whether there are cores.
//
// Invariants:
//
//	WORKER-1 The fence of a shard is on disk before anything starts or stops under it,
//	         and never falls, across restarts too, until it is reaped.
//	WORKER-2 One shard and fence is started at most once, and never once it was refused. An equal dispatch is answered
//	         again and starts nothing.
//	WORKER-3 A core has one owner from the moment it is reserved until its execution's
//	         last executor is gone.
//	WORKER-4 A result is kept, on disk where the disk lets us, until its manager
//	         acknowledges it, a higher fence supersedes it, or it is a day old.
//	WORKER-5 Nothing is confirmed as stopped before its last executor is gone.
//	WORKER-6 A shard runs until RenewalTimeout after this worker *sent* the last heartbeat
//	         whose answer named it under its fence, whichever manager answered; at first,
//	         after it sent the last that was answered before the dispatch came. Then its
//	         executors are killed, as they end by themselves while this worker is
//	         suspended. A deadline that has come is never moved (T13).
//	WORKER-7 What was given up so is not told as a result: it is not listed any more once
//	         it is gone, and its fence stays.
//
// What a manager may count on: it may dispatch a shard elsewhere once RenewalTimeout,
// lengthened by the drift of both clocks, has passed since its last answer that named
// the shard, or its dispatch; at once when the worker does not list it any more.
//
// Results go to the manager that renewed last, and to all in turn when that one does
// not acknowledge: another may have taken the subjob over.
//
// Read config.go, machine.go, link.go, renew.go, dispatch.go, allocate.go, execute.go,
// cancel.go, result.go, store.go, drain.go, group.go, sizes.go, rest.go.
package worker
