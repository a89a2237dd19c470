// Package lifecycle says which state of a job or a workflow may follow which, and how the ends
// of shares add up.
//
// It holds no job and does nothing. core/gate and core/manager keep states, and ask here
// before they change one. Everything is a pure function of its arguments.
//
// Source: DESIGN.md, "Gate"; lifecycle_test.go writes the transitions as chains.
//
// Invariants:
//
//	LIFECYCLE-1 A terminal state absorbs: no state follows it.
//	LIFECYCLE-2 A transition that Legal* rejects is a bug of the caller, not bad input.
//
// Read lifecycle.go.
package lifecycle
