// Package roster keeps the workers of a datacenter as their heartbeats describe them. It knows
// which ones registered, on which stream, with how many cores, and what each lists and got.
//
// It sends nothing, sets no timer and loses no shard: core/manager does, from the results of
// the roster's methods. It ranks the workers that may receive shards, and core/manager/place
// chooses among them.
//
// Source: DESIGN.md, "Manager".
//
// Invariants:
//
//	ROSTER-1 Each name has one worker, and a worker at most one stream. A later
//	         incarnation replaces an earlier one; no other worker takes its name.
//	ROSTER-2 A worker has free what it reported last, less what the manager gave it since
//	         and it does not list under that fence. That is never less than nothing.
//	ROSTER-3 The ranking has the workers that stand, are alive, are not being drained, and
//	         are neither loaded nor spared, with their free cores, and no others.
//	ROSTER-4 A heartbeat changes a worker only above the sequence of the one before.
//
// Read worker.go, roster.go, register.go, streams.go, rest.go.
package roster
