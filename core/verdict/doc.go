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
//	VERDICT-1 The value depends on the threshold, the statistics and the elapsed time
//	          alone; integers only.
//	VERDICT-2 A threshold on something that never happened has failed, with value 0: a
//	          run that measured nothing proves nothing.
//	VERDICT-3 A condition that is watched has held when each judgement for its time found
//	          it so, on what came to an end in the window before.
//
// Example:
//
//	value, ok, err := verdict.Evaluate(&t, &merged, elapsed, quantile)
//
// Read verdict.go, watch.go, then merge.go.
package verdict
