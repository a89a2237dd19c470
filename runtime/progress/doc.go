// Package progress shows people how far something long has got: on a terminal one line
// that moves, elsewhere a new line now and then.
//
// It is not the screen of a run (runtime/ui), keeps no log, and decides nothing. It needs
// nothing but the system, so that a benchmark in a module of its own can use it.
//
// Invariants:
//
//	PROGRESS-1 A line that moves leaves nothing behind: Clear and Print begin an empty line.
//	PROGRESS-2 Of many calls few print: 5 a second on a terminal, one in 5 s elsewhere.
//	PROGRESS-3 No end is promised before something is done.
//
// Read progress.go.
package progress
