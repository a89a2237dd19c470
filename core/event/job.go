package event

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// JobChanged: a gate moved a job from one state to another. From is JobNone when the gate
// accepted the job (its record is on disk).
type JobChanged struct {
	Job    message.JobID
	From   message.JobState
	To     message.JobState
	Reason string
}

// JobSubmitted: a gate accepted a client's job, and a majority has it.
type JobSubmitted struct {
	Job     message.JobID
	Name    string
	Subject string             // of the client's certificate; empty: without certificates
	Rank    message.Rank       // its importance
	File    message.FileDigest // of the submission, as gates keep it
}

// SinkEnded: a majority knows that nothing of a job follows to a sink. A gate that adopts the job emits
// it again, as the former owner may have died before it could.
type SinkEnded struct {
	Job          message.JobID
	Sink         string
	Delivered    uint64 // rows
	Rejected     uint64
	Lost         uint64
	LostRequests uint64
	Twice        uint64 // rows that it perhaps has twice
	Failed       string // why the gates gave it up; empty: they did not
	Again        bool   // a former owner knew that, too
}

// EventName implements node.Event.
func (SinkEnded) EventName() string { return "sink-ended" }

// SubjobChanged: a manager moved its subjob.
type SubjobChanged struct {
	Job    message.JobID
	Fence  message.Fence
	From   message.JobState
	To     message.JobState
	Reason string
}

// WorkflowChanged: a manager moved a workflow of its subjob.
type WorkflowChanged struct {
	Job      message.JobID
	Fence    message.Fence
	Workflow uint32
	From     message.WorkflowState
	To       message.WorkflowState
	Reason   string
}

// WorkflowAborted: a majority of the gates knows that a job's workflow must end in all
// datacenters, by its own condition.
type WorkflowAborted struct {
	Job      message.JobID
	Epoch    uint64 // of the job
	Workflow uint32
	Reason   string
}

// WorkflowEnded: a majority of the gates knows how a workflow ended over all datacenters (T8). A
// gate that adopts the job emits it again.
type WorkflowEnded struct {
	Job      message.JobID
	Epoch    uint64 // of the job
	Number   uint32 // in the order of the ends of the job's workflows, from 1
	Workflow uint32
	State    message.WorkflowState
	Started  uint64
}

// Acted: a receiver obeyed an order that carries a fence (T3). For a manager Subjob is true,
// and Shard.Ordinal and Shard.Workflow are zero.
type Acted struct {
	Shard      message.ShardID
	Subjob     bool
	Datacenter string // of a subjob, if the receiver is a gate; else empty
	Fence      message.Fence
	What       string // "dispatch", "cancel", "abort"
}

// FenceRefused: a receiver rejected an order or a report with a stale fence.
type FenceRefused struct {
	Shard      message.ShardID
	Subjob     bool
	Datacenter string // as of Acted
	Got        message.Fence
	Current    message.Fence
	What       string
}

// FenceStored: the fence of a shard is on this worker's disk. An execution under it starts or
// stops only after that, whatever a crash loses on both sides (T3).
type FenceStored struct {
	Shard message.ShardID
	Fence message.Fence
}

// ShardStarted: a worker accepted an execution and gave it cores (T6, T9). Shards and fences
// are numbered per datacenter.
type ShardStarted struct {
	Shard      message.ShardID
	Fence      message.Fence
	Datacenter string
	Cores      []int // indices of the cores it holds from now on
	Total      int   // cores of this worker
	Tenancy    message.Tenancy
}

// CoreFreed: an executor of an execution has exited before the others, and its core is free (T9).
type CoreFreed struct {
	Shard message.ShardID
	Fence message.Fence
	Core  int
}

// ShardEnded: all executors of that execution have exited, and its cores are free.
type ShardEnded struct {
	Shard  message.ShardID
	Fence  message.Fence
	Cores  []int
	State  message.WorkflowState
	Reason string
}

// ShardCounted: a manager counted a shard's result (T8).
type ShardCounted struct {
	Shard      message.ShardID
	Fence      message.Fence
	Datacenter string
	Subjob     message.Fence // of the subjob that counts it
	State      message.WorkflowState
	// Started is the sum of its steps' starts: the count that the manager adds.
	Started uint64
}

// SegmentCounted: a manager counted the last report of a lost attempt (T8).
type SegmentCounted struct {
	Shard      message.ShardID
	Fence      message.Fence // of the attempt
	Datacenter string
	Subjob     message.Fence // of the subjob that counts it
	Started    uint64        // the sum of its steps' starts
}

// SubjobGivenUp: a majority has the end of a subjob without a result of its managers (T8).
type SubjobGivenUp struct {
	Job        message.JobID
	Datacenter string
	State      message.JobState
	Started    uint64 // the sum of starts that a manager reported last
}

// SubjobCounted: a gate counted a datacenter's result (T8).
type SubjobCounted struct {
	Job        message.JobID
	Fence      message.Fence
	Datacenter string
	Manager    node.ID // which sent it
	State      message.JobState
	Started    uint64 // the sum of its steps' starts
}

// RowsTaken: a worker handed rows of a unique feed, or values of a counter, to an executor (F):
// First up to First+Count in the feed's order.
type RowsTaken struct {
	Shard      message.ShardID
	Fence      message.Fence
	Datacenter string
	Core       uint32
	First      uint64
	Count      uint64
	Of         uint32 // zero: the workflow's feed; else a counter of the plan, from 1
}

