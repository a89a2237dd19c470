package event

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// ClientCalled: a client began an operation of the job API (T4). A submit with a key is one
// operation from its first send to its first answer, however often the client sends it.
type ClientCalled struct {
	Call    uint64 // unique within the node's incarnation
	What    string // "submit", "status", "cancel", "result"
	Job     message.JobID
	Payload uint64 // digest of what a submit carries, key excluded
}

// ClientReturned: the operation ended. One that never returns may have taken effect, or may
// still do.
type ClientReturned struct {
	Call   uint64
	What   string
	Job    message.JobID
	OK     bool             // false: a gate rejected it for good, and nothing changed
	Code   message.Code     // of a rejection
	State  message.JobState // as a status, a cancel or a result reports it
	Result uint64           // digest of a result
}

// AskedAgain: a client repeats a request that no gate served, after its budget held it back so often.
type AskedAgain struct {
	What string
	Held int
}

// ClientTold: a client learned how a workflow ended, within its operation "result" (T8).
type ClientTold struct {
	Call     uint64
	Job      message.JobID
	Number   uint32 // in the order of the ends of the job's workflows, from 1
	Workflow uint32
	State    message.WorkflowState
	Started  uint64
}

// ShardRenewed: a worker may run a shard until its clock reads Until (T13).
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
func (AskedAgain) EventName() string { return "asked-again" }

// EventName implements node.Event.
func (ClientTold) EventName() string { return "client-told" }

// EventName implements node.Event.
func (ShardRenewed) EventName() string { return "shard-renewed" }
