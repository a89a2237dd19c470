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

// WorkerHeartbeat registers a worker with a manager and renews that once a second, on the
// stream that the worker opened.
//
//catalogue:message kind=64 class=control priority=critical full=latest from=worker since=0
type WorkerHeartbeat struct {
	Datacenter string     `msg:"datacenter" require:"true"`
	Sequence   uint64     `msg:"sequence" require:"true"`
	Draining   bool       `msg:"draining"`
	CoresTotal uint32     `msg:"cores_total" require:"true"`
	CoresFree  uint32     `msg:"cores_free"`
	SeatsFree  uint32     `msg:"seats_free"` // of cores that light shards share
	Running    []ShardRef `msg:"running"`    // by shard: accepted, and no manager has acknowledged a result
	SlotsUsed  uint32     `msg:"slots_used"` // results that wait for managers
	SlotsMax   uint32     `msg:"slots_max"`  // their bound: at 80 % it takes no shard; zero: none waits, or an older worker does not tell
}

// Resume says where an attempt joins its workflow, in place of a lost one. Zero: it begins with
// the workflow.
type Resume struct {
	Elapsed time.Duration `msg:"elapsed"` // of the workflow's time, when the message was sent
	Begun   uint64        `msg:"begun"`   // iterations that lost attempts are known to have begun
	Anew    bool          `msg:"anew"`    // the load begins there from its beginning
}

// ShardDispatch gives a worker a shard. The worker keeps the highest fence of each shard on
// disk, rejects a lower one, and answers an equal one again without starting anything.
//
//catalogue:message kind=65 class=dispatch priority=high full=refuse from=manager since=0 stub=Shard,Fence
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
	RunTimeout time.Duration `msg:"run_timeout"` // the worker kills it after that
	Given      []Provided    `msg:"given"`       // values of earlier workflows
	Rows       RowShare      `msg:"rows"`
	Resume     Resume        `msg:"resume"`
	Tenancy    Tenancy       `msg:"tenancy"`
	Every      time.Duration `msg:"every"`            // of the last HeartbeatAck, which did not know of this shard
	Memory     uint64        `msg:"memory,omitempty"` // bytes that an executor may have, as declared; zero: what the worker lets it have

	// Heard is the worker's newest heartbeat on this stream when the manager sent the dispatch. The shard may run
	// for the renewal timeout from that heartbeat's send: an answer that overtakes a dispatch, which a slow link holds,
	// says nothing of it. Zero: the manager does not say so, as those of 1.0.
	Heard uint64 `msg:"heard,omitempty" since:"1"`
}

// ShardAccepted reports that the fence is on disk and the shard started.
//
//catalogue:message kind=66 class=dispatch priority=critical full=keep from=worker since=0
type ShardAccepted struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
}

// ShardRefused reports that the worker rejected the shard.
//
//catalogue:message kind=67 class=dispatch priority=critical full=keep from=worker since=0
type ShardRefused struct {
	Shard     ShardID `msg:"slice"`
	Fence     Fence   `msg:"fence"`
	Code      Code    `msg:"code" require:"true"`
	Detail    string  `msg:"detail"`
	CoresFree uint32  `msg:"cores_free"`
	SeatsFree uint32  `msg:"seats_free"`
	Current   Fence   `msg:"current"` // with CodeStaleFence

	RetryAfter time.Duration `msg:"retry_after"` // zero: when the manager likes
}

// ShardProgress reports the state of a shard: cumulative, and the highest Sequence under one
// fence is the newest.
//
//catalogue:message kind=68 class=telemetry priority=normal full=latest from=worker since=0 subject=Shard,Fence
type ShardProgress struct {
	Shard    ShardID `msg:"slice"`
	Fence    Fence   `msg:"fence"`
	Sequence uint64  `msg:"sequence" require:"true"`
	Stats    Stats   `msg:"stats"`
}

// Fault is what a failed shard failed of. Values are on the wire: never renumber.
type Fault uint8

// The faults. An executor that died without a result may have met a broken machine or a program
// that kills it: a second death on another worker decides.
const (
	FaultNone     Fault = iota // an older worker sends none
	FaultExecutor              // an executor died
	FaultSpawn                 // the worker could start none
	FaultMemory                // the worker's machine has no memory left
	FaultProgram               // the workflow's own: it reported it, or it is above its limits
	FaultLost                  // no node ended it: workers or managers were lost or rejected it, up to a bound
	faultEnd
)

func (f Fault) String() string {
	names := [...]string{"none", "executor", "spawn", "memory", "program", "lost"}
	if f < faultEnd {
		return names[f]
	}
	return fmt.Sprintf("fault(%d)", uint8(f))
}

