// Package archive keeps files on a majority of a group of members: programs, counted
// results, final results. A file's name is the SHA-256 of its bytes. So a file never
// changes, every copy is right, and two jobs with one program share it.
//
// It is not a register: registers (core/lease) say which file is current, and the archive
// sweeps what no register names. It is not a cache: a machine reads its disk only when it
// starts, so each file is also in memory. Config.BytesMax bounds both.
//
// Source: DESIGN.md, "Archive"; names by content after Venti (Quinlan and
// Dorward, 2002) and Git.
//
// Invariants:
//
//	ARCHIVE-1 Kept is an outcome only when a majority has the whole file on disk, as each
//	          member said after that Keep began.
//	ARCHIVE-2 No member lists, serves or writes bytes whose digest is not the name.
//	ARCHIVE-3 On disk a file is records "file/<group>/<digest>/<n>", the last one written
//	          together with "file/<group>/<digest>/whole". The next start deletes a file
//	          that lacks that record or does not add up to its name.
//	ARCHIVE-4 These are bounded: a file's length, files, bytes, arriving files, bytes in
//	          flight to a peer.
//	ARCHIVE-5 A sender repeats lost bytes, from where the receiver says it is. A
//	          duplicate changes nothing.
//	ARCHIVE-6 A member sweeps a file once a majority names it no more, and had to keep it for no
//	          SweepAge. File sweep.go argues for each quarter of SweepAge.
//	ARCHIVE-7 A member fetches each file that its registers name and that it lacks: disks
//	          that fail in turn do not wear a file's majority down.
//
// On the wire, FileOffer asks whether a member has a file, and how far. FileChunk carries
// bytes, and FileKept acknowledges. Small files need no offer. FileFetch asks for a window of
// chunks; FileChunk or FileMissing answers. FileSweep asks whether a file is named, and
// FileFree lists those that are not, at the receiver's next Sweep. All of them may be lost.
//
// Layers, each calls those below it alone: Archive keeps, fetches and sweeps; sender carries
// files to peers; shelf has the files and their records.
//
// Read config.go, archive.go (Keep, Have, Drop), sweep.go, send.go, receive.go,
// fetch.go, mend.go, disk.go, sizes.go.
package archive
