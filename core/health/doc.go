// Package health measures how well this node itself does, whether a peer's clock can be
// trusted, and whether a process that it started still turns. It decides from three signals of a
// peer whether new work goes there.
//
// It does not say which peers live (core/swim), nor how a role acts at a level.
//
// A level is the worse of two values. core/swim counts local health. Monitor measures the
// lag of the node's own loop, by how late a timer fires. A level stretches timeouts and
// skips a share of optional probes.
//
// Clocks compares clocks without reading another's instant. A peer answers a probe with its
// uptime U, read between our sending s and our receiving r. Between two samples the peer's
// clock advanced by U2-U1. Ours advanced by at least s2-r1 and at most r2-s1. Clocks reports
// only what lies outside that interval and the bound. So it never reports a slow network or
// a stopped process.
//
//	ours   ---s1====r1-------------s2====r2--->
//	peer's      U1                    U2
//
// Watch says whether the loop of a process has hung. Time in which this node was stopped itself
// does not count.
//
// Decide has one table for alive, ready and progress. A decision is about new work alone: it frees
// nothing that a peer has, and kills nothing. A peer that is not ready gets no work even if it is
// stuck as well; one that is stuck gets some if no peer is better, since what waits there may
// concern nothing else. No signal depends on the system under test, nor on how full a cluster is.
//
// Invariants:
//
//	HEALTH-1 Bounds are half-open: a value belongs to one level.
//	HEALTH-2 No clock that drifts within the bound, and does not jump, is suspected,
//	         whatever the network does.
//	HEALTH-3 A clock that drifts by more is suspected as soon as the excess is larger than
//	         the round trips.
//	HEALTH-4 A process is stuck after a whole bound of silence, what it was granted, and a
//	         third of the bound. All grants of a life are below the bound.
//	HEALTH-5 Decide is total, and a worse signal never leads to a better decision.
//
// Read level.go, monitor.go, clock.go, watch.go, signals.go.
package health
