// Package page draws a result, or what differs between results, as one page of HTML. The page
// needs no network, no library and no file beside it. `--out html=FILE` writes it.
//
// It does not measure or judge: it shows what the result, or runtime/compare, says. It keeps
// nothing and reads no file. runtime/ui draws the same for a terminal and shares its formats.
//
// Source: docs/result.md for what the figures mean. Curves of percentiles are those
// of HdrHistogram: the axis is log(1/(1-q)), so that each nine has the same room.
//
// Invariants:
//
//	PAGE-1 Text from outside is escaped where it stands: runtime/page/markup escapes all but constants.
//	PAGE-2 The page makes no request: its policy forbids all but its own style and script.
//	PAGE-3 It is at most sizeMax long whatever the result is, and says where it leaves out.
//	PAGE-4 Without its script it says the same. The script only shows values under the
//	       pointer, changes the theme and opens what is folded before printing.
//	PAGE-5 Quantiles over time are drawn with the precision that they have: a bucket.
//
// Read page.go, limits.go, verdict.go, workflow.go, tables.go, places.go, workers.go, again.go; then course.go, axis.go,
// plot.go, overtime.go, curve.go, phases.go; layout.go, page.css and page.js are how it looks.
// Of comparisons: comparison.go, changes.go, beside.go, runs.go, diff.go.
package page
