// Package restore says what a restored group of gates makes of the jobs in its backup.
//
// It merges nothing and founds nothing (core/lease/copies does), reads no disk and knows no
// gate. A job that had ended stays as it was. What a job that had not ended did after the backup
// is unknown: it may run, or have ended, and a client may know how. A gate that adopts it neither
// runs it again nor claims a result, but ends it as FAILED with that reason, as a dead letter
// (core/gate, giveUp).
//
// Source: docs/ownership.md, "A restored group".
//
// Invariants:
//
//	RESTORE-1 Every job of the merge that had not ended is marked, and no other.
//	RESTORE-2 A mark changes nothing else of a record.
//
// Read restore.go.
package restore
