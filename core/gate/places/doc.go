// Package places holds what a gate knows about datacenters and managers from their heartbeats:
// which ones are alive, their free cores, which one leads, and which datacenter the gate favours.
//
// It does not choose what runs where (core/gate/queue does) and sends nothing. core/gate
// acknowledges heartbeats, sets the timer of the first loss, and persists the names of
// datacenters. It reads no clock: its caller passes the time.
//
// Source: DESIGN.md, "Gate".
//
// Invariants:
//
//	PLACES-1 A manager that is known belongs to one datacenter, which lists it.
//	PLACES-2 A heartbeat counts once, and only if it is newer than all before it: one on a
//	         superseded stream counts nothing.
//	PLACES-3 A name belongs to the newest incarnation of a live manager, at one address.
//	PLACES-4 A datacenter stays known while it has managers, and DatacenterAge beyond.
//	PLACES-5 The favourite changes for a lower cost after 30 s of a fifth less, at most once a
//	         minute. The gate leaves one that is ill at once, if another one is well.
//	PLACES-6 Candidates for a new subjob have the best decision of core/health. What a manager
//	         has stays there, whatever the decision.
//	PLACES-7 A manager that says nothing at all for half a second and two ways after a dispatch
//	         is no candidate before it speaks, or opens another stream.
//
// Read places.go, then manager.go, datacenter.go, favour.go, list.go.
package places
