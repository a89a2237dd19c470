// Package backup reads data directories and backups, and judges them.
//
// It repairs nothing, and knows no running node: the store reads its own checksums, and this
// package what the records say.
//
// Source: docs/operations.md, "What a failure costs" and "Backup and restore".
//
// Invariants:
//
//	BACKUP-1 What a node would not rely on is a fault. What it mends by itself is a note.
//
// Read audit.go.
package backup
