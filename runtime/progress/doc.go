// Package progress shows people the progress of something long: on a terminal as one line that
// changes, elsewhere as a new line now and then.
//
// It is not the screen of a run (runtime/ui), keeps no log, and decides nothing. It needs only
// the operating system, so that benchmarks in other modules can use it.
//
// Invariants:
//
//	PROGRESS-1 A line that moves leaves nothing behind: Clear and Print begin an empty line.
//	PROGRESS-2 Of many calls few print: 5 a second on a terminal, one in 5 s elsewhere.
//	PROGRESS-3 No end is promised before something is done.
//
// Read progress.go.
package progress
