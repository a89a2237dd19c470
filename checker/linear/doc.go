// Package linear judges linearizability (T4): whether the operations on one object could have
// happened one after the other. An observer of all nodes saw them begin and end.
//
// It reads no events: package checker turns them into calls and returns. It never
// asks how long something took: every bound is a number of operations.
//
// Source: Herlihy and Wing 1990 (the property), Lowe 2017, "Testing for
// linearizability" (the sweep), porcupine (the second judge, and the picture).
//
// A partition is the history of one object, judged in windows. A window ends when a hundred
// operations have gathered and none is open. One pass (sweep.go) finds all ways in which they
// may have happened. The states in which these leave the object begin the next window. An
// operation that never returned stays open until it can change nothing. So memory does not
// grow with the length of a history, and the cuts lose nothing. Where operations overlapped,
// porcupine judges the window again from each of those states, and the two must agree. It does
// so up to 200 operations, of which at most 8 are open at once.
//
// Invariants:
//
//	LIN-1 a window that is accepted has an order; one that is rejected has none
//	LIN-2 what was not decided is a Failure with Undecided, never an acceptance
//	LIN-3 the verdict is a function of the history: no map's order, no time enters it
//
// Read model.go, partition.go, sweep.go, then the models: register.go, jobs.go;
// explain.go last.
package linear
