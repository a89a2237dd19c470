package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"fmt"
	"time"
)

// ShardRef names a shard and the fence under which it runs.
type ShardRef struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
}

// WorkerHeartbeat registers a worker with a manager and keeps it known, once a
// second on the stream that the worker opened.
//
//catalogue:message kind=64 class=control priority=high
type WorkerHeartbeat struct {
	Datacenter string     `msg:"datacenter" require:"true"`
	Sequence   uint64     `msg:"sequence" require:"true"`
	Draining   bool       `msg:"draining"`
	CoresTotal uint32     `msg:"cores_total" require:"true"`
	CoresFree  uint32     `msg:"cores_free"`
	Running    []ShardRef `msg:"running"` // by shard: accepted, without a result acknowledged
}

// ShardDispatch gives a worker a shard. The worker keeps the highest fence of
// each shard on disk, refuses a lower one, and answers an equal one again
// without starting anything.
//
//catalogue:message kind=65 class=dispatch priority=high
type ShardDispatch struct {
	Shard      ShardID       `msg:"slice"`
	Fence      Fence         `msg:"fence"`
	Workflow   string        `msg:"workflow" require:"true"`
	Program    Program       `msg:"program"`
	PlanDigest uint64        `msg:"plan_digest" require:"true"`
	VUs        uint64        `msg:"vus" require:"true"`
	FirstVU    uint64        `msg:"first_vu"` // number of the first virtual user, from 0
	Cores      uint32        `msg:"cores" require:"true"`
	Duration   time.Duration `msg:"duration"`
	Timeout    time.Duration `msg:"timeout"`     // of one step
	RunTimeout time.Duration `msg:"run_timeout"` // killed after it
	Given      []Provided    `msg:"given"`       // by the workflows before it
	Rows       RowShare      `msg:"rows"`
}

// ShardAccepted says that the fence is on disk and the shard started.
//
//catalogue:message kind=66 class=dispatch priority=critical
type ShardAccepted struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
}

// ShardRefused says that it was not taken.
//
//catalogue:message kind=67 class=dispatch priority=critical
type ShardRefused struct {
	Shard     ShardID `msg:"slice"`
	Fence     Fence   `msg:"fence"`
	Code      Code    `msg:"code" require:"true"`
	Detail    string  `msg:"detail"`
	CoresFree uint32  `msg:"cores_free"`
	Current   Fence   `msg:"current"` // with CodeStaleFence
}

// ShardProgress tells where a shard stands: cumulative, the highest Sequence
// under one fence is the newest.
//
//catalogue:message kind=68 class=telemetry priority=normal
type ShardProgress struct {
	Shard    ShardID `msg:"slice"`
	Fence    Fence   `msg:"fence"`
	Sequence uint64  `msg:"sequence" require:"true"`
	Stats    Stats   `msg:"stats"`
}

// ShardResult is the end of a shard. It stays in the worker's outbox, on disk,
// until acknowledged.
//
//catalogue:message kind=69 class=data priority=critical
type ShardResult struct {
	Shard    ShardID       `msg:"slice"`
	Fence    Fence         `msg:"fence"`
	State    WorkflowState `msg:"state" require:"true"`
	Error    string        `msg:"error"`
	Duration time.Duration `msg:"duration"`
	Stats    Stats         `msg:"stats"`
	Provided []Provided    `msg:"provided"` // kept on a majority with the rest, before it counts
}

// ShardResultAck says that the manager has it on disk, or refuses it by its
// fence; either way the worker may forget it.
//
//catalogue:message kind=70 class=data priority=critical
type ShardResultAck struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
	Stale bool    `msg:"stale"`
}

// ShardCancel asks a worker to stop a shard; ShardResult follows.
//
//catalogue:message kind=71 class=control priority=critical
type ShardCancel struct {
	Shard  ShardID       `msg:"slice"`
	Fence  Fence         `msg:"fence"`
	State  WorkflowState `msg:"state" require:"true"` // CANCELLED or TIMED_OUT
	Reason string        `msg:"reason"`
}

// WorkerState says how a worker stands in one subjob. Values are on the wire: never
// renumber.
type WorkerState uint8

// The states of a worker in a subjob.
const (
	WorkerNone     WorkerState = iota
	WorkerAssigned             // it was given a shard, and has not said that it runs
	WorkerRunning              // it runs one
	WorkerDraining             // the same, and it takes no other
	WorkerSuspect              // the same, and its fellows do not hear it
	WorkerAway                 // the same, and its stream is broken: what it told last stands
	WorkerDone                 // its shards have ended
	WorkerLost                 // its attempts were given up, and what they told counts nowhere
)

func (s WorkerState) String() string {
	names := [...]string{"NONE", "ASSIGNED", "RUNNING", "DRAINING", "SUSPECT", "AWAY", "DONE", "LOST"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("WORKER_STATE_%d", uint8(s))
}

// WorkerShare is what one worker does, or did, of a subjob: for people's eyes, nothing
// is decided by it. Its counts are of measured steps; those of all shares add up to
// the subjob's. What runs at the same time is told at its most: layers follow each other.
type WorkerShare struct {
	Node       string        `msg:"node"`   // empty: all those that there was no room for
	Others     uint32        `msg:"others"` // how many they are
	State      WorkerState   `msg:"state" require:"true"`
	CoresTotal uint32        `msg:"cores_total"` // that it has; zero when this manager never met it
	Cores      uint32        `msg:"cores"`       // of those, for this subjob
	VUs        uint64        `msg:"vus"`         // given to it
	Active     uint64        `msg:"active"`      // virtual users now
	Elapsed    time.Duration `msg:"elapsed"`     // in which it sent load
	Lost       uint32        `msg:"lost"`        // attempts that were given up
	Started    uint64        `msg:"started"`
	Sent       uint64        `msg:"sent"`
	OK         uint64        `msg:"ok"`
	Failed     uint64        `msg:"failed"`
	TimedOut   uint64        `msg:"timed_out"`
	Cancelled  uint64        `msg:"cancelled"`
	Dropped    uint64        `msg:"dropped"`
	Skipped    uint64        `msg:"skipped"`
	BytesIn    uint64        `msg:"bytes_in"`
	BytesOut   uint64        `msg:"bytes_out"`
	Late       time.Duration `msg:"late"`     // 99 of 100 of a shard's starts were late by at most this: the worst shard; of others not known
	BusyMax    uint32        `msg:"busy_max"` // busiest second of an executor's loop, parts per million
	Saturated  bool          `msg:"saturated"`
}
