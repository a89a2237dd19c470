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

// JobID names a job for ever. It follows from the key of the submission, so that two gates that
// receive one key contend for one register.
type JobID [16]byte

// JobOf returns the id of the job with a key.
func JobOf(key string) (id JobID) {
	sum := sha256.Sum256([]byte("hyperscale job " + key))
	copy(id[:], sum[:])
	return id
}

// idText is lower-case base32 without the letters that look like digits.
const idText = "0123456789abcdefghjkmnpqrstvwxyz"

// JobLetters are the letters with which the text of a job's ID may begin.
const JobLetters = idText

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

// ErrJobID is the error for a text that is no job id.
var ErrJobID = errors.New("not a job id: want the 26 letters and digits that submit printed")

// ParseJobID parses the text that String returns.
func ParseJobID(s string) (id JobID, err error) {
	b, err := base32.NewEncoding(idText).WithPadding(base32.NoPadding).DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("job %q: %w", s, ErrJobID)
	}
	copy(id[:], b)
	return id, nil
}

// Compare orders job ids; the order says nothing about their age.
func (id JobID) Compare(o JobID) int {
	return cmp.Compare(string(id[:]), string(o[:]))
}

// RequestID matches an answer with its request. Even a retry of the same request gets a new
// one: a late answer to try 1 must not answer try 2.
type RequestID struct {
	Incarnation uint64 `msg:"incarnation"` // of the client
	Counter     uint64 `msg:"counter" require:"true"`
}

// Fence names the authority under which a node acts on a job. Compare compares the fields in
// their order. A node that acts on fences keeps the highest one that it has seen, and rejects
// lower ones.
type Fence struct {
	JobEpoch    uint64 `msg:"job"`     // of the job's ownership among the gates: a packed LeaseToken
	SubjobEpoch uint64 `msg:"manager"` // of the subjob's ownership among a datacenter's managers: another packed LeaseToken
	Attempt     uint64 `msg:"attempt"` // dispatch of one shard, from 1; 0 if the fence concerns no shard
}

// Compare is negative if f is older than o.
func (f Fence) Compare(o Fence) int {
	return cmp.Or(cmp.Compare(f.JobEpoch, o.JobEpoch), cmp.Compare(f.SubjobEpoch, o.SubjobEpoch), cmp.Compare(f.Attempt, o.Attempt))
}

// Less reports whether f is older than o.
func (f Fence) Less(o Fence) bool { return f.Compare(o) < 0 }

func (f Fence) String() string { return fmt.Sprintf("%d.%d.%d", f.JobEpoch, f.SubjobEpoch, f.Attempt) }

// ShardID names the unit of dispatch: one part of one workflow, which one worker runs at a
// time.
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
