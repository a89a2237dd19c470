package feed

import (
	"math/bits"

	"hyperscale/core/message"
)

func of(s message.RowShare) uint64 { return max(1, uint64(s.Of)) }

// Position returns the position for an iteration by its number, if no manager leases rows:
// iterations of several datacenters take turns.
func Position(s message.RowShare, iteration uint64) uint64 { return iteration*of(s) + uint64(s.Index) }

// Cut returns the part of all rows that a datacenter leases: from first up to end.
func Cut(s message.RowShare, rows uint64) (first, end uint64) {
	cut := func(i uint64) uint64 {
		hi, lo := bits.Mul64(rows, i)
		q, _ := bits.Div64(hi, lo, of(s)) // i is at most of, so it fits
		return q
	}
	if i := uint64(s.Index); i < of(s) {
		return cut(i), cut(i + 1)
	}
	return 0, 0
}

// BlockMax bounds the rows of one lease.
const BlockMax = 1 << 16

// Block returns how many of the remaining rows one of several cores gets when it wants some. It
// leaves enough that no other core finds none while this one still has some.
func Block(left, want, cores uint64) uint64 {
	return min(left, max(1, min(want, BlockMax, left/(2*max(1, cores)))))
}
