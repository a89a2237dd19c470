// Package workers holds worlds about workers and what they run: results, cores, shards
// that stay in one place, rows of unique feeds, and workflows that abort.
//
// It builds no cluster (package cluster), and judges a world only where its own faults
// make a promise that package checker cannot know.
//
// Source: DESIGN.md, "The simulator".
//
// Invariant:
//
//	WORKERS-1 A world that names a promise draws the faults that could break it.
//
// Example:
//
//	all := workers.Worlds()
//
// Read workers.go, shards.go, then rows.go, gather.go, aborts.go and scaled.go.
package workers
