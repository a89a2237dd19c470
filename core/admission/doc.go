// Package admission decides which requests a node admits, so that those that it admits end
// within their callers' deadlines.
//
// It does not queue (core/node's mailbox does), reads no clock and sends nothing. It does not
// limit peers: their heartbeats are leases.
//
// A Detector derives the node's Level. Its input is the p99 of wait and handling in a tick of
// 250 ms, against a baseline that stands still while the node is stressed. Shares of bounds
// (places, memory) are the other input; the worst wins.
//
// A Door decides on one request from its class, its caller's deadline, what waits, and the
// level. The level shortens the wait that a class may have: the lowest class feels it two
// levels sooner. It refuses no class as a whole, since a node whose normal requests are all
// refused idles until its level falls. Instead the lanes of the mailbox are strict: what is
// low is admitted only where everything above it leaves room.
//
// A source holds at most bound/(n+1) of the places while n sources hold some (as in Choudhury
// and Hahne, "Dynamic Queue Length Thresholds", 1998), so that one more source finds room.
// Only sources with waiting requests count. Windows bound what a source asks for in 10 s, from Stressed on.
//
// Invariants:
//
//	ADMIT-1 A critical request is admitted, and takes no place that others count.
//	ADMIT-2 No bound is exceeded: places, lanes, sources. All memory is bounded by Config.
//	ADMIT-3 A source that holds no place is never refused for its share.
//	ADMIT-4 RetryAfter is from 1 to 30 s. A source that waits as long is within its limit.
//	ADMIT-5 A level rises at once, and falls by one after 10 ticks below it.
//	ADMIT-6 A stressed node does not change its baseline.
//	ADMIT-7 Slots refuse from 80 % of their bound on, to the unit.
//	ADMIT-8 Requests that a burst left over get appointments as far apart as the node takes for
//	        one. A source that has one ahead gets the next at the pace of its share, and moves
//	        no appointment of others.
//
// An Entrance puts a door before the mailbox of a gate, and feeds its Detector. A gate answers a
// client itself, so a door knows no later hop: lab has what chains of servers need. Messages carry
// no deadline yet, so Patience stands for it. The source is the peer's address: clients choose
// their ids.
//
// lab compares the door with published algorithms: docs/overload.md.
//
// Slots are a worker's: it compares the results that wait for its managers with their bound. It
// refuses dispatches at 80 %, and reports its slots in heartbeats, so that managers skip it.
//
// Read level.go, detector.go with histogram.go, door.go, sources.go and window.go, appoint.go, entrance.go,
// then slots.go.
package admission
