// Package copies merges the registers that members of a group had, and founds another group on
// them.
//
// It reads no disk and writes none: a gate's pages are its input (message.BackupPage), records of
// a disk its output. It judges no record's content (core/gate/restore does). A member that joins a
// group merges by the same rule, Later.
//
// Source: docs/ownership.md, "A restored group".
//
// Invariants:
//
//	COPIES-1 Of each register the merged one has the record of the highest token, and under one
//	         token that of the highest Seq. The order of the copies is of no account.
//	COPIES-2 What a majority had accepted when the first copy began is in the merge of any
//	         majority's copies. Copies of an older epoch count for nothing.
//	COPIES-3 Each token of the new group is above each one that the old group had or gave in
//	         Stride further grants of a register, for known and for unknown registers.
//	COPIES-4 The new group's epoch is above those that the old group reached in EpochStride
//	         recoveries, so that members of the two never count together.
//	COPIES-5 The new group's level is the highest that a copy has: LEVEL-1 holds across a restore.
//
// Read merge.go, found.go.
package copies
