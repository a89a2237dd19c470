// Package subjob is one job's share of a datacenter as a value. It holds its workflows, their
// shards, what a register's record says of them, and what follows from that.
//
// It decides and reads; it sends nothing, sets no timer, emits no event and persists nothing.
// core/manager does: it commits a record before it acts on it. A method that needs the time has
// a parameter now.
//
// Source: DESIGN.md, "Manager".
//
// Invariants:
//
//	SUBJOB-1 A written record reads as the same subjob, and names each file that the subjob
//	         needs. Damaged bytes are an error, never a panic.
//	SUBJOB-2 A workflow ends COMPLETED when all its shards do, else FAILED where it has
//	         a failure, else as its shards did.
//	SUBJOB-3 Rows that a lost attempt was leased, and that its figures do not count as taken,
//	         are burned: no other attempt has them. Values of a counter are leased once,
//	         whatever workflow of the job wants them.
//	SUBJOB-4 A fence is adopted only above those that were given up.
//	SUBJOB-5 What a lost attempt reported last counts once, under its fence. Its replacement
//	         joins the workflow's time; neither counts what was due between the two as begun.
//	SUBJOB-6 A stop ends all workflows but the one that cleans up. That one ends when its time
//	        is over or a gate asks for it, once a majority knows.
//	SUBJOB-7 A barrier lets pass as many waits at once as it wants, or a multiple of that, each once.
//	         What it has let pass is on a majority before any executor knows, so that no later
//	         holder counts it again. An answer to a report says all that was decided on it.
//	SUBJOB-8 A sum that takes many steps is what one step would have made of the instant at which
//	         it began.
//
// Read subjob.go, workflow.go, shard.go, claim.go, cleanup.go, lost.go, state.go, adopt.go, given.go, rows.go, barrier.go,
// figures.go, sum.go, fit.go, record.go, codec.go.
package subjob
