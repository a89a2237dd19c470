package event

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ClientCalled: a client began an operation of the job API (T4). A keyed submit
// is one operation from its first send to its first answer, however often it is
// sent.
type ClientCalled struct {
	Call    uint64 // unique within the node's incarnation
	What    string // "submit", "status", "cancel", "result"
	Job     message.JobID
	Payload uint64 // digest of what a submit carries, key excluded
}

// ClientReturned: it was answered. A call that is never returned may have taken
// effect, or may yet.
type ClientReturned struct {
	Call   uint64
	What   string
	Job    message.JobID
	OK     bool             // false: refused for good, nothing was done
	Code   message.Code     // of a refusal
	State  message.JobState // told by a status, a cancel or a result
	Result uint64           // digest of a result
}

// ShardRenewed: a worker may go on with a shard until its clock reads Until
// (T13).
type ShardRenewed struct {
	Shard message.ShardID
	Fence message.Fence
	Until node.Instant // on the worker's clock
}

// EventName implements node.Event.
func (ClientCalled) EventName() string { return "client-called" }

// EventName implements node.Event.
func (ClientReturned) EventName() string { return "client-returned" }

// EventName implements node.Event.
func (ShardRenewed) EventName() string { return "shard-renewed" }
