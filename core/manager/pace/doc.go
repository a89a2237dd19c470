// Package pace bounds what a manager has sent to workers and they have not answered, so that a
// renewal never waits behind the programs of hundreds of workers.
//
// It sends nothing and sets no timer: core/manager asks it before it sends a dispatch, and sends
// those that waited once there is room.
//
// Source: DESIGN.md, "Managers"; the sum of what is in flight is the window of a sender, as in
// Jacobson, "Congestion Avoidance and Control" (1988), with a fixed size.
//
// Invariants:
//
//	PACE-1 At most Count dispatches of at most Bytes are out; a single one may be larger.
//	PACE-2 Those that wait go in the order in which they came.
//	PACE-3 A dispatch without an answer takes room for Patience at most.
//	PACE-4 Each call costs O(Count).
//
// Read pace.go.
package pace
