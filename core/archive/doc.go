// Package archive keeps files on a majority of a group of members: programs,
// counted results, final results. A file is named by the SHA-256 of its bytes, so
// it never changes, whoever has it has the right one, and two jobs with the same
// program keep it once.
//
// It is not a register: nothing here says which file is current. Registers
// (core/lease) name files by digest; what no register names is swept. It is not a
// cache either: what it has is in memory as well as on disk, as a machine reads its
// disk only when it starts. Config.BytesMax bounds both.
//
// Source: DESIGN.md, "Jobs and fences"; names by content after Venti (Quinlan and
// Dorward, 2002) and Git.
//
// Invariants:
//
//	ARCHIVE-1 Kept is told when a majority, each with a synced disk, has the whole file,
//	          as each said after that Keep began.
//	ARCHIVE-2 Nobody has, tells, serves or writes bytes whose digest is not the name.
//	ARCHIVE-3 On disk a file is records "file/<group>/<digest>/<n>", the last written
//	          together with "file/<group>/<digest>/whole". What lacks that, or does not add
//	          up to its name, is deleted at the next start.
//	ARCHIVE-4 Bounded: the length of a file, files, bytes, files that arrive, bytes in
//	          flight to a fellow.
//	ARCHIVE-5 What is lost on the way is sent again, from where the receiver says it is;
//	          whatever arrives twice changes nothing.
//	ARCHIVE-6 A file is swept once a majority names it no more and had to keep it for no
//	          SweepAge: sweep.go says why, and what a quarter of SweepAge is for.
//	ARCHIVE-7 A member fetches each file that its registers name and that it lacks: disks
//	          that are lost in turn do not wear a file's majority down.
//
// On the wire: FileOffer (is it there? how far?), FileChunk, FileKept (so far, or
// whole); small files go without an offer. FileFetch asks for a window of chunks,
// FileChunk or FileMissing answers. FileSweep asks whether a file is named, FileFree
// lists those that are not, at the receiver's next Sweep. All may be lost; offers, fetches and answers
// are small enough for datagrams.
//
// Layers, of which each calls those below it alone: Archive keeps, fetches and sweeps;
// sender carries files to peers; shelf has the files and their records.
//
// Read config.go, archive.go (Keep, Have, Drop), sweep.go, send.go, receive.go,
// fetch.go, mend.go, disk.go, sizes.go.
package archive
