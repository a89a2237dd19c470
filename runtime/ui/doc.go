// Package ui shows a job to a person: its progress while it runs, and the summary
// at its end.
//
// It measures, merges and judges nothing: progress is a fold of the job's statuses
// (model.go), the summary a rendering of its result (runtime/report). It does not
// stop jobs: a key that asks for it calls a function of whoever opened the screen.
//
// Source: DESIGN.md, "Who lives here". Percentiles of an interval come from
// differences of cumulative histograms, never from other percentiles.
//
// Invariants:
//
//	U1 Screens, lines and the summary are pure functions of their arguments; the
//	   summary is the same whatever showed the progress.
//	U2 Nothing that a target or a user's program wrote reaches the terminal as a
//	   control character.
//	U3 The terminal is as it was when the screen closes, and when the process dies,
//	   however it dies.
//	U4 Without colour nothing is lost but colour.
//
// Read format.go, paint.go, summary.go, summary_phases.go, model.go, screen.go, plot.go, line.go, then
// progress.go, live.go and guard.go, which touch the terminal.
package ui
