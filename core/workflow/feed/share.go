package feed

import (
	"math/bits"

	"hyperscale/core/message"
)

func of(s message.RowShare) uint64 { return max(1, uint64(s.Of)) }

// Position is that of an iteration by its number, where nobody leases rows: iterations of several
// datacenters take turns.
func Position(s message.RowShare, iteration uint64) uint64 { return iteration*of(s) + uint64(s.Index) }

// Cut is the part of all rows that a datacenter leases of: from first up to end.
func Cut(s message.RowShare, rows uint64) (first, end uint64) {
	cut := func(i uint64) uint64 {
		hi, lo := bits.Mul64(rows, i)
		q, _ := bits.Div64(hi, lo, of(s)) // i is at most of, so that it fits
		return q
	}
	if i := uint64(s.Index); i < of(s) {
		return cut(i), cut(i + 1)
	}
	return 0, 0
}

// BlockMax is how many rows are leased at once, at most.
const BlockMax = 1 << 16

// Block is how many of the rows that are left are leased to one of some cores that wants
// so many: never so many that others would find none while this one still has some.
func Block(left, want, cores uint64) uint64 {
	return min(left, max(1, min(want, BlockMax, left/(2*max(1, cores)))))
}
