// Package linear judges whether the operations on one object, as the observer of
// all nodes saw them begin and end, could have happened one after the other
// (linearizability, T4).
//
// It reads no events: package checker turns them into calls and returns. It never
// asks how long something took: every bound is a number of operations.
//
// Source: Herlihy and Wing 1990 (the property), Lowe 2017, "Testing for
// linearizability" (the sweep), porcupine (the second judge, and the picture).
//
// A partition is the history of one object. It is judged in windows: when a hundred
// operations have gathered and none is open, all ways in which they may have
// happened are found in one pass (sweep.go), and the states in which they may have
// left the object are where the next window begins. An operation that never returned
// is carried on until it can change nothing any more. So memory does not grow with
// the length of a history, and nothing is lost by cutting. Where operations
// overlapped, porcupine judges the window again, from each of those states, if it
// has at most 200 operations and at most 8 are open at once; the two must agree.
//
// Invariants:
//
//	LIN-1 a window that is accepted has an order; one that is refused has none
//	LIN-2 what was not decided is a Failure with Undecided, never an acceptance
//	LIN-3 the verdict is a function of the history: no map's order, no time enters it
//
// Read model.go, partition.go, sweep.go, then the models: register.go, jobs.go;
// explain.go last.
package linear
