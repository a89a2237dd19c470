// Package page draws a result, or what differs between results, as one page of HTML that
// needs nothing else: no network, no library, no file beside it. It is what `--out html=FILE`
// writes.
//
// It does not measure or judge (the result, or runtime/compare, says all that it shows), keeps nothing
// and reads no file. runtime/ui draws the same for a terminal; its formats are used here.
//
// Source: docs/result.md for what the figures mean. Curves of percentiles are those
// of HdrHistogram: the axis is log(1/(1-q)), so that each nine has the same room.
//
// Invariants:
//
//	PAGE-1 Text from outside is escaped where it stands: templates do it, and plot.go by hand.
//	PAGE-2 The page asks nobody for anything: its policy forbids all but its own style and script.
//	PAGE-3 It is at most sizeMax long whatever the result; what is left out is told at its place.
//	PAGE-4 Without its script it says the same: that only shows values under the pointer,
//	       changes the theme and opens what is folded before printing.
//	PAGE-5 Quantiles over time are drawn as what they are known to be: an octave.
//
// Read page.go, limits.go, verdict.go, workflow.go, tables.go, places.go, workers.go, again.go; then course.go, axis.go,
// plot.go, overtime.go, curve.go, phases.go; page.html, parts.html, page.css and page.js are what they
// fill. Of comparisons: comparison.go, changes.go, beside.go, runs.go, diff.go, comparison.html.
package page
