// Package outbox keeps the results that no manager has acknowledged. It decides which manager
// gets each result next, and which result leaves when there are too many; it knows which ones
// are on disk.
//
// It sends and writes nothing: core/worker does, according to each Item.
//
// Source: DESIGN.md, "The unit of dispatch".
//
// Invariants:
//
//	OUTBOX-1 Results stand in the order of their ends. Each leaves once: acknowledged,
//	         superseded, evicted, or too old.
//	OUTBOX-2 A result goes to its manager twice, then to all that are connected in turn,
//	         while its manager stays the same.
//	OUTBOX-3 An eviction takes the oldest result whose manager is not connected.
//	OUTBOX-4 A result is written until one write of it succeeds, one write at a time.
//
// Example: m1 is the manager of a result, m2 and m3 are connected with it. Its retries go to
// m1, m1, m2, m3, m1, m2.
//
// Read outbox.go, item.go.
package outbox
