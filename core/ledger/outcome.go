package ledger

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Kind is what an Outcome reports.
type Kind uint8

// The kinds of outcome, with the fields that are set beside Tag.
const (
	// Committed: a majority has a record that was made at or after the request.
	Committed Kind = iota + 1
	// Kept: File. A majority has the file.
	Kept
	// Refused: Err. The archive rejected a file. For a Propose, Retry keeps it again; for a
	// Keep, nothing follows.
	Refused
	// Fetched: File, Bytes.
	Fetched
	// Unread: File, Err. For a Fetch, Retry tries again; for a Borrow, nothing follows.
	Unread
	// Gone: File, Err. All members reported GoneMax times that they lack the file: a majority
	// of the disks that kept it is lost. Nothing follows.
	Gone
	// Read: Found and State, or Err.
	Read
	// Late: Job, without a tag. A record took so long to become a file that members may sweep
	// the files that it names. The role answers with KeepAgain.
	Late
)

func (k Kind) String() string {
	names := [...]string{"none", "committed", "kept", "refused", "fetched", "unread", "gone", "read", "late"}
	return names[min(int(k), len(names)-1)]
}

// Outcome is the result of one request.
type Outcome[T any] struct {
	Kind  Kind
	Tag   T
	Job   message.JobID
	File  message.FileDigest
	Bytes []byte // do not change them
	Found bool
	State message.LeaseState
	Err   error

	fetch fetch[T]
}

// Registers is the part of core/lease that a ledger uses.
type Registers interface {
	Acquire(env node.Env, job message.JobID, seed []byte)
	Update(env node.Env, job message.JobID, record []byte, ticket uint64)
	Read(env node.Env, job message.JobID, ticket uint64)
}

// Files is the part of core/archive that a ledger uses.
type Files interface {
	Keep(env node.Env, b []byte, ticket uint64) message.FileDigest
	Fetch(env node.Env, d message.FileDigest, ticket uint64)
	Borrow(env node.Env, d message.FileDigest, ticket uint64)
	Have(d message.FileDigest) ([]byte, bool)
	Stale(env node.Env, d message.FileDigest) bool
}
