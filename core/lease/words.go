package lease

import (
	"math/bits"

	"hyperscale/core/message"
)

// epochEnd is the first epoch that does not pack into a fence.
const epochEnd = 1 << 56

// members is a set of members, by ordinal less one.
type members uint64

func (s members) has(i int) bool { return s>>i&1 != 0 }
func (s *members) add(i int)     { *s |= 1 << i }
func (s *members) drop(i int)    { *s &^= 1 << i }
func (s members) count() int     { return bits.OnesCount64(uint64(s)) }

// nobody is the life of a token that two lives have chosen: no message bears it,
// so that both are refused.
func nobody() message.LeaseLife {
	return message.LeaseLife{Incarnation: ^uint64(0), Salt: ^uint64(0)}
}

// later compares what two acceptors have accepted.
func later(a, b *message.LeaseState) bool {
	if c := a.Token.Compare(b.Token); c != 0 {
		return c > 0
	}
	return a.Seq > b.Seq
}

// void says that a register holds nothing: nobody has written to it, or what was written
// is forgotten, as tombstones tell, and those who acquired it since without a seed, and
// went no further. Seed and all, it begins anew.
func void(s *message.LeaseState) bool { return len(s.Record) == 0 }
