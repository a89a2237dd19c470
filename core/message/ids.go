package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
)

// JobID names a job for ever. It follows from the key under which the job was
// submitted, so that two gates that are given one key contend for one register.
type JobID [16]byte

// JobOf returns the id of the job that is submitted under a key.
func JobOf(key string) (id JobID) {
	sum := sha256.Sum256([]byte("hyperscale job " + key))
	copy(id[:], sum[:])
	return id
}

// idText is lower-case base32 without the letters that look like digits.
const idText = "0123456789abcdefghjkmnpqrstvwxyz"

func (id JobID) String() string {
	var text [26]byte
	bits, have, at := uint64(0), 0, 0
	for _, b := range id {
		bits, have = bits<<8|uint64(b), have+8
		for ; have >= 5; have -= 5 {
			text[at] = idText[bits>>(have-5)&31]
			at++
		}
	}
	text[at] = idText[bits<<(5-have)&31]
	return string(text[:])
}

// ErrJobID is what a text that is no job id gets.
var ErrJobID = errors.New("not a job id: want the 26 letters and digits that submit printed")

// ParseJobID reads what String wrote.
func ParseJobID(s string) (id JobID, err error) {
	b, err := base32.NewEncoding(idText).WithPadding(base32.NoPadding).DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("job %q: %w", s, ErrJobID)
	}
	copy(id[:], b)
	return id, nil
}

// Compare orders job ids; it says nothing about their age.
func (id JobID) Compare(o JobID) int {
	return cmp.Compare(string(id[:]), string(o[:]))
}

// RequestID ties an answer to its question. It is never used again, not even
// for a retry of the same question: a late answer to try 1 must not answer try 2.
type RequestID struct {
	Incarnation uint64 `msg:"incarnation"` // of the client
	Counter     uint64 `msg:"counter" require:"true"`
}

// Fence says on whose authority somebody acts on a job. Fences are compared in
// the order of their fields. Whoever acts on one keeps the highest it has seen
// and refuses lower ones.
type Fence struct {
	JobEpoch    uint64 `msg:"job"`     // of the job's ownership among the gates: a packed LeaseToken
	SubjobEpoch uint64 `msg:"manager"` // of the subjob's ownership among a datacenter's managers: another
	Attempt     uint64 `msg:"attempt"` // dispatch of one shard, from 1; 0 where no shard is meant
}

// Compare is negative when f is older than o.
func (f Fence) Compare(o Fence) int {
	return cmp.Or(cmp.Compare(f.JobEpoch, o.JobEpoch), cmp.Compare(f.SubjobEpoch, o.SubjobEpoch), cmp.Compare(f.Attempt, o.Attempt))
}

// Less says that f is older than o.
func (f Fence) Less(o Fence) bool { return f.Compare(o) < 0 }

func (f Fence) String() string { return fmt.Sprintf("%d.%d.%d", f.JobEpoch, f.SubjobEpoch, f.Attempt) }

// ShardID names the unit of dispatch: one part of one workflow, run by one
// worker at a time.
type ShardID struct {
	Job      JobID  `msg:"job" require:"true"`
	Workflow uint32 `msg:"workflow"` // index in the plan
	Ordinal  uint32 `msg:"ordinal"`
}

// Compare orders shards by job, workflow, ordinal.
func (s ShardID) Compare(o ShardID) int {
	return cmp.Or(s.Job.Compare(o.Job), cmp.Compare(s.Workflow, o.Workflow), cmp.Compare(s.Ordinal, o.Ordinal))
}

func (s ShardID) String() string {
	return fmt.Sprintf("%v/%d/%d", s.Job, s.Workflow, s.Ordinal)
}