// Cluster says that the fault is the cluster's: the same program may succeed another time. An
// executor that died counts as the program's, which may have killed it.
func (f Fault) Cluster() bool { return f == FaultSpawn || f == FaultMemory || f == FaultLost }

// ShardResult is the end of a shard. It stays in the worker's outbox, on disk, until a manager
// acknowledges it.
//
//catalogue:message kind=69 class=data priority=critical full=keep from=worker since=0
type ShardResult struct {
	Shard    ShardID       `msg:"slice"`
	Fence    Fence         `msg:"fence"`
	State    WorkflowState `msg:"state" require:"true"`
	Error    string        `msg:"error"`
	Duration time.Duration `msg:"duration"`
	Stats    Stats         `msg:"stats"`
	Provided []Provided    `msg:"provided"` // a majority has it with the rest before it counts
	Fault    Fault         `msg:"fault"`    // with State FAILED
}

// ShardResultAck reports that the manager has it on disk, or rejects its fence; in both cases
// the worker may forget it.
//
//catalogue:message kind=70 class=data priority=critical full=keep from=manager since=0
type ShardResultAck struct {
	Shard ShardID `msg:"slice"`
	Fence Fence   `msg:"fence"`
	Stale bool    `msg:"stale"`
}

// ShardCancel asks a worker to stop a shard; ShardResult follows.
//
//catalogue:message kind=71 class=control priority=critical full=keep from=manager since=0
type ShardCancel struct {
	Shard  ShardID       `msg:"slice"`
	Fence  Fence         `msg:"fence"`
	State  WorkflowState `msg:"state" require:"true"` // CANCELLED or TIMED_OUT
	Reason string        `msg:"reason"`
}

// WorkerHold asks a worker to run nothing but one workflow, or lets it go. A worker that runs
// anything else takes no notice, and one that holds another workflow keeps that. The hold ends by
// itself, twice RenewalTimeout after the last WorkerHold of its workflow.
//
//catalogue:message kind=76 class=dispatch priority=high full=drop from=manager since=0
type WorkerHold struct {
	Job      JobID  `msg:"job" require:"true"`
	Workflow uint32 `msg:"workflow"`
	Fence    Fence  `msg:"fence"` // of the subjob: a lower one than the last of the workflow has no effect
	Release  bool   `msg:"release"`
}

// WorkerHeld tells each manager which workflow a worker holds, before each heartbeat while it
// holds one, and once that it holds none.
//
//catalogue:message kind=77 class=control priority=critical full=latest from=worker since=0
type WorkerHeld struct {
	Job      JobID  `msg:"job"` // zero: none
	Workflow uint32 `msg:"workflow"`
	Known    bool   `msg:"known"` // all managers that the worker is connected to have answered a heartbeat after it
}

// WorkerState is a worker's state in one subjob. Values are on the wire: never renumber.
type WorkerState uint8

// The states of a worker in a subjob.
const (
	WorkerNone     WorkerState = iota
	WorkerAssigned             // it has a shard, and has not reported that it runs
	WorkerRunning              // it runs one
	WorkerDraining             // it runs one, and takes no other
	WorkerSuspect              // it runs one, and its peers do not hear it
	WorkerAway                 // it runs one, and its stream is broken: its last report stands
	WorkerDone                 // its shards have ended
	WorkerLost                 // its manager gave up its attempts, and their figures count nowhere
)

func (s WorkerState) String() string {
	names := [...]string{"NONE", "ASSIGNED", "RUNNING", "DRAINING", "SUSPECT", "AWAY", "DONE", "LOST"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("WORKER_STATE_%d", uint8(s))
}

// WorkerShare is what one worker does, or did, of a subjob. It is for display: no node decides
// by it. Its counts are of measured steps; those of all shares add up to the subjob's.
// Concurrent figures show their maximum, because layers follow each other.
type WorkerShare struct {
	Node       string        `msg:"node"`   // empty: all workers for which there was no room
	Others     uint32        `msg:"others"` // their number
	State      WorkerState   `msg:"state" require:"true"`
	CoresTotal uint32        `msg:"cores_total"` // of the worker; zero if this manager never met it
	Cores      uint32        `msg:"cores"`       // those for this subjob
	VUs        uint64        `msg:"vus"`         // virtual users assigned to it
	Active     uint64        `msg:"active"`      // virtual users now
	Elapsed    time.Duration `msg:"elapsed"`     // time in which it sent load
	Lost       uint32        `msg:"lost"`        // attempts that its manager gave up
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
	Late       time.Duration `msg:"late"`     // 99 of 100 of a shard's starts were at most this late: the worst shard; unknown for others
	BusyMax    uint32        `msg:"busy_max"` // busiest second of an executor's loop, parts per million
	Saturated  bool          `msg:"saturated"`
}
