// Package ui shows a job to a person: its progress while it runs, and the summary
// at its end.
//
// It measures, merges and judges nothing: progress is a fold of the job's statuses
// (model.go), thresholds are asked of core/verdict, the summary is a rendering of the
// job's result (runtime/report). It does not stop jobs: a key that asks for it calls a
// function of the screen's caller.
//
// The screen draws itself: a function from model, size, style and view to lines, which
// goldens and a property can hold. bubbletea brings keys, sizes and the terminal's modes; a
// painter writes the lines that changed between two frames, four of them a second, for well
// below 1 % of a core. Widgets would bring state of their own, and cells cost five times that.
//
// Source: DESIGN.md, "Who lives here". Percentiles of an interval come from
// differences of cumulative histograms, never from other percentiles.
//
// Invariants:
//
//	UI-1 Screens, lines and the summary are pure functions of their arguments; the
//	     summary is the same whatever showed the progress.
//	UI-2 Nothing that a target or a user's program wrote reaches the terminal as a
//	     control character.
//	UI-3 The terminal is as it was when the screen closes or stops, and when the process
//	     dies, however it dies.
//	UI-4 Without colour nothing is lost but colour; without UTF-8 nothing but dots.
//	UI-5 A screen has no more lines and columns than it was given, whatever the names.
//	UI-6 Only the goroutine that writes to a terminal waits for it.
//
// Read paint.go, summary.go, summary_phases.go, summary_end.go, comparison.go; model.go, flow.go,
// totals.go, places.go, workers.go, judge.go, past.go; screen.go, body.go, tabs.go, plot.go, line.go,
// keys.go; then progress.go and live.go, which touch the terminal. Package units writes numbers, cells
// measures text, console holds the terminal.
package ui
