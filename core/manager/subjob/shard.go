package subjob

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// Shard is the unit of dispatch.
type Shard struct {
	Workflow *Workflow
	ID       message.ShardID
	Fence    message.Fence // of its last dispatch, here or by a former holder
	Floor    message.Fence // given up: every fence up to this one is stale
	Extent
	State     message.WorkflowState
	Commit    Commit
	Attempt   uint64 // under the subjob's current manager epoch
	Worker    node.ID
	Written   bool         // the manager may send the dispatch
	Open      bool         // a former holder may have dispatched it: the manager adopts a reported attempt, until NotBefore
	NotBefore node.Instant // the manager does not dispatch it again before this time
	Progress  *message.ShardProgress
	Contact
	Retries
	Verdict
	RowLease
	unknown record.Unknown // fields of a newer version, from the record
}

// Extent is the part of a workflow that a shard is.
type Extent struct {
	VUs, First uint64
	Cores      uint32
	Tenancy    message.Tenancy
}

// Commit says what of a shard is on its way to a majority. Meanwhile the manager neither
// dispatches nor stops the shard: the outcome of the commit decides.
type Commit uint8

const (
	Settled  Commit = iota // nothing
	Counting               // its result: it stays live, and the manager records no loss until the result is counted or refused
	Losing                 // the loss of its attempt: it is not live, and no result of the attempt counts
)

// Contact records the messages between the manager and a shard's worker.
type Contact struct {
	Told     node.StreamID // stream whose heartbeats have listed it: a later one without it reports its stop
	Renewed  node.Instant  // when the manager last renewed it
	Origin   node.Instant  // when the workflow's time was zero for it: the earliest that its reports allow
	Idle     bool          // no attempt is out: the last one is given up
	Sent     node.Instant
	Dispatch // the current one
	Accepted node.Instant
	Denials  int
}

// Dispatch is what bounds the time in which an attempt may run.
type Dispatch struct {
	Dispatched node.Instant  // when the manager first sent it; zero: a former holder did
	Joined     time.Duration // of the workflow's time, where it began at the earliest
	Anew       bool          // its load began there from its beginning
	Fault      message.Fault // of which it failed, as its worker reported
}

// Retries counts dispatches against their bounds.
type Retries struct {
	Dispatches int
	Reruns     int
	Failed     []node.ID // workers that lost or refused it
	Lost       []*Lost
	Losing     *Lost     // the current attempt, while its loss is on its way to a majority
	Deferred   *Deferred // its loss is on a majority, and waits for the files of its subjob
}

// Deferred is a loss on which the manager has not acted.
type Deferred struct {
	Why  string
	From node.Instant // before this time its worker may run it
}

// Verdict is how a shard ends: with a result, or without one.
type Verdict struct {
	Kept   *Kept
	Result *message.ShardResult
	Why    string                // of an end without a result
	End    message.WorkflowState // how it ends without one; none while it runs
}

// Kept is the part of a shard's result that the record holds.
type Kept struct {
	File    message.FileDigest
	State   message.WorkflowState
	Started uint64
	Why     string
	unknown record.Unknown // fields of a newer version, from the record
}

// FailedAt adds a worker, once, to those that lost or refused the shard.
func (s *Shard) FailedAt(id node.ID) {
	if !slices.Contains(s.Failed, id) {
		s.Failed = append(s.Failed, id)
	}
}

// Live says that a worker has, or may have, the current attempt.
func (s *Shard) Live() bool {
	return s.End == message.WorkflowNone && s.Commit != Losing && (s.State == message.WorkflowAssigned || s.State == message.WorkflowRunning)
}

// Need is how many free cores a worker must have: one if the plan names none.
func (s *Shard) Need() uint32 {
	if s.Workflow.Plan.Cores == 0 {
		return 1
	}
	return s.Cores
}
