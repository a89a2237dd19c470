// Package preserve holds the commands for what nodes have on disk: backup, restore and verify.
//
// It copies, merges and reads nothing itself (runtime/backup does), and starts no node. A command
// here asks gates or opens a file, and prints.
//
// Source: docs/operations.md, "Backup and restore".
//
// Invariants:
//
//	PRES-1 A backup has its name only once all of it is on the disk, and replaces no file.
//	PRES-2 A command that cannot say that a copy is whole, or a disk good, fails.
//
// Read backup.go, restore.go, verify.go.
package preserve
