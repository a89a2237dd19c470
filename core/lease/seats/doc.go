// Package seats is the set of a group: which address has which seat, and how the set changes.
//
// It is not the group's registers (core/lease), which decide when a member starts in a later set.
//
// A seat of a set can be given to another address. For the group that is the loss of a disk. The new
// node has an empty one, joins as any member that lost its disk, and its generation outlives the old
// disk. So at most a minority of the disks is lost at a time. The number of seats never changes.
//
// Source: docs/ownership.md, "Sets that change".
//
// Invariants:
//
//	SEATS-1 No two addresses that ever had a seat have one ordinal in tokens. So a new member never passes
//	        for the holder of a lease that the address before it has.
//	SEATS-2 Of two sets all members choose the same one.
//
// Read seats.go.
package seats
