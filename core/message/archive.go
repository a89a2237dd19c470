package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "encoding/hex"

// FileDigest names a file by the SHA-256 of its bytes.
type FileDigest [32]byte

func (d FileDigest) String() string { return hex.EncodeToString(d[:8]) }

// FileChunk carries a piece of a file to a member that is to keep it.
//
//catalogue:message kind=104 class=data priority=high
type FileChunk struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Length uint64     `msg:"length" require:"true"` // of the whole file
	Offset uint64     `msg:"offset"`
	Data   []byte     `msg:"data,limit=262144"`
}

// FileKept says that a file is whole, its digest is right, and it is on disk; or,
// with Next below the size, how far it has come.
//
//catalogue:message kind=105 class=control priority=critical
type FileKept struct {
	Group string     `msg:"group" require:"true"`
	File  FileDigest `msg:"file" require:"true"`
	Next  uint64     `msg:"next"` // offset that is missing first
	Whole bool       `msg:"whole"`
}

// FileOffer asks whether a file is there, and says how long it is.
//
//catalogue:message kind=106 class=control priority=high
type FileOffer struct {
	Group  string     `msg:"group" require:"true"`
	File   FileDigest `msg:"file" require:"true"`
	Length uint64     `msg:"length" require:"true"`
}

// FileFetch asks for a piece of a file; FileChunk or FileMissing follows.
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
