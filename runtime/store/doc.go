// Package store keeps a node's small durable records: one bbolt file in the
// node's data directory, or memory for nodes that need none.
//
// It is no database for results and logs: a record has at most 1 MiB, and a node reads all of
// them when it starts. It does not interpret records.
//
// Source: DESIGN.md, "The kernel"; node.Store. A queue drains into one transaction (bbolt's
// own Batch would wait 10 ms for company).
//
// Invariants:
//
//	STORE-1 A completion without error arrives after its records are on disk. A kill at
//	        any moment loses nothing that completed.
//	STORE-2 A Put is on disk whole or not at all.
//	STORE-3 Completions arrive in the order of the Puts, each once; after Close and Kill
//	        none.
//	STORE-4 The incarnation of each start is above that of all earlier ones, and on
//	        disk before Open returns.
//	STORE-5 One directory serves one process and one node id.
//	STORE-6 It neither writes nor returns a record outside the bounds of node.Record.
//	STORE-7 Open refuses a file that is not as the last completed Put left it: each record
//	        has a checksum, and all together have a sum. No bytes of a file make it panic.
//	STORE-8 It completes nothing once the file is deleted or replaced, and says so within a
//	        second.
//
// Read store.go, bolt.go, record.go, seal.go, image.go, inspect.go, memory.go.
package store
