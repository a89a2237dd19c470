// Package gates holds worlds about gates: who owns a job, what clients are shown, what
// a gate's disk holds, and how operators drain, recover and bound gates.
//
// It builds no cluster (package cluster), and judges a world only where its own faults
// make a promise that package checker cannot know.
//
// Source: DESIGN.md, "The simulator".
//
// Invariant:
//
//	GATES-1 A world that names a promise draws the faults that could break it.
//
// Example:
//
//	all := gates.Worlds()
//
// Read gates.go, clients.go, edges.go, then files.go, recover.go and operated.go.
package gates
