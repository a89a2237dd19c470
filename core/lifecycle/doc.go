// Package lifecycle is the law of states: which state of a job and of a workflow may
// follow which, and how ends of parts add up to the end of a whole.
//
// It holds no job and does nothing: core/gate and core/manager keep states and
// ask here before they change one. Everything is a pure function of its
// arguments.
//
// Source: DESIGN.md, "Jobs", with the transitions listed there.
//
// Invariants:
//
//	LIFECYCLE-1 A terminal state absorbs: nothing follows it.
//	LIFECYCLE-2 A transition that Legal* refuses is a bug of the caller, not bad input.
//
// Read lifecycle.go.
package lifecycle
