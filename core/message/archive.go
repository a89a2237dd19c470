package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "encoding/hex"

// FileDigest names a file by the SHA-256 of its bytes.
type FileDigest [32]byte

func (d FileDigest) String() string { return hex.EncodeToString(d[:8]) }

// FileChunk carries a piece of a file to a member that is to keep it, or that has
// asked for it.
//
//catalogue:message kind=104 class=data priority=high
type FileChunk struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Length uint64     `msg:"length" require:"true"` // of the whole file
	Offset uint64     `msg:"offset"`
	Nonce  uint64     `msg:"nonce"` // of what FileKept is to answer, 0 for none
	Data   []byte     `msg:"data,limit=262144"`
}

// FileKept says that a file is whole, its digest is right, and it is on disk; or
// how far it has come.
//
//catalogue:message kind=105 class=control priority=critical
type FileKept struct {
	Group string     `msg:"group" require:"true"`
	File  FileDigest `msg:"file" require:"true"`
	Nonce uint64     `msg:"nonce" require:"true"` // of the FileOffer or FileChunk
	Next  uint64     `msg:"next"`                 // offset that is missing first
	Whole bool       `msg:"whole"`
}

// FileOffer asks whether a file is there, and says how long it is. What is said
// of a file before a disk was lost must not count after it: each Keep draws a
// nonce of its own.
//
//catalogue:message kind=106 class=control priority=high
type FileOffer struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Length uint64     `msg:"length" require:"true"`
	Nonce  uint64     `msg:"nonce" require:"true"`
}

// FileFetch asks for a file from an offset on; some FileChunk or a FileMissing
// follows.
//
//catalogue:message kind=107 class=control priority=high
type FileFetch struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Offset uint64     `msg:"offset"`
}

// FileMissing says that it is not there.
//
//catalogue:message kind=108 class=control priority=high
type FileMissing struct {
	Group string     `msg:"group" require:"true"`
	File  FileDigest `msg:"file" require:"true"`
}

// FileSweep asks which of these files the receiver names in no record and in no open
// write: the sender deletes its copies once a majority has said so.
//
//catalogue:message kind=109 class=control priority=high
type FileSweep struct {
	Group string       `msg:"group" require:"true"`
	Nonce uint64       `msg:"nonce" require:"true"`
	Files []FileDigest `msg:"files"`
}

// FileFree lists those of a FileSweep that its sender does not name.
//
//catalogue:message kind=110 class=control priority=high
type FileFree struct {
	Group string       `msg:"group" require:"true"`
	Nonce uint64       `msg:"nonce" require:"true"` // of the FileSweep
	Files []FileDigest `msg:"files"`
}
