// Package recall holds the commands of the history of runs: list, trend, compare, tag, import,
// export and prune.
//
// It keeps no run: run, demo and submit do, through package follow. It judges nothing:
// runtime/history and runtime/compare do.
//
// Source: docs/history.md. The JSON of --json gains fields and renames none.
//
// Invariants:
//
//	RECALL-1 A command that only reads makes no file.
//	RECALL-2 A run is named by its number and, where it is not that of the newest run, by --of.
//
// Read command.go, list.go, trend.go, compare.go, care.go.
package recall
