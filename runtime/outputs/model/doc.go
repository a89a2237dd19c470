// Package model says what a row means in places that know metrics: names, units, kinds and attributes of its figures.
//
// It writes no format and opens no place: runtime/outputs/push and runtime/outputs/lines do. Places with
// tables have columns instead.
//
// Source: "Metrics" in docs/outputs.md; OpenTelemetry's "Metrics semantic conventions" for names and units.
//
// Invariants:
//
//	MODEL-1 The counters of a row are its counts: the sums over windows are the counts of the result, less the
//	        windows that the output reports as lost. A result's own figures are gauges, so no sum counts them twice.
//	MODEL-2 A distribution keeps every request: the counts of Values and of Exponential add up to the histogram's.
//	MODEL-3 A row gives the same points in the same order every time.
//
// Example: the row of a window gives hyperscale.requests{result=ok} 120, a counter of {request}.
//
// Read points.go, quantiles.go, exponential.go, values.go.
package model
