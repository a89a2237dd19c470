// Command hyperscale is the product's one binary. It runs load tests on this machine or on a
// cluster, it is each node of that cluster, and it is the simulator.
//
// It holds no logic of a load test, a node or a simulation: core, runtime and scenarios do. A
// command here reads flags, wires packages, reports what happened and chooses an exit code.
//
// Source: docs of the command line. Names, flags, exit codes and machine-readable output
// never change meaning.
//
// Invariants:
//
//	CMD-1 Results go to stdout, progress and logs to stderr.
//	CMD-2 Every rejection names the flag, file or address, its value, and a remedy.
//	CMD-3 The exit code is the highest in the order 130, 1, 99, and 2 for what
//	      never began.
//	CMD-4 A command that ends leaves no process, file or port behind.
//
// Read main.go, root.go, run.go, local.go and submit.go. Commands that run load tests
// are here, a file each; internal/author holds those of an author, internal/operate
// those of an operator, internal/simulate the simulator's. They share
// internal/command, source, session and follow.
package main
