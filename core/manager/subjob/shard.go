package subjob

import (
	"slices"

	"hyperscale/core/message"
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
	Attempt    uint64 // under the subjob's present manager epoch
	Worker     node.ID
	Written    bool // the dispatch may be sent
	Open       bool // a former holder may have dispatched it: who reports it is adopted, until notBefore
	Dispatches int
	Reruns     int
	Failed     []node.ID // workers that lost or refused it
	NotBefore  node.Instant
	Told       node.StreamID // whose heartbeats have listed it: a later one that does not, says that it stopped
	Renewed    node.Instant  // when a worker was last told that it may go on
	Sent       node.Instant
	Accepted   node.Instant
	Denials    int
	Progress   *message.ShardProgress
	Counting   bool // its result is on its way to a majority
	Kept       *Kept
	Result     *message.ShardResult
	Why        string                // of an end without a result
	End        message.WorkflowState // how it is to end without one; none while it goes on
	Losing     bool                  // its attempt is being given up
	Lost       []message.LostAttempt
	Leased     uint64             // rows of the feed, under the current attempt
	Rows       map[uint32]*Leased // the newest of them, by core
}

// Kept is what a record holds of a shard's result.
type Kept struct {
	File    message.FileDigest
	State   message.WorkflowState
	Started uint64
	Why     string
}

// FailedAt lists a worker, once, among those that lost or refused the shard.
func (s *Shard) FailedAt(id node.ID) {
	if !slices.Contains(s.Failed, id) {
		s.Failed = append(s.Failed, id)
	}
}

// Live says that a worker has, or may have, the current attempt.
func (s *Shard) Live() bool {
	return s.End == message.WorkflowNone && !s.Losing && (s.State == message.WorkflowAssigned || s.State == message.WorkflowRunning)
}

// Need is how many cores a worker must have free: one where the plan names none.
func (s *Shard) Need() uint32 {
	if s.Workflow.Plan.Cores == 0 {
		return 1
	}
	return s.Cores
}
