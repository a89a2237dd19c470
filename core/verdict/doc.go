// Package verdict computes what thresholds say about merged statistics.
//
// It merges nothing and knows no histogram's layout: its caller passes a function for
// quantiles (core/stats has one). It does not decide exit codes either.
//
// Source: docs/workflows.md, "Thresholds"; DESIGN.md, "Gate".
//
// Invariants:
//
//	VERDICT-1 The value depends on the threshold, the statistics and the elapsed time
//	          alone; integers only.
//	VERDICT-2 A threshold on something that never happened has failed, and says that it
//	          measured nothing: a run that measured nothing proves nothing.
//	VERDICT-3 A watched condition has held when each judgement during its time was true, on
//	          the statistics of the window before it.
//	VERDICT-4 A threshold over parts of the time is judged on whole spans, which executors
//	          count exactly: each of its windows holds, or it has failed.
//	VERDICT-5 A rate is over the time in which load ran: a gap that lost attempts leave is
//	          no part of it.
//
// Example:
//
//	judgement, err := verdict.Judge(&t, &merged, elapsed, quantile)
//
// Read verdict.go, parts.go, watch.go, then merge.go.
package verdict
