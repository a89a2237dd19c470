package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// SubjobRef names a datacenter's subjob, in a manager's heartbeat.
type SubjobRef struct {
	Job   JobID    `msg:"job" require:"true"`
	Fence Fence    `msg:"fence"`
	State JobState `msg:"state"`
}

// WorkerInfo is one worker in its manager's heartbeat.
type WorkerInfo struct {
	Node        string `msg:"node" require:"true"`
	CoresTotal  uint32 `msg:"cores_total"`
	CoresFree   uint32 `msg:"cores_free"`
	Incarnation uint64 `msg:"incarnation"`
	Draining    bool   `msg:"draining"` // its cores are in no sum
}

// ManagerHeartbeat registers a manager with a gate and keeps it known, once a
// second on the stream that the manager opened.
//
//catalogue:message kind=48 class=control priority=high
type ManagerHeartbeat struct {
	Datacenter string       `msg:"datacenter" require:"true"`
	Sequence   uint64       `msg:"sequence" require:"true"`
	Draining   bool         `msg:"draining"`
	CoresTotal uint32       `msg:"cores_total"`
	CoresFree  uint32       `msg:"cores_free"`
	Workers    []WorkerInfo `msg:"workers"` // by name, the first 256
	WorkerSum  uint32       `msg:"worker_sum"`
	Subjobs    []SubjobRef  `msg:"parts"`  // subjobs that this manager owns and whose end is not acknowledged, by job
	Gates      []string     `msg:"gates"`  // the configured set: one that differs is refused
	Doubts     []MemberInfo `msg:"doubts"` // members of the datacenter that are not alive, as this manager's membership has them, the first 64
	Leader     string       `msg:"leader"` // address of the manager that leads the datacenter; empty when none is known
	Term       uint64       `msg:"term"`   // in which it does

	// LoadFor is how long load goes on here, in real time, after an answer to a heartbeat has named its subjob: the gate
	// refuses what its own guard does not outlast. Zero: not told.
	LoadFor time.Duration `msg:"load_for"`
}

// HeartbeatAck answers a heartbeat, so that a peer which vanished without
// closing its streams is noticed from below too. It renews what it names: who
// runs that may go on for its time since the heartbeat was sent.
//
//catalogue:message kind=49 class=control priority=high
type HeartbeatAck struct {
	Sequence uint64      `msg:"sequence" require:"true"`
	Shards   []ShardRef  `msg:"slices"` // of those listed, which this manager owns and wants
	Subjobs  []SubjobRef `msg:"parts"`  // of those listed, whose job this gate owns
}

// JobDispatch gives a datacenter its subjob. The fence's attempt is 0.
//
//catalogue:message kind=50 class=dispatch priority=high
type JobDispatch struct {
	Job        JobID         `msg:"job" require:"true"`
	Fence      Fence         `msg:"fence"`
	Name       string        `msg:"name"`
	Program    Program       `msg:"program"`
	Plan       Plan          `msg:"plan"`
	RunTimeout time.Duration `msg:"run_timeout" require:"true"` // what is left of it
	Rows       RowShare      `msg:"rows"`                       // of all feeds
}

// JobAccepted says that the subjob is on the manager's disk.
//
//catalogue:message kind=51 class=dispatch priority=critical
type JobAccepted struct {
	Job   JobID `msg:"job" require:"true"`
	Fence Fence `msg:"fence"`
}

// JobRefused says that the subjob was not taken.
//
//catalogue:message kind=52 class=dispatch priority=critical
type JobRefused struct {
	Job     JobID  `msg:"job" require:"true"`
	Fence   Fence  `msg:"fence"`
	Code    Code   `msg:"code" require:"true"`
	Detail  string `msg:"detail"`
	Current Fence  `msg:"current"`
	Holder  string `msg:"holder"` // with CodeNotOwner: address of the manager that owns the subjob
}

// JobProgress tells where a subjob stands: cumulative, the highest Sequence under
// one fence is the newest.
//
//catalogue:message kind=53 class=telemetry priority=normal
type JobProgress struct {
	Job      JobID            `msg:"job" require:"true"`
	Fence    Fence            `msg:"fence"`
	Sequence uint64           `msg:"sequence" require:"true"`
	Subjob   DatacenterResult `msg:"part"`
}

// SubjobResult is the end of a subjob. It stays in the manager's outbox, on disk,
// until acknowledged.
//
//catalogue:message kind=54 class=data priority=critical
type SubjobResult struct {
	Job    JobID            `msg:"job" require:"true"`
	Fence  Fence            `msg:"fence"`
	Subjob DatacenterResult `msg:"part"`
}

// SubjobResultAck says that the gate has it on disk, or refuses it by its fence.
//
//catalogue:message kind=55 class=data priority=critical
type SubjobResultAck struct {
	Job     JobID `msg:"job" require:"true"`
	Fence   Fence `msg:"fence"`
	Stale   bool  `msg:"stale"`
	Current Fence `msg:"current"`
	// Holder is set when this gate does not own the job and could not forward
	// the result: the address of the gate that does, and nothing is acknowledged.
	Holder string `msg:"holder"`
}

// SubjobAbort asks a manager to end one workflow of a subjob, FAILED, as a condition of
// its own has held for its time.
//
//catalogue:message kind=57 class=control priority=critical
type SubjobAbort struct {
	Job      JobID  `msg:"job" require:"true"`
	Fence    Fence  `msg:"fence"`
	Workflow uint32 `msg:"workflow"`
	Reason   string `msg:"reason" require:"true"`
}

// SubjobCancel asks a manager to stop a subjob; SubjobResult follows.
//
//catalogue:message kind=56 class=control priority=critical
type SubjobCancel struct {
	Job    JobID    `msg:"job" require:"true"`
	Fence  Fence    `msg:"fence"`
	State  JobState `msg:"state" require:"true"` // CANCELLED or TIMED_OUT: what it is to become
	Reason string   `msg:"reason"`
}
