package tomb

import (
	"math"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// EpitaphMax bounds an epitaph, in bytes.
const EpitaphMax = 12

// Tomb is one tombstone.
type Tomb struct {
	Job     message.JobID
	Token   message.LeaseToken // of the release
	Life    message.LeaseLife  // that chose the token
	Seq     uint64             // of the release
	Rev     uint64             // the Seq that last changed the record
	Value   uint64             // the digest of the record
	Epitaph []byte             // empty: the role tells nothing of the job
	Buried  node.Instant
}

// slab is a tombstone in memory.
type slab struct {
	job     message.JobID
	epoch   uint64
	value   uint64
	buried  node.Instant
	seq     uint32
	rev     uint32
	life    uint16 // index in Yard.lives
	ordinal uint8
	length  uint8 // of the epitaph
	epitaph [EpitaphMax]byte
}

// fits says that a slab holds all of a tombstone.
func (t *Tomb) fits() bool {
	return t.Seq <= math.MaxUint32 && t.Rev <= math.MaxUint32 && t.Token.Ordinal <= math.MaxUint8 && len(t.Epitaph) <= EpitaphMax
}

// tomb returns the tombstone of a slab. Its epitaph is a copy: the slab moves in its bucket.
func (y *Yard) tomb(s *slab) Tomb {
	t := Tomb{
		Job: s.job, Token: message.LeaseToken{Epoch: s.epoch, Ordinal: uint32(s.ordinal)}, Life: y.lives[s.life],
		Seq: uint64(s.seq), Rev: uint64(s.rev), Value: s.value, Buried: s.buried,
	}
	if s.length > 0 {
		t.Epitaph = append([]byte{}, s.epitaph[:s.length]...)
	}
	return t
}
