package archive

import (
	"errors"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds that all members share.
const (
	FileMax = 4 << 20 // bytes of a file

	chunkMin     = 1 << 10   // of each chunk but the last
	chunkMax     = 256 << 10 // as the catalogue has it
	window       = 512 << 10 // bytes in flight to one peer, and of one answer to FileFetch
	offerAbove   = 16 << 10  // smaller files go out without an offer
	activeMax    = 16        // concurrent files to one peer, and concurrent fetches
	arrivingMax  = 64        // incomplete files from peers
	arrivalTicks = 30        // times Retry after which this member drops an arrival without progress
	backoffMax   = 8         // times Retry between offers to a silent peer
	fetchRounds  = 3         // over all peers
	sweepPageMax = 4096      // as the catalogue has it
)

// Poster sends a message to a peer, which may lose it. uplink.Links implements it.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Config describes one member of one group.
type Config struct {
	Group      string
	Self       node.Addr
	Members    []node.Addr   // configured, Self included
	ChunkBytes int           // of one FileChunk and one record
	FilesMax   int           //
	BytesMax   int64         // of all files, in memory and on disk
	Retry      time.Duration // between two sends of an unanswered message
	// SweepAge protects younger files from Sweep, because the record that names one may still
	// be on its way. A quarter of it is Spare.
	SweepAge  time.Duration
	SweepPage int // files of one FileSweep or FileFree
}

// Default returns a configuration that lacks only group and members.
func Default() Config {
	return Config{
		ChunkBytes: 128 << 10,
		FilesMax:   50_000,
		BytesMax:   256 << 20,
		Retry:      500 * time.Millisecond,
		SweepAge:   10 * time.Minute,
		SweepPage:  1024,
	}
}

func (c Config) check() {
	if c.Group == "" || !slices.Contains(c.Members, c.Self) || c.Retry <= 0 || c.SweepAge <= 0 || c.FilesMax <= 0 || c.BytesMax <= 0 {
		node.Bug("archive: config %+v", c)
	}
	if c.SweepPage < 1 || c.SweepPage > sweepPageMax {
		node.Bug("archive: pages of %d files, want 1 to %d", c.SweepPage, sweepPageMax)
	}
	if c.ChunkBytes < chunkMin || c.ChunkBytes > chunkMax {
		node.Bug("archive: chunks of %d bytes, want %d to %d", c.ChunkBytes, chunkMin, chunkMax)
	}
}

// The errors of Failed.
var (
	ErrLength      = errors.New("a file has 1 byte to 4 MiB: make it smaller")
	ErrFull        = errors.New("the archive is full: raise its bounds, or wait until finished jobs are swept")
	ErrMissing     = errors.New("no member has the file")
	ErrDigest      = errors.New("no member has the file as it was kept: what a fellow sent has another digest: its name is in the log, restart it, as it checks its files when it starts; others that are away may have it right")
	ErrUnreachable = errors.New("no reachable member has the file: try again once the others are back")
	ErrDropped     = errors.New("the file was dropped")
)

// OutcomeKind is the kind of an Outcome.
type OutcomeKind uint8

// How a Keep, Fetch or Borrow ends.
const (
	Kept    OutcomeKind = iota + 1 // a majority has the file on disk
	Fetched                        // Bytes are the file
	Failed                         // Err says why; nothing continues
)

func (k OutcomeKind) String() string {
	switch k {
	case Kept:
		return "kept"
	case Fetched:
		return "fetched"
	case Failed:
		return "failed"
	}
	return "none"
}

// Outcome answers one Keep, Fetch or Borrow.
type Outcome struct {
	Kind   OutcomeKind
	File   message.FileDigest
	Ticket uint64
	Bytes  []byte // of Fetched; do not change them
	Err    error
}
