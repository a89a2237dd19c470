package feed

import (
	"math/bits"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Sequence is an endless sequence of rows.
type Sequence struct {
	order message.RowOrder
	rows  uint64
	seed  uint64
	half  uint // bits of each half of the Feistel network
}

// NewSequence returns the sequence of a number of rows above 0.
func NewSequence(order message.RowOrder, rows, seed uint64) Sequence {
	return Sequence{order, rows, node.Mix(seed, 3), uint(bits.Len64(rows-1)+1) / 2}
}

// Row returns the row at a position. Each range of as many positions as there are rows contains
// every row once, except in random order.
func (s *Sequence) Row(position uint64) uint64 {
	switch s.order {
	case message.RowsShuffled:
		return s.shuffled(position/s.rows, position%s.rows)
	case message.RowsRandom:
		hi, _ := bits.Mul64(node.Mix(s.seed, position), s.rows)
		return hi
	}
	return position % s.rows
}

// rounds is enough for four rows to appear in each order equally often; golden separates their
// keys.
const (
	rounds = 8
	golden = 0x9e3779b97f4a7c15
)

// shuffled walks a permutation of a power of four until it is inside.
func (s *Sequence) shuffled(round, at uint64) uint64 {
	if s.rows == 1 {
		return 0
	}
	key := node.Mix(s.seed^golden, round+1)
	mask := uint64(1)<<s.half - 1
	for {
		left, right := at>>s.half, at&mask
		for i := range uint64(rounds) {
			left, right = right, left^(node.Mix(key+i*golden, right+1)>>16&mask)
		}
		if at = left<<s.half | right; at < s.rows {
			return at
		}
	}
}
