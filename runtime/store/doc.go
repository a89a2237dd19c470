// Package store keeps a node's small durable records: one bbolt file in the
// node's data directory, or memory for nodes that need none.
//
// It is no database for results and logs: a record is at most 1 MiB, and all of
// them are read when the node starts. It knows nothing of what they mean.
//
// Source: DESIGN.md, "The kernel"; node.Store. Puts are drained from a queue into
// one transaction (bbolt's own Batch would wait 10 ms for company).
//
// Invariants:
//
//	STORE-1 A completion without error comes after its records are on disk. A kill at
//	        any moment loses nothing that completed.
//	STORE-2 A Put is all there or not at all.
//	STORE-3 Completions come in the order of the Puts, each once; after Close and Kill
//	        none.
//	STORE-4 The incarnation of each start is above that of all earlier ones, and on
//	        disk before Open returns.
//	STORE-5 One directory serves one process and one node id.
//	STORE-6 Nothing outside the bounds of node.Record is written or given back.
//
// Read store.go, bolt.go, record.go, memory.go.
package store
