// Package outlets holds the commands about outputs that take rows: list, schema, check, verify and replay.
//
// It follows no job: run, demo, submit and watch do, through package follow. The kinds are in
// runtime/outputs/kinds.
//
// Source: docs/outputs.md. The JSON of --json gains fields and renames none.
//
// Invariants:
//
//	OUTLETS-1 A command here changes nothing at a place, but that check makes the tables of a database, as a run
//	          does, and replay delivers.
//
// Read command.go, verify.go, replay.go.
package outlets
