package subjob

import "hyperscale/core/message/record"

// Leased is the block of rows that an executor was given last.
type Leased struct {
	Ask          uint64
	First, Count uint64
	Known        bool // a majority has it

	unknown record.Unknown // of a newer version, in the record that had it
}

// RowLease is what the current attempt of a shard was leased of a feed.
type RowLease struct {
	Leased uint64             // rows
	Rows   map[uint32]*Leased // the newest of them, by core
}

// AsksMax bounds the executors of a shard that are leased rows.
const AsksMax = 1 << 12

// Cores is how many share what is left.
func (f *Workflow) Cores() (n uint64) {
	for _, s := range f.Shards {
		n += uint64(s.Cores)
	}
	return n
}

// Burn gives up what a lost attempt was leased: no node knows which of it was used.
func (s *Shard) Burn() {
	s.Workflow.Burned += s.Leased
	s.Leased, s.Rows = 0, nil
}
