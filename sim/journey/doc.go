// Package journey follows messages from their sender to their receiver, as a sim.Observer
// sees them.
//
// It keeps no history: a story or a picture keeps the journeys that it wants. It does not know
// why a message was lost, only that it never arrived.
//
// Source: DESIGN.md, "The simulator". It tells a stream's two ends apart as netsim does, and
// knows a datagram by its sender and its digest.
//
// Invariants:
//
//	JOURNEY-1 A delivered message belongs to the oldest equal one that was sent the same way
//	          and has not arrived.
//	JOURNEY-2 A message that arrives without having been sent is a copy: its Sent is negative.
//	JOURNEY-3 A tracker holds messages under way or lost, and the names of nodes.
//
// Read tracker.go, then subject.go.
package journey
