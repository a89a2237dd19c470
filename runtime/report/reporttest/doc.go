// Package reporttest compares what tests of reports made with files that a person has read:
// results, screens, pages, exports and converted files.
//
// It is for tests alone: no command imports it. Stories of machines have cockroachdb/datadriven,
// which reads inputs too.
//
// Invariants:
//
//	REPORTTEST-1 Without -rewrite no file is written.
//	REPORTTEST-2 After -rewrite the next run without it passes.
//
// Read golden.go.
package reporttest
