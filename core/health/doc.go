// Package health says how well this node itself does, and whether a peer's clock
// can be trusted.
//
// It does not say who lives (core/swim), nor what a role does at a level.
//
// A level is the worse of two: local health, which core/swim counts, and the lag of
// the node's own loop, which Monitor measures by how late a timer fires. A level
// stretches timeouts and lets a share of optional probes be skipped.
//
// Clocks compares without ever reading another's instant: a peer answers a probe
// with how long it has been up, U, and reads that somewhere between our sending s
// and our receiving r. Between two samples its clock went on by U2-U1, ours by at
// least s2-r1 and at most r2-s1. Only what lies outside of these, and of the bound,
// is told: a slow network or a stopped process never is.
//
//	ours   ---s1====r1-------------s2====r2--->
//	peer's      U1                    U2
//
// Invariants:
//
//	HEALTH-1 Bounds are half-open: a value belongs to one level.
//	HEALTH-2 No clock that drifts within the bound, and does not jump, is suspected,
//	         whatever the network does.
//	HEALTH-3 A clock that drifts by more is suspected as soon as the excess is larger than
//	         the round trips.
//
// Read level.go, monitor.go, clock.go.
package health
