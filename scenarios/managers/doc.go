// Package managers holds worlds about managers: dispatch, take-over, the loss of a
// datacenter, records that no majority has, and peers that lose each other.
//
// It builds no cluster (package cluster), and judges a world only where its own faults
// make a promise that package checker cannot know.
//
// Source: DESIGN.md, "The simulator".
//
// Invariant:
//
//	MANAGERS-1 A world that names a promise draws the faults that could break it.
//
// Example:
//
//	all := managers.Worlds()
//
// Read managers.go, majority.go, peers.go, able.go, files.go, then bounds.go and memory.go.
package managers
