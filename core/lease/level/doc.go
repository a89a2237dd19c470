// Package level is what a member knows of the level of its group: the minor version of what the
// members write into registers, files and disks. Registers outlive streams, so what two nodes
// negotiate would not do.
//
// It writes and sends nothing: core/lease persists the level in the mark of a member and tells the
// others.
//
// Source: DESIGN.md, "Membership and leases".
//
// Invariants:
//
//	LEVEL-1 A level never falls.
//	LEVEL-2 A group has a level only after each configured member has told that version, and an
//	        operator has asked for it.
//	LEVEL-3 A version that knows no levels reads a mark with one as the mark of another set: it
//	        falls silent, and its alarm names the version that the disk needs.
//
// Read level.go.
package level
