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
// Only sources with waiting requests count. Windows bound what a source asks for in 10 s.
//
// A request that an earlier hop has admitted is refused only if it would be late. In exchange,
// answers carry the Outlook of later hops to the door that admits.
//
// Invariants:
//
//	ADMIT-1 A critical request is admitted, and takes no place that others count.
//	ADMIT-2 No bound is exceeded: places, lanes, sources. All memory is bounded by Config.
//	ADMIT-3 A source that holds no place is never refused for its share.
//	ADMIT-4 RetryAfter is from 1 to 30 s. A source that waits as long is within its limit.
//	ADMIT-5 A level rises at once, and falls by one after 10 ticks below it.
//	ADMIT-6 A stressed node does not change its baseline.
//
// Wiring, for a gate:
//
//	entrance   v := door.Admit(now, detector.Level(), &Request{class, operation, source, left})
//	           for each JobSubmit, JobQuery and JobWatch of a client, before it takes a place in
//	           the mailbox. If refused: Refused with a code for overload, which the catalogue
//	           lacks yet, and v.RetryAfter plus jitter.
//	Step       begins with door.Begin(v.Place, left): false is a refusal as well. It ends with
//	           door.End(class, took) and detector.Observe(in.Waited + took). The lag of the loop
//	           that core/health measures is one more Observe.
//	timer      each 250 ms: detector.Tick(door.Share(), memory, fill of other lanes)
//	answers    of a later hop carry its door.Ahead; door.Behind takes it. The waits of calls that
//	           follow each other add up, of parallel ones the longest counts.
//
// Until clients send their deadline, left is how long a client of this version waits for an
// answer. The source is the peer's certificate or address: clients choose their ids.
//
// lab compares the door with published algorithms: docs/overload.md.
//
// Read level.go, detector.go with histogram.go, door.go, then sources.go and window.go.
package admission
