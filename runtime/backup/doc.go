// Package backup writes and reads backups of a group of gates, makes a data directory of one, and
// judges data directories.
//
// It runs no node, and repairs nothing. core/lease/copies merges registers, and core/gate/restore
// says what becomes of jobs. The store reads its own checksums, and this package what records say.
//
// Source: docs/operations.md, "What a failure costs" and "Backup and restore".
//
// Invariants:
//
//	BACKUP-1 What a node would not rely on is a fault. What it mends by itself is a note.
//	BACKUP-2 All registers are asked for before the files that they name, and again if a job that
//	         had not ended has lost a file since.
//	BACKUP-3 Nothing is made of a backup before all of it has matched its checksums, its
//	         manifest, and the group that is to be restored.
//	BACKUP-4 One page, or one file, of a backup is in memory, beside the registers that a
//	         restore merges.
//
// Read format.go, collect.go, restore.go, audit.go.
package backup