// WaitsReleased: a worker told an executor that a barrier lets its users pass (B).
type WaitsReleased struct {
	Shard      message.ShardID
	Fence      message.Fence
	Datacenter string
	Core       uint32
	Of         uint32 // a barrier of the plan, from 1
	Released   uint64 // of this executor's waits, in all
}

// BarrierReleased: a manager decided that a barrier lets users pass, before a majority knows (B).
type BarrierReleased struct {
	Job        message.JobID
	Fence      message.Fence
	Datacenter string
	Of         uint32 // a barrier of the plan, from 1
	Users      uint64 // that it wants
	Passes     []BarrierPass
}

// BarrierPass is what a release lets pass at one executor.
type BarrierPass struct {
	Shard message.ShardID
	Fence message.Fence
	Core  uint32
	Count uint64 // of its waits, now
	UpTo  uint64 // and in all
}

// ShardDispatched: a manager sent a shard to a worker.
type ShardDispatched struct {
	Shard  message.ShardID
	Fence  message.Fence
	Worker node.ID
	Cores  uint32
	VUs    uint64
}

// ShardLost: a manager gave up an attempt because its worker fell silent, disconnected, or
// denied it.
type ShardLost struct {
	Shard  message.ShardID
	Fence  message.Fence
	Worker node.ID
	Reason string
}

// BudgetSpent: a manager fails a workflow, because its shards were lost more often than a budget
// allows.
type BudgetSpent struct {
	Job      message.JobID
	Fence    message.Fence
	Workflow uint32
	Scope    string // shard, workflow or job
	Lost     uint64
	Most     uint64 // losses after which a shard may run again
}

// SubjobLate: a gate got the result of a subjob that had ended without it. It counts nowhere.
type SubjobLate struct {
	Job        message.JobID
	Fence      message.Fence
	Datacenter string
	State      message.JobState
	Started    uint64
}

// SubjobDispatched: a gate sent a subjob to a manager.
type SubjobDispatched struct {
	Job        message.JobID
	Fence      message.Fence
	Datacenter string
	Manager    node.ID
}

// ExecutorWatched: the silence of an executor's loop has another state (moving, stalled, extended,
// grace, stuck: then its worker kills it), or it asked for more time (granted, denied).
type ExecutorWatched struct {
	Shard message.ShardID
	Fence message.Fence
	Core  int
	State string
	Quiet time.Duration // its silence
	More  time.Duration // that it was granted: now, or in this silence
	Why   string        // it asks, or gets nothing
}

// EventName implements node.Event.
func (ExecutorWatched) EventName() string { return "executor-watched" }

// MemoryLevel: the memory of an executor has another level of its budget (within, pressed, throttled,
// over), or its worker kills it for its memory (killed).
type MemoryLevel struct {
	Shard  message.ShardID
	Fence  message.Fence
	Core   int
	Level  string
	Used   uint64
	Budget uint64
	Why    string // it is killed
}

// EventName implements node.Event.
func (MemoryLevel) EventName() string { return "memory-level" }

// ExecutorGone: an executor process ended without a request.
type ExecutorGone struct {
	Shard  message.ShardID
	Fence  message.Fence
	Core   int
	Reason string
	Tail   string
}

// EventName implements node.Event.
func (JobChanged) EventName() string { return "job-changed" }

// EventName implements node.Event.
func (JobSubmitted) EventName() string { return "job-submitted" }

// EventName implements node.Event.
func (SubjobChanged) EventName() string { return "subjob-changed" }

// EventName implements node.Event.
func (WorkflowChanged) EventName() string { return "workflow-changed" }

// EventName implements node.Event.
func (WorkflowAborted) EventName() string { return "workflow-aborted" }

// EventName implements node.Event.
func (WorkflowEnded) EventName() string { return "workflow-ended" }

// EventName implements node.Event.
func (Acted) EventName() string { return "acted" }

// EventName implements node.Event.
func (FenceRefused) EventName() string { return "fence-refused" }

// EventName implements node.Event.
func (FenceStored) EventName() string { return "fence-stored" }

// EventName implements node.Event.
func (ShardStarted) EventName() string { return "shard-started" }

// EventName implements node.Event.
func (ShardEnded) EventName() string { return "shard-ended" }

// EventName implements node.Event.
func (CoreFreed) EventName() string { return "core-freed" }

// EventName implements node.Event.
func (ShardCounted) EventName() string { return "shard-counted" }

// EventName implements node.Event.
func (SubjobGivenUp) EventName() string { return "subjob-given-up" }

// EventName implements node.Event.
func (SegmentCounted) EventName() string { return "segment-counted" }

// EventName implements node.Event.
func (SubjobCounted) EventName() string { return "subjob-counted" }

// EventName implements node.Event.
func (RowsTaken) EventName() string { return "rows-taken" }

// EventName implements node.Event.
func (WaitsReleased) EventName() string { return "waits-released" }

// EventName implements node.Event.
func (BarrierReleased) EventName() string { return "barrier-released" }

// EventName implements node.Event.
func (ShardDispatched) EventName() string { return "shard-dispatched" }

// EventName implements node.Event.
func (ShardLost) EventName() string { return "shard-lost" }

// EventName implements node.Event.
func (BudgetSpent) EventName() string { return "budget-spent" }

// EventName implements node.Event.
func (SubjobLate) EventName() string { return "subjob-late" }

// EventName implements node.Event.
func (SubjobDispatched) EventName() string { return "subjob-dispatched" }

// EventName implements node.Event.
func (ExecutorGone) EventName() string { return "executor-gone" }
