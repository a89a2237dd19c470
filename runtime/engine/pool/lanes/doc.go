// Package lanes bounds the connections to one host that all users share: which are free, how many there
// may be, and who waits for one.
//
// It opens and closes nothing: it knows connections by their index alone, and its user does what it
// says. It knows no time: how long a claim may wait is its user's question.
//
// Source: DESIGN.md, "Execution".
//
// Invariants:
//
//	LANES-1 A connection has one claim at a time: it is free, or in use, or kept by what uses it.
//	LANES-2 There are Most connections at most, with those that are being opened.
//	LANES-3 Claims are served in the order in which they came. One that has left holds up none.
//
// Example:
//
//	l := lanes.Lanes[uint64]{Most: 8}
//	if at, free := l.Take(); free {
//		use(at)
//	} else if l.Reserve() {
//		open()
//	} else {
//		l.Wait(claim)
//	}
//
// Read lanes.go.
package lanes
