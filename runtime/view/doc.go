// Package view holds what commands with --json print, and what the HTTP API answers: plain structs
// with names for JSON, made from messages.
//
// It asks nothing and formats nothing for people. A result file is runtime/report's.
//
// Source: docs/operations.md; docs/api.md.
//
// Invariants:
//
//	VIEW-1 Fields may be added, never renamed or given another meaning: scripts read them.
//	VIEW-2 A list is never null.
//
// An example:
//
//	command.PrintJSON(w, view.JobOf(status))
//
// Read job.go, list.go, letter.go, cluster.go.
package view
