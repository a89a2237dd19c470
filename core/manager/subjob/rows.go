package subjob

import "hyperscale/core/message/record"

// Leased is the last block of rows that an executor got.
type Leased struct {
	Ask          uint64
	First, Count uint64
	Known        bool // a majority has it

	unknown record.Unknown // fields of a newer version, from the record
}

// RowLease holds the rows of a feed that the current attempt of a shard has leased.
type RowLease struct {
	Leased uint64             // rows
	Rows   map[uint32]*Leased // the newest block, by core
}

// AsksMax bounds the executors of a shard that can lease rows.
const AsksMax = 1 << 12

// Cores counts the executors that share the remaining rows.
func (f *Workflow) Cores() (n uint64) {
	for _, s := range f.Shards {
		n += uint64(s.Cores)
	}
	return n
}

// Burn drops the rows that a lost attempt had, but for those that its figures count as taken: no
// node knows which of the rest it used.
func (s *Shard) Burn(taken uint64) {
	s.Workflow.Burned += s.Leased - min(s.Leased, taken)
	s.Leased, s.Rows = 0, nil
}
