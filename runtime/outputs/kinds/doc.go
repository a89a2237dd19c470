// Package kinds is the table of the kinds of outputs that take rows.
//
// It opens nothing: a kind's package does. It has no kinds that take the result at the end, which are files and the
// remote write of runtime/export.
//
// Source: docs/outputs.md, which lists what each kind is tested against.
//
// Invariants:
//
//	KINDS-1 Each kind has a place in the table of TestCruelty, which judges it behind each fault.
//
// Example: add a row to All, and its place to that table.
//
// Read kinds.go, cruelty_test.go.
package kinds
