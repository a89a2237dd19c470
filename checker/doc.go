// Package checker judges a history: the events that machines emitted, in the
// order in which an observer of the whole cluster saw them.
//
// It does not run anything, knows no role's code, and does not care who
// recorded the history: the simulator hands events over as they happen, a file
// of JSON lines from real processes reads the same.
//
// Source: DESIGN.md, "What is proved".
//
// Invariants that it judges:
//
//	T3  no receiver acts on a fence lower than one it has acted on, across its
//	    own restarts; a dispatch needs a greater one; no result is counted of an
//	    attempt that was given up
//	T6  one accepted execution per slice and fence, in the whole cluster, and one
//	    of a slice at a time on one worker
//	T7  a workflow begins after what it depends on has completed
//	T8  a slice counts once in a part, a part once in a job, and what is counted
//	    adds up
//	T9  a worker's core serves one execution at a time, and none for long after its
//	    job has ended
//	T11 after the last fault healed, every accepted job ends within a bound
//	L   every change of state is legal, and the first terminal state wins
//	P   what a world promises beyond that, as nothing in it prevents it: nothing
//	    is run again, a cancellation does not take long
//
// Safety is judged online, event by event, cheaply enough to be always on.
// Liveness is judged by Finish.
//
// Read checker.go, then fence.go, cores.go, count.go, state.go, order.go,
// promise.go, history.go.
package checker
