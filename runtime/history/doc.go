// Package history keeps the ends of runs in a file of SQLite or in a team's PostgreSQL, lists them, and says
// when a figure's level changed.
//
// It runs nothing and prints nothing: cmd/hyperscale does. It compares no two runs: runtime/compare
// does. Only commands of people open it, so the library starts nothing in an executor.
//
// Source: docs/history.md. The tables hyperscale_run, hyperscale_result and hyperscale_threshold
// have columns that sinks of SQL databases will share.
//
// Invariants:
//
//	KEPT-1 A run is in the history whole or not at all: its rows are one transaction.
//	KEPT-2 Values that --set gave are in no table: a digest with the file's own key stands
//	       in their place.
//	KEPT-3 Points of one series have one load digest. Runs of another load are counted beside it.
//	KEPT-4 A run whose generator was saturated or starved, or that did not complete, is no ground
//	       for a judgement.
//	KEPT-5 No bound removes a run that has a tag, or the run that was just kept. A team's database has no bound.
//	KEPT-6 A team's database answers what a file with the same runs answers.
//
// Example:
//
//	s, err := history.Open(file)
//	defer s.Close()
//	run, err := s.Keep(result)
//
// Read open.go, base.go, schema.go, keep.go, load.go, runs.go, bounds.go, compare.go, trend.go, care.go. Package change finds points.
package history
