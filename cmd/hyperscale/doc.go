// Command hyperscale is the product's one binary: it runs load tests on this
// machine or on a cluster, is each node of that cluster, and its simulator.
//
// It holds no logic of a load test, a node or a simulation: those are core,
// runtime and scenarios. A command here reads flags, wires what exists, says
// what happened and chooses an exit code.
//
// Source: docs of the command line; names, flags, exit codes and what machines
// read of the output never change meaning.
//
// Invariants:
//
//	CMD-1 Results go to stdout, progress and logs to stderr.
//	CMD-2 Every refusal names the flag, file or address, its value, and a remedy.
//	CMD-3 The exit code is the highest in the order 130, 1, 99, and 2 for what
//	      never began.
//	CMD-4 A command that ends leaves no process, file or port behind.
//
// Read main.go, root.go, run.go, local.go and submit.go. Commands that run load tests
// are here, a file each; internal/author holds those of an author, internal/operate
// those of an operator, internal/simulate the simulator's. They share
// internal/command, source, session and follow.
package main
