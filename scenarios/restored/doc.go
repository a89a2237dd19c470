// Package restored holds worlds of groups that begin again from a backup.
//
// It asks no gate through a client: it takes what pages would have from the disks, at other
// times for each gate, and merges and founds by the functions of production
// (core/lease/copies, core/gate/restore).
//
// Source: docs/ownership.md, "A restored group".
//
// Invariants:
//
//	RESTORED-1 Only what clients of the old group may know of an end that came after the backup
//	           is excused. Tokens, windows, fences and load are judged as ever.
//
// Read restored.go.
package restored
