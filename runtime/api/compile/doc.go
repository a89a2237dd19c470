// Package compile makes plans of programs that strangers send, in a child process.
//
// It judges no plan (core/plan) and runs no load. A process dies for each program: a file that exhausts memory,
// hangs or crashes the interpreter costs its child alone.
//
// Source: docs/security.md, "The HTTP API".
//
// Invariants:
//
//	COMPILE-1 A child has no environment, no files of its own, a bounded memory, 2 s of a processor, 10 s by the clock, and the
//	          system calls of an executor (runtime/exec/confine).
//	COMPILE-2 At most childrenMax children run at once, one of each caller, at a low priority. A caller waits a bounded time for
//	          its turn.
//	COMPILE-3 What a child says is bounded, and decoded as a message of a peer.
//
// An example:
//
//	plan, err := compile.New([]string{self, "compile"}).Program(ctx, "ci", &program)
//
// Read compile.go, child.go.
package compile
