// Package feed is the data of virtual users: rows of CSV or JSON, in some order, one for
// each iteration.
//
// It opens no file, keeps no state of a run, and assigns no row. core/manager leases blocks
// of rows, runtime/rows maps their memory. It is no general reader of CSV: it checks a table
// whole before it reads the first row.
//
// Source: docs/workflows.md, "Feeds"; RFC 4180, as encoding/csv reads it (blank lines do
// not count, CRLF is LF); RFC 8259. Shuffling is Black and Rogaway's "Ciphers with
// Arbitrary Finite Domains": a Feistel network that is walked until it is inside.
//
// Invariants:
//
//	FEED-1 A table that Scan accepted can be read: each row has every column.
//	FEED-2 Rows stay in the bytes of their file. Beside them a table keeps two bytes a row:
//	       the place of each fourth one.
//	FEED-3 Reading allocates nothing, once its buffers have grown.
//	FEED-4 A shuffled round is a permutation of all rows, computed, not stored; the same
//	       for the same seed, everywhere.
//	FEED-5 Positions of a block, of a datacenter, of an iteration without blocks are partitions
//	       of all positions: no two of them overlap.
//
// Read table.go, csv.go, json.go, value.go, order.go, share.go.
package feed
