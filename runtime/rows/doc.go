// Package rows keeps the rows of large feeds in memory that all executors of a machine
// share: a file is read once into a sealed memory file (memfd), with the marks of its rows
// behind it, and mapped read-only by whoever takes rows.
//
// It does not parse (core/workflow/feed does) and deals nothing out. It does not map the
// file itself: one that is truncated under a map ends its readers with SIGBUS. A memory
// file that is sealed against shrinking and writing cannot change any more.
//
// Source: memfd_create(2), fcntl(2), "File sealing".
//
// Invariants:
//
//	ROWS-1 What is mapped is what its digest says, and stays so.
//	ROWS-2 The memory is that of the rows and two bytes a row, once a machine, however many
//	       processes map it; it goes with the last of them.
//
// Read sheet.go, then cache.go.
package rows
