// Package reference holds the worlds that figures are quoted of, steady and storm, and
// worlds with one thing wrong, each aimed at one promise.
//
// It does not hold the worlds of a role: packages gates, managers and workers do.
//
// Source: DESIGN.md, "The simulator".
//
// Invariant:
//
//	REFERENCE-1 Nothing goes wrong in steady: every job completes, and none runs twice.
//
// Example:
//
//	all := reference.Worlds()
//
// Read reference.go, then directed.go.
package reference
