// Package checker judges a history: the events that machines emitted, in the
// order in which an observer of the whole cluster saw them.
//
// It runs nothing and knows no role's code. Any recorder will do: a simulator passes events,
// and package history reads files of JSON lines from real processes. Each family of
// invariants has a judge with its own state. Checker hands each event to the judges that it
// concerns.
//
// Source: DESIGN.md, "What is proved". An observer reports what it knows of clocks,
// deaths and executors by Assume, Died and Forget. The checker rejects no history for what
// it was not given.
//
//	T1  tokens granted of a register rise in real time. Beyond the drift bound none is
//	    granted twice, and an attempt that began after a grant gets a higher one
//	T2  no two windows of a register are open at once (within the bound). An order for
//	    what a register owns is given inside its holder's window
//	T3  no receiver acts on a fence lower than one it has acted on, across restarts. A
//	    dispatch needs a greater one, and a given-up attempt counts nothing
//	T4  registers, receivers behind them, and jobs as clients see them are
//	    linearizable (package linear); "undecided" if that exceeds a bound
//	T5  one leader a term, and one vote a term of a voter, across its restarts
//	T6  one accepted execution per shard and fence; one of a shard on a worker
//	T7  a workflow begins after what it depends on has completed
//	T8  a shard counts once in a subjob, a subjob once in a job; of an attempt its result
//	    or, if it was lost, its last report. Sums add up, over all managers that held the
//	    subjob and all workers that its manager reports
//	T9  a core serves one execution at a time, and none for long after its job's end
//	T10 no node sheds a critical message, or breaks a stream because its mailbox is full
//	T10b load alone costs no lease, no peer, no member and no attempt (package cluster judges
//	    it, which knows what befalls a world)
//	T11 after healing, every accepted job ends within a bound, and has an owner
//	    until then; no register goes from hand to hand
//	T12 what a node keeps of anything, its mailbox included, is within its configuration's bound, and at its
//	    rest once everything has ended
//	T13 at most one attempt of a shard runs at a time, anywhere (within the bound)
//	F   a row of a unique feed is handed out once, over all attempts and datacenters
//	A   a workflow is ended by its own condition, or by a client, when a majority of the
//	    gates knows
//	E   best effort leaves a datacenter out at its time or later, as enough others have
//	    completed, and what was left out counts nowhere
//	K   what a client has cancelled stops, and nothing else does (a world judges it)
//	L   every change of state is legal, and the first terminal state wins
//	O   the rows that gates deliver add up to results and what is lost, over all owners of a job (package
//	    scenarios/outputs judges it, which knows what sinks have)
//	R   a node reports an alert when it begins and when it ends, once each
//	P   what a world promises beyond that, as nothing in it prevents it
//
// Safety is judged online, event by event, T4 a hundred operations at a time. Memory does not
// grow with the events of a register, a job or a shard. Finish judges liveness.
//
// Read checker.go, then receiver.go (T3, A), job.go (L, T8, T11), election.go (T5), feed.go
// (F), size.go (T12), promise.go (what P takes; job.go and execution judge it). Packages of
// their own judge more: register (T1, T2, T11), execution (T3, T6, T9, T13), account (T3, T7,
// T8, L), operation with linear (T4).
package checker
