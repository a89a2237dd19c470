// Command size compares the binary of the work tree with that of a commit, against bounds: `make size BASE=COMMIT`.
//
// It says how large both are, stripped and packed, which modules go.mod names now and did not, and what an executor
// needs until it is ready: time, processor and memory. With -why it says which packages weigh, and what keeps the linker
// from leaving out methods.
//
// It judges the whole growth since the commit: what else came in between is in it.
//
// Invariants:
//
//	SIZE-1 Both binaries are built alike, by cmd/release of the work tree.
//	SIZE-2 Executors of both start in turns, so that other work on the machine slows both.
//	SIZE-3 A bound that is missed is an exit code of 1.
//
// Read main.go, build.go, start.go, then why.go.
package main
