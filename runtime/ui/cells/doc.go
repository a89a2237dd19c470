// Package cells measures and cuts text by the columns that a terminal gives it.
// It knows no colours of its own and draws nothing: runtime/ui does.
//
// Example:
//
//	cells.Fit("a long name", 6) // "a lon…"
//
// Read width.go.
package cells
