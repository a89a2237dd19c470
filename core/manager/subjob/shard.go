package subjob

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// Shard is the unit of dispatch.
type Shard struct {
	Workflow   *Workflow
	ID         message.ShardID
	Fence      message.Fence // under which it was dispatched last, here or by a former holder
	Floor      message.Fence // given up: what is not above is stale
	VUs, First uint64
	Cores      uint32
	State      message.WorkflowState
	Commit     Commit
	Attempt    uint64 // under the subjob's present manager epoch
	Worker     node.ID
	Written    bool         // the dispatch may be sent
	Open       bool         // a former holder may have dispatched it: who reports it is adopted, until NotBefore
	NotBefore  node.Instant // it is not dispatched again before
	Progress   *message.ShardProgress
	Contact
	Retries
	Verdict
	RowLease
	unknown unknown
}

// Commit is what of a shard is on its way to a majority. A shard with a pending commit is
// neither dispatched nor stopped: what follows is in the commit.
type Commit uint8

const (
	Settled  Commit = iota // nothing is
	Counting               // its result: it is live, and no loss is taken until it is counted or refused
	Losing                 // the loss of its attempt: it is not live, and no result of that counts
)

// Contact is when a shard's worker was sent what, and what it said.
type Contact struct {
	Told     node.StreamID // whose heartbeats have listed it: a later one that does not, says that it stopped
	Renewed  node.Instant  // when the manager last let a worker go on
	Sent     node.Instant
	Accepted node.Instant
	Denials  int
}

// Retries counts dispatches against their bounds.
type Retries struct {
	Dispatches int
	Reruns     int
	Failed     []node.ID // workers that lost or refused it
	Lost       []message.LostAttempt
}

// Verdict is how a shard ends: with a result, or without one.
type Verdict struct {
	Kept   *Kept
	Result *message.ShardResult
	Why    string                // of an end without a result
	End    message.WorkflowState // how it is to end without one; none while it goes on
}

// Kept is what a record holds of a shard's result.
type Kept struct {
	File    message.FileDigest
	State   message.WorkflowState
	Started uint64
	Why     string
	unknown record.Unknown // of a newer version, in the record that had it
}

// FailedAt lists a worker, once, among those that lost or refused the shard.
func (s *Shard) FailedAt(id node.ID) {
	if !slices.Contains(s.Failed, id) {
		s.Failed = append(s.Failed, id)
	}
}

// Live says that a worker has, or may have, the current attempt.
func (s *Shard) Live() bool {
	return s.End == message.WorkflowNone && s.Commit != Losing && (s.State == message.WorkflowAssigned || s.State == message.WorkflowRunning)
}

// Need is how many cores a worker must have free: one where the plan names none.
func (s *Shard) Need() uint32 {
	if s.Workflow.Plan.Cores == 0 {
		return 1
	}
	return s.Cores
}
