// Package feed gives the rows of a job that a command runs, or follows, to the sinks of the command.
//
// It makes no rows (core/output does), does not deliver (runtime/outputs does) and knows no kind of place.
//
// Source: outputs in DESIGN.md.
//
// Invariants:
//
//	OUTFEED-1 Apply never waits, whatever the sinks do.
//	OUTFEED-2 The time of a row is the acceptance of the job, by this machine's clock at the first status, plus a
//	       multiple of the window.
//
// Read deliveries.go.
package feed
