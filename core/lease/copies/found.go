package copies

import (
	"fmt"
	"slices"

	"hyperscale/core/lease/level"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// How far above an old group a restored one begins.
const (
	// Stride is how often a register of the old group can change hands after the copy. Each change
	// takes a lease, or a promise of a majority.
	Stride = 1 << 28
	// EpochStride is how often an operator can recover the old group after the copy.
	EpochStride = 64
	// EpochDraw bounds the number that each restore draws, so that two groups that are restored from
	// one copy differ in their epochs: members of one reject those of the other.
	EpochDraw = 512

	floorMax = 1 << 40 // core/lease rejects a higher floor
	epochMax = 1 << 20 // and a higher epoch

	standingRecovered = 3 // as in message.LeaseHail
)

// Ground is what a new group stands on.
type Ground struct {
	Group   string
	Members []node.Addr
	Merged  Merged
	Draw    uint64 // below EpochDraw
}

// Epoch returns the epoch of the new group.
func (g *Ground) Epoch() uint64 { return g.Merged.Epoch + EpochStride + g.Draw }

// Token returns the token under which the new group begins with each register. Its ordinal is no
// member's, and the life of its grant is one that no proposer has.
func (g *Ground) Token() message.LeaseToken {
	return message.LeaseToken{Epoch: g.Merged.Highest + Stride, Ordinal: message.OrdinalMax}
}

func noLife() message.LeaseLife {
	return message.LeaseLife{Incarnation: ^uint64(0), Salt: ^uint64(0)}
}

// Disk returns the records of the disk that founds the group: one member starts on it, and the
// others with empty disks.
func (g *Ground) Disk() ([]node.Record, error) {
	epoch, token := g.Epoch(), g.Token()
	switch {
	case g.Draw >= EpochDraw:
		return nil, fmt.Errorf("the draw %d is not below %d", g.Draw, EpochDraw)
	case epoch > epochMax:
		return nil, fmt.Errorf("the group is at epoch %d, and the last epoch is %d: it has been recovered and restored too often", g.Merged.Epoch, epochMax)
	case token.Epoch > floorMax:
		return nil, fmt.Errorf("a token has epoch %d, and a restored group cannot begin above %d: it has been restored too often", g.Merged.Highest, floorMax)
	}
	mark := record.Member{Standing: standingRecovered, Epoch: epoch, Floor: token.Epoch, Level: g.Merged.Level}
	for _, a := range slices.Sorted(slices.Values(g.Members)) {
		mark.Members = append(mark.Members, string(a))
		mark.Generations = append(mark.Generations, epoch<<32|1)
	}
	prefix := "lease/" + g.Group + "/"
	records := make([]node.Record, 0, len(g.Merged.Registers)+1)
	records = append(records, node.Record{Key: prefix + "member", Value: record.Append(nil, level.Guarded(mark))})
	for i := range g.Merged.Registers {
		r := g.Merged.Registers[i]
		r.Promised, r.Life = token, noLife()
		r.Accepted.Token, r.Accepted.Life, r.Accepted.Seq, r.Accepted.Rev, r.Accepted.Copied = token, noLife(), 0, 0, false
		value, err := r.MarshalMsg(nil)
		if err != nil {
			return nil, fmt.Errorf("encode the register of job %v: %w", r.Job, err)
		}
		records = append(records, node.Record{Key: prefix + "register/" + r.Job.String(), Value: value})
	}
	return records, nil
}

// ReadRegister reads a register from the disk of a member of a group.
func ReadRegister(key string, value []byte) (r message.LeaseRegister, err error) {
	rest, err := r.UnmarshalMsg(value)
	switch {
	case err != nil:
		return r, err
	case len(rest) > 0:
		return r, fmt.Errorf("%d bytes are left over", len(rest))
	case key[max(0, len(key)-len(r.Job.String())):] != r.Job.String():
		return r, fmt.Errorf("it is of job %v", r.Job)
	}
	return r, nil
}
