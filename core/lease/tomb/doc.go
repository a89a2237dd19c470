// Package tomb holds the tombstones of a member's registers: for each register that its role has
// forgotten, the proof of its release, and an epitaph of a few bytes. A tombstone takes some 90
// bytes of memory, where a register takes a thousand.
//
// It decides nothing: core/lease says what a tombstone refuses and when it goes. It reads no
// clock and no disk.
//
// Invariants:
//
//	TOMB-1 A job has one tombstone at most; After lists them in the order of their jobs.
//	TOMB-2 Oldest is the one that was buried first.
//	TOMB-3 Add takes what it can give back unchanged, and refuses the rest.
//	TOMB-4 No call costs more than a bucket of some hundred tombstones, but one that makes the
//	       list of ages short again.
//
// Tombstones are sorted in buckets by the first bits of their job: jobs are digests, so that
// buckets are of one size. A map would take half as much again, and have no order for the pages
// of a join.
//
// Read tomb.go, yard.go.
package tomb
