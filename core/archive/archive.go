package archive

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// FileMax bounds the length of a file.
const FileMax = 4 << 20

// Poster sends a message to a fellow; it may be lost. uplink.Links is one.
type Poster interface {
	Post(env node.Env, to node.Addr, m node.Message)
}

// Config is one member of one group.
type Config struct {
	Group      string
	Self       node.Addr
	Members    []node.Addr // configured, Self included
	ChunkBytes int         // of one FileChunk and one record
	FilesMax   int
	BytesMax   int64         // of all files
	Retry      time.Duration // between two sends of what is not answered
}

// OutcomeKind tells outcomes apart.
type OutcomeKind uint8

// What becomes of Keep and Fetch.
const (
	Kept    OutcomeKind = iota + 1 // a majority has the file on disk
	Fetched                        // Bytes are the file
	Failed                         // Err says why; it will not be tried again
)

// Outcome answers one Keep or Fetch.
type Outcome struct {
	Kind   OutcomeKind
	File   message.FileDigest
	Ticket uint64
	Bytes  []byte // of Fetched; not to be changed
	Err    error
}

// Archive is one member's share of a group's files.
type Archive struct {
	config   Config
	poster   Poster
	outcomes []Outcome
}
