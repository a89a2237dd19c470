package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// FeedFile is a file that is too large to travel with its program: rows of a feed, or the bytes
// of file(). Each node that runs the program reads it locally, and checks that it is the same.
type FeedFile struct {
	Name    string     `msg:"name" require:"true"` // relative to the main file's folder
	Bytes   uint64     `msg:"bytes" require:"true"`
	Digest  FileDigest `msg:"digest" require:"true"`
	JSON    bool       `msg:"json"` // else CSV
	Rows    uint64     `msg:"rows"`
	Columns []string   `msg:"columns"`

	Whole bool `msg:"whole"` // the bytes of file(): neither rows nor columns
}

// RowOrder says which row of a feed is next.
type RowOrder uint8

// The orders: as in the file; each once, in random order; any, at random each time.
const (
	RowsSequential RowOrder = iota
	RowsShuffled
	RowsRandom
)

// RowsEnd says what follows once all rows of a feed are taken.
type RowsEnd uint8

// The ends: the rows start over, the workflow ends well, the workflow fails.
const (
	RowsCycle RowsEnd = iota
	RowsStop
	RowsFail
)

// FeedPlan describes the data of a workflow's iterations.
type FeedPlan struct {
	Name   string   `msg:"name"`
	Rows   uint64   `msg:"rows"` // zero: the workflow has no feed
	Order  RowOrder `msg:"order"`
	AtEnd  RowsEnd  `msg:"at_end"`
	Unique bool     `msg:"unique"` // each row at most once in a run
}

// CounterPlan describes a counter of a job: no two virtual users get one of its values. Its
// managers lease values as they lease rows of a unique feed.
type CounterPlan struct {
	Name  string  `msg:"name" require:"true"`
	Most  uint64  `msg:"most" require:"true"` // values
	Start uint64  `msg:"start"`               // the first one
	AtEnd RowsEnd `msg:"at_end"`
}

// RowShare says which of several datacenters takes which rows; zero: there is only one.
type RowShare struct {
	Index uint32 `msg:"index"`
	Of    uint32 `msg:"of"`
}

// ShardRows requests rows of a unique feed, or values of a counter, for one executor of a shard,
// repeatedly until answered. A manager leases them, and answers once a majority knows.
//
//catalogue:message kind=72 class=dispatch priority=high full=drop from=worker since=0
type ShardRows struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
	Core  uint32  `msg:"core"`               // index of the shard's executor, from 0
	Ask   uint64  `msg:"ask" require:"true"` // number of its request, from 1
	Want  uint64  `msg:"want" require:"true"`
	Of    uint32  `msg:"of"` // zero: the workflow's feed; else a counter of the plan, from 1
}

// ShardRowsLeased answers with rows First up to First+Count in the feed's order, which no other
// executor gets. Count 0: no rows are left.
//
//catalogue:message kind=73 class=dispatch priority=high full=drop from=manager since=0
type ShardRowsLeased struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
	Core  uint32  `msg:"core"`
	Ask   uint64  `msg:"ask" require:"true"`
	First uint64  `msg:"first"`
	Count uint64  `msg:"count"`
	Of    uint32  `msg:"of"`
}

// ExecRows requests rows, or values of a counter, once.
//
//catalogue:message kind=87 class=control priority=high full=keep from=executor since=0
type ExecRows struct {
	Ask  uint64 `msg:"ask" require:"true"` // from 1, by Of
	Want uint64 `msg:"want" require:"true"`
	Of   uint32 `msg:"of"` // as in ShardRows
}

// ExecRowsLeased answers an ExecRows.
//
//catalogue:message kind=88 class=control priority=high full=keep from=worker since=0
type ExecRowsLeased struct {
	Ask   uint64 `msg:"ask" require:"true"`
	First uint64 `msg:"first"`
	Count uint64 `msg:"count"`
	Of    uint32 `msg:"of"`
}

// BarrierPlan describes a point at which virtual users wait for each other, in each datacenter by
// itself.
type BarrierPlan struct {
	Name    string        `msg:"name" require:"true"`
	Users   uint64        `msg:"users" require:"true"` // that one release lets pass
	Timeout time.Duration `msg:"timeout" require:"true"`
}

// BarrierStats counts the waits of virtual users at one barrier that have ended.
type BarrierStats struct {
	Name     string `msg:"name" require:"true"`
	Released uint64 `msg:"released"`  // all had come
	TimedOut uint64 `msg:"timed_out"` // not all had come in time
	Ended    uint64 `msg:"ended"`     // the run was over, or cancelled
}

// CounterStats counts the values of one counter that virtual users took.
type CounterStats struct {
	Name  string `msg:"name" require:"true"`
	Taken uint64 `msg:"taken"`
}

// ShardWaits reports the waits of one executor of a shard at a barrier, repeatedly while any is
// open. The highest Report is the newest.
//
//catalogue:message kind=74 class=dispatch priority=high full=drop from=worker since=0
type ShardWaits struct {
	Shard   ShardID `msg:"slice"`
	Fence   Fence   `msg:"fence"`
	Core    uint32  `msg:"core"`                  // index of the shard's executor, from 0
	Of      uint32  `msg:"of" require:"true"`     // a barrier of the plan, from 1
	Report  uint64  `msg:"report" require:"true"` // from 1
	Arrived uint64  `msg:"arrived"`               // waits, in all
	Left    uint64  `msg:"left"`                  // of those, the ones that ended without a release
}

// ShardReleased answers a ShardWaits once a majority knows what the manager has released.
//
//catalogue:message kind=75 class=dispatch priority=high full=drop from=manager since=0
type ShardReleased struct {
	Shard    ShardID `msg:"slice"`
	Fence    Fence   `msg:"fence"`
	Core     uint32  `msg:"core"`
	Of       uint32  `msg:"of" require:"true"`
	Report   uint64  `msg:"report"`   // the newest that the manager has read
	Released uint64  `msg:"released"` // waits of this executor, in all
}

// ExecWaits reports an executor's waits at a barrier, once.
//
//catalogue:message kind=89 class=control priority=high full=keep from=executor since=0
type ExecWaits struct {
	Of      uint32 `msg:"of" require:"true"` // as in ShardWaits
	Report  uint64 `msg:"report" require:"true"`
	Arrived uint64 `msg:"arrived"`
	Left    uint64 `msg:"left"`
}

// ExecReleased answers an ExecWaits.
//
//catalogue:message kind=90 class=control priority=high full=keep from=worker since=0
type ExecReleased struct {
	Of       uint32 `msg:"of" require:"true"`
	Report   uint64 `msg:"report"`
	Released uint64 `msg:"released"`
}
