// Package carrier delivers the batches of a gate's jobs to the sinks that its configuration names.
//
// It makes no rows and decides nothing about a job: the gate's machine does (core/output), keeps each batch on a
// majority before it hands it over, and gives it up. So there is no spool on a disk here: a gate that takes a job over has
// the same files. One shell (runtime/outputs) stands before each sink, whatever the number of jobs.
//
// Source: outputs in DESIGN.md; node.Outputs is the contract.
//
// Invariants:
//
//	CARRIER-1 Deliver and Forget never wait, whatever sinks do.
//	CARRIER-2 Each delivery is answered with one last verdict, unless it was forgotten or the carrier was closed.
//	CARRIER-3 All sinks together hold MemoryMax bytes at most, and one sink no part of another's: a dead sink takes nothing
//	          from the others. What has no room is answered at once, and the machine offers it again.
//	CARRIER-4 Rows of one delivery never share a batch with those of another: each owner of a job delivers the same batches.
//	CARRIER-5 An answer says rows, requests and reasons, and no secret.
//
// Read carrier.go, line.go, stats.go.
package carrier
