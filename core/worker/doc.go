// Package worker runs shards of workflows on the cores of one machine: it keeps
// their fences, hands out cores, starts and ends executors, and keeps each
// result until a manager has it.
//
// It does not choose what runs (core/manager) and does not run it (the executors behind
// node.Executor do). Four subpackages decide, without an Env. core/worker/cores decides which
// execution gets which cores, core/worker/outbox which manager gets a result next.
// core/worker/fences remembers shards that do not run here. core/worker/budget judges what an
// executor uses. This package connects them, in
// layers that call down only: holdings, results, orders, Machine.
//
// Source: DESIGN.md, "Execution" and "The unit of dispatch". One dispatch is one
// shard under one fence; the allocator here, not the manager's count, decides
// whether there are cores.
//
// Invariants:
//
//	WORKER-1 A shard's fence is on disk before anything starts or stops under it. It never
//	         falls until it is reaped, across restarts too.
//	WORKER-2 The worker starts a shard at most once under a fence, and never once it refused
//	         that fence. It answers an equal dispatch again and starts nothing.
//	WORKER-3 A core has one owner from the moment it is reserved until its execution's
//	         last executor is gone.
//	WORKER-4 The worker keeps a result, on disk where the disk lets it, until its manager
//	         acknowledges it, a higher fence supersedes it, or it is a day old.
//	WORKER-5 The worker confirms no stop before the last executor is gone.
//	WORKER-6 A shard runs until RenewalTimeout after this worker *sent* the last heartbeat
//	         whose answer named it under its fence, whichever manager answered; at first,
//	         after it sent the last that was answered before the dispatch came. Then the
//	         worker kills its executors, as they end by themselves while the worker is
//	         suspended. No deadline that has come is ever moved (T13).
//	WORKER-7 An execution that the worker gave up reports no result. Once its executors are
//	         gone it leaves the heartbeat; its fence stays on disk.
//	WORKER-8 Executors that join a workflow have its time from their machine's own clock: the
//	         worker adds what passed since the dispatch came.
//	WORKER-9 A worker that is kept for a workflow starts nothing else, and it is kept for none
//	         while anything else is reserved or runs.
//	WORKER-10 A worker starts no shard while results that managers may take soon fill 80 % of its
//	         outbox. It rejects the dispatch before it writes the fence.
//	WORKER-11 An executor whose loop says nothing for ExecutorSilence, what it was granted, and a
//	         third of that, is killed, and its shard fails by FaultExecutor. Time in which this
//	         worker was stopped does not count. An extension moves no deadline.
//	WORKER-12 An executor that uses too much of its budget of memory (core/worker/budget) is
//	         throttled, then killed, and its shard fails by FaultProgram. On a machine that is short
//	         of memory the largest is killed, and its shard fails by FaultMemory. Each result says
//	         what its executors used, and for how long they were throttled.
//
// What a manager may rely on: it may dispatch a shard elsewhere when RenewalTimeout, plus the
// drift of both clocks, has passed since its last answer that named the shard, or since its
// dispatch. It may do so at once when the worker's heartbeat no longer lists the shard.
//
// Results go to the manager that renewed last, and to all in turn if that one does not
// acknowledge: another may have taken the subjob over.
//
// Read config.go, execution.go, holdings.go, managers.go, disk.go; stop.go, result.go;
// hold.go, dispatch.go, start.go, cancel.go, renew.go, rows.go; machine.go, link.go, execute.go,
// memory.go, drain.go, group.go, rest.go.
package worker
