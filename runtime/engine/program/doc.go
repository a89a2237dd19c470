// Package program carries the calls of custom programs on a run's loop: over the pipes of their processes,
// which the loop's poller watches.
//
// It starts no process (a Starter does) and knows no line of the protocol (runtime/protocol/custom does).
// What an answer means to a step, runtime/engine/talk says.
//
// Source: docs/workflows.md, "A program of your own"; docs/engine.md.
//
// Invariants:
//
//	PROGRAM-1 Before the clock each process has said its hello, or the run does not begin.
//	PROGRAM-2 A call that finds no room waits, and its timeout begins once it is sent. Calls wait in their
//	          order.
//	PROGRAM-3 When a process ends or breaks the protocol, its open calls and the waiting ones of its client
//	          fail with the kind process, and Fault says why the run ends: the program, its exit code or
//	          signal, and the last lines of its stderr.
//	PROGRAM-4 A call that is given up is cancelled, and its place is free.
//	PROGRAM-5 End waits for the processes EndWithin at most, and tells where their counts of calls differ
//	          from what was sent.
//
// Example:
//
//	fleet, err := program.Open(ctx, conns, program.Config{Programs: w.Customs, Starter: starter, Seed: 7})
//	conns.Aside = fleet
//
// Read fleet.go, open.go, process.go, end.go.
package program
