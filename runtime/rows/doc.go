// Package rows keeps large files, rows of feeds and bodies of requests, in memory that all
// executors of a machine share. It reads a file once into a sealed memory file (memfd), with the
// marks of its rows behind it, if it has rows. Each executor maps it read-only.
//
// It does not parse (core/workflow/feed does) and assigns no rows. It does not map the file
// itself: a truncated file ends the readers of its map with SIGBUS. A memory file that is
// sealed against shrinking and writing cannot change.
//
// Source: memfd_create(2), fcntl(2), "File sealing".
//
// Invariants:
//
//	ROWS-1 Mapped bytes have the digest that names them, always.
//	ROWS-2 The memory is that of the file and two bytes a row, once a machine, for any number
//	       of processes. The last of them frees it.
//	ROWS-3 No file outside of the folder is read: not by a path, a link, or a link that changes
//	       meanwhile (os.Root).
//
// Read open.go, sheet.go, memory.go, then cache.go.
package rows
