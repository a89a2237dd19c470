// Package outputs holds worlds whose gates deliver the rows of jobs to sinks.
//
// It delivers nothing itself, and it knows no kind of place: its sinks keep what gates hand over.
//
// Source: outputs in DESIGN.md.
//
// Invariants:
//
//	OUTPUTS-1 (O) For each job, sink, datacenter, workflow and step: windows = result + lost, for each count. Windows
//	       of one key do not overlap, and rows that come again are the same.
//	OUTPUTS-2 (O) A sink that adds up has at most as many rows twice as the gates report.
//	OUTPUTS-3 (O) Each sink of a job that has ended has all, or the gates report that they gave it up, and how many
//	       requests it lacks at most.
//
// Read outputs.go, sinks.go.
package outputs
