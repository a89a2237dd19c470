// Package exec runs workflows in child processes: one process a core, started
// from the same binary, pinned, pre-warmed, and killed for good when it must
// end. Pool is what a worker's node.Executor is in production; Main is what the
// child does.
//
// It is not the load engine (runtime/engine runs inside the child) and decides
// nothing about shards, fences or retries (core/worker does).
//
// Source: DESIGN.md, "Executors". Parent and child talk over a socket pair on
// descriptor 3 with the frames of core/message.
//
// Invariants:
//
//	EXEC-1 A child lives no longer than its parent: end of file on 3 ends it, even
//	       when the parent was killed and could do nothing.
//	EXEC-2 Each Start is followed by exactly one ExecGone, the last event of its
//	       ExecID, after the process is reaped: the core is free, the target sees no
//	       more of it.
//	EXEC-3 One run a process: nothing of one run (memory, sockets, interpreter
//	       state) reaches the next.
//	EXEC-4 A child that uses more memory than its limit is killed, with that reason.
//	EXEC-5 No call of node.Executor blocks.
//	EXEC-6 A child that was extended sends nothing after the last end it was given, by
//	       its own reading of CLOCK_BOOTTIME and by nobody's help: not its worker's,
//	       which may be stopped, nor its engine's, which may hang. The process is gone
//	       100 ms later.
//	EXEC-7 Rows that do not travel with a program are in memory before a child has its
//	       work, once for all children, and let go with the last that uses them.
//
// Read pool.go (cores and their children), child.go (one process, from outside),
// lend.go (memory of rows), wire.go (frames), main.go, lease.go and rows.go (the child,
// from inside).
package exec
