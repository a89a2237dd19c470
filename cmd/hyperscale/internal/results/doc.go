// Package results holds the command that copies results of jobs from gates into a folder.
//
// It makes no result itself (runtime/report does), and no copy of what gates have on disk (package
// preserve does).
//
// Source: docs/operations.md, "Results of jobs".
//
// Invariants:
//
//	RES-1 A file has its name only once all of it is on the disk, and replaces no file.
//	RES-2 A run that was cut off is continued by the next one: it fetches no result that the folder has.
//	RES-3 A command that cannot say that the folder has all results fails, and says how many are missing.
//
// Example:
//
//	root.AddCommand(results.NewCommand())
//
// Read command.go, export.go.
package results
