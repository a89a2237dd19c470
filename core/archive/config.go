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

	chunkMin     = 1 << 10   // of all chunks of a file but the last
	chunkMax     = 256 << 10 // as the catalogue has it
	window       = 512 << 10 // bytes in flight to one fellow, and of one answer to FileFetch
	offerAbove   = 16 << 10  // smaller files are sent without asking
	activeMax    = 16        // files on their way to one fellow at a time, and fetches
	arrivingMax  = 64        // files of fellows that are not whole
	arrivalTicks = 30        // times Retry after which one that stands still is forgotten
	backoffMax   = 8         // times Retry between offers to a fellow that is silent
	fetchRounds  = 3         // over all fellows
	sweepPageMax = 4096      // as the catalogue has it
)

// Poster sends a message to a fellow; it may be lost. uplink.Links is one.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Config is one member of one group.
type Config struct {
	Group      string
	Self       node.Addr
	Members    []node.Addr   // configured, Self included
	ChunkBytes int           // of one FileChunk and one record
	FilesMax   int           //
	BytesMax   int64         // of all files, in memory and on disk
	Retry      time.Duration // between two sends of what is not answered
	// SweepAge spares what is younger from Sweep: the record that names it may be
	// on its way. A quarter of it is Spare.
	SweepAge  time.Duration
	SweepPage int // files of one FileSweep or FileFree
}

// Default returns a member that lacks only its group.
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

// What Failed can say.
var (
	ErrLength      = errors.New("a file has 1 byte to 4 MiB: make it smaller")
	ErrFull        = errors.New("the archive is full: raise its bounds, or wait until finished jobs are swept")
	ErrMissing     = errors.New("no member has the file")
	ErrDigest      = errors.New("no member has the file as it was kept: what a fellow sent has another digest: its name is in the log, restart it, as it checks its files when it starts; others that are away may have it right")
	ErrUnreachable = errors.New("no reachable member has the file: try again once the others are back")
	ErrDropped     = errors.New("the file was dropped")
)

// OutcomeKind tells outcomes apart.
type OutcomeKind uint8

// What becomes of Keep, and of Fetch and Borrow.
const (
	Kept    OutcomeKind = iota + 1 // a majority has the file on disk
	Fetched                        // Bytes are the file
	Failed                         // Err says why; nothing goes on
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
	Bytes  []byte // of Fetched; not to be changed
	Err    error
}
