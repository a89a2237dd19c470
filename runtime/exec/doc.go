// Package exec runs workflows in child processes: one process a core, started from the same
// binary, pinned and pre-warmed, and killed if it must end. Pool is a worker's node.Executor
// in production; Main is the child's program.
//
// It is not the load engine (runtime/engine runs inside the child) and decides
// nothing about shards, fences or retries (core/worker does).
//
// Source: DESIGN.md, "Worker". Parent and child talk over a socket pair on descriptor 3,
// with the frames of core/message.
//
// Invariants:
//
//	EXEC-1 A child lives no longer than its parent: end of file on 3 ends it, even
//	       when the parent was killed and could do nothing.
//	EXEC-2 Each Start leads to exactly one ExecGone, the last event of its ExecID, once the
//	       process is reaped. Then the core is free, and the target sees no more of it.
//	EXEC-3 One run a process: nothing of one run (memory, sockets, interpreter
//	       state) reaches the next.
//	EXEC-4 The pool measures what a child and the processes that it started have for themselves,
//	       and reports it to the worker, which judges it. It kills a child that has a quarter
//	       more than its budget itself, and reports that reason. A kill ends all these processes.
//	EXEC-5 No call of node.Executor blocks.
//	EXEC-6 A child that was extended sends nothing after the last end that it got, by its own
//	       reading of CLOCK_BOOTTIME. It needs neither its worker, which may be stopped, nor
//	       its engine, which may hang. The process is gone 100 ms later.
//	EXEC-7 Rows that do not travel with a program are in memory before a child has its
//	       work, once for all children. The last child that uses them frees them.
//	EXEC-8 A child leaves no core dump, and lets no process of its user
//	       read its memory. What is kept of its stderr has no secret.
//	EXEC-9 A child reports twice a second that its engine's loop turns, and no other goroutine
//	       says so in its place.
//
//	EXEC-10 A child gets the variables that it needs, and no other of its worker's. Before it takes
//	       work it gives up what no run needs (runtime/exec/confine), or its worker logs why not.
//
//	EXEC-11 A child's custom programs (runtime/process) are its worker's children, in the child's process
//	        group: a kill of the child ends them. A child that ends by itself ends them first.
//
// Read pool.go (cores and their children), child.go (one process, from outside), pin.go,
// usage.go, family.go and machine.go (what children use), lend.go (memory of rows), programs.go (custom programs), wire.go (frames), main.go,
// memory.go, surroundings.go (what a child gets), lease.go and rows.go (the child, from inside).
package exec
