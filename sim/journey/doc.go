// Package journey follows messages from who sent them to who got them, in what
// a sim.Observer is told.
//
// It does not keep history: a story or a picture keeps the journeys that it
// wants. It does not know why a message was lost, only that it never arrived.
//
// Source: DESIGN.md, "The simulator". A stream's two ends are told apart as in
// netsim; a datagram is known by its sender and its digest.
//
// Invariants:
//
//	JOURNEY-1 A message that is handed over belongs to the oldest equal one that was
//	          sent the same way and has not arrived.
//	JOURNEY-2 What arrives without having been sent is a copy: its Sent is negative.
//	JOURNEY-3 A tracker holds what is on its way or lost, and the names of nodes.
//
// Read tracker.go, then subject.go.
package journey
