// Package history holds what every judge of a history needs: records of events, the
// files that keep them, the lives and clocks of nodes, and the log of violations.
//
// It judges nothing: packages register, execution, account and operation, and the
// rest of checker, do. It knows no role and no simulator.
//
// Source: DESIGN.md, "What is proved". Processes of one machine share a clock, so
// Merge orders their files exactly; it cannot order files of several machines.
//
// Invariants:
//
//	HISTORY-1 Read returns every record that AppendJSON wrote whole, in order.
//	HISTORY-2 A node's incarnation never falls.
//	HISTORY-3 The log keeps the first violations, and counts all of them.
//
// Example:
//
//	records, err := history.Merge(files...)
//
// Read record.go, nodes.go, log.go, then files.go.
package history
