package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

// FeedFile is a file of rows that is too large to travel with its program: whoever runs
// it reads it where it lies, and looks that it is the same.
type FeedFile struct {
	Name    string     `msg:"name" require:"true"` // relative to the main file's folder
	Bytes   uint64     `msg:"bytes" require:"true"`
	Digest  FileDigest `msg:"digest" require:"true"`
	JSON    bool       `msg:"json"` // else CSV
	Rows    uint64     `msg:"rows" require:"true"`
	Columns []string   `msg:"columns"`
}

// RowOrder says which row of a feed is the next.
type RowOrder uint8

// The orders: as they stand; each once, as drawn; any, drawn each time.
const (
	RowsSequential RowOrder = iota
	RowsShuffled
	RowsRandom
)

// RowsEnd says what follows when all rows of a feed were taken.
type RowsEnd uint8

// The ends: they begin again, the workflow ends well, the workflow fails.
const (
	RowsCycle RowsEnd = iota
	RowsStop
	RowsFail
)

// FeedPlan is the data of a workflow's iterations.
type FeedPlan struct {
	Name   string   `msg:"name"`
	Rows   uint64   `msg:"rows"` // zero: the workflow has no feed
	Order  RowOrder `msg:"order"`
	AtEnd  RowsEnd  `msg:"at_end"`
	Unique bool     `msg:"unique"` // each row at most once in a run
}

// RowShare is which of several datacenters takes rows; zero: it is alone.
type RowShare struct {
	Index uint32 `msg:"index"`
	Of    uint32 `msg:"of"`
}

// ShardRows asks for rows of a unique feed, for one executor of a shard, again and
// again until answered. A manager leases them, and a majority knows before it answers.
//
//catalogue:message kind=72 class=dispatch priority=high
type ShardRows struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
	Core  uint32  `msg:"core"`               // which of the shard's executors, from 0
	Ask   uint64  `msg:"ask" require:"true"` // which of its questions, from 1
	Want  uint64  `msg:"want" require:"true"`
}

// ShardRowsLeased answers: rows First up to First+Count in the feed's order, and nobody
// else gets them. None: there are no more.
//
//catalogue:message kind=73 class=dispatch priority=high
type ShardRowsLeased struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
	Core  uint32  `msg:"core"`
	Ask   uint64  `msg:"ask" require:"true"`
	First uint64  `msg:"first"`
	Count uint64  `msg:"count"`
}

// ExecRows asks for rows, once.
//
//catalogue:message kind=87 class=control priority=high
type ExecRows struct {
	Ask  uint64 `msg:"ask" require:"true"` // from 1
	Want uint64 `msg:"want" require:"true"`
}

// ExecRowsLeased answers.
//
//catalogue:message kind=88 class=control priority=high
type ExecRowsLeased struct {
	Ask   uint64 `msg:"ask" require:"true"`
	First uint64 `msg:"first"`
	Count uint64 `msg:"count"`
}
