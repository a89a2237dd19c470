// Package verdict computes what thresholds say about merged statistics.
//
// It merges nothing and knows no histogram's layout: quantiles come from a
// function that the caller passes (core/stats has it). It does not decide exit
// codes either.
//
// Source: DESIGN.md, "Workflows"; docs/workflows.md, "Thresholds".
//
// Invariants:
//
//	V1 The value depends on the threshold, the statistics and the elapsed time
//	   alone; integers only.
//	V2 A threshold on something that never happened has failed, with value 0: a
//	   run that measured nothing proves nothing.
//
// Example:
//
//	value, ok, err := verdict.Evaluate(&t, &merged, elapsed, quantile)
//
// Read verdict.go, then merge.go.
package verdict
