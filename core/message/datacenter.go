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
	Draining    bool   `msg:"draining"` // no sum includes its cores

	Version string `msg:"version,omitempty" since:"1"` // of the protocol, unless it is that of the manager
}

// ManagerHeartbeat registers a manager with a gate and renews that once a second, on the stream
// that the manager opened.
//
//catalogue:message kind=48 class=control priority=critical full=latest from=manager since=0
type ManagerHeartbeat struct {
	Datacenter string       `msg:"datacenter" require:"true"`
	Sequence   uint64       `msg:"sequence" require:"true"`
	Draining   bool         `msg:"draining"`
	CoresTotal uint32       `msg:"cores_total"`
	CoresFree  uint32       `msg:"cores_free"`
	SeatsFree  uint32       `msg:"seats_free"` // of cores that light shards share
	Workers    []WorkerInfo `msg:"workers"`    // by name, the first 256
	WorkerSum  uint32       `msg:"worker_sum"`
	Subjobs    []SubjobRef  `msg:"parts"`  // that this manager owns and whose end no gate has acknowledged, by job
	Gates      []string     `msg:"gates"`  // the configured set: the gate rejects a different one
	Doubts     []MemberInfo `msg:"doubts"` // members of the datacenter that are not alive in this manager's membership, the first 64
	Leader     string       `msg:"leader"` // address of the manager that leads the datacenter; empty if unknown
	Term       uint64       `msg:"term"`   // of that leader

	// LoadFor is how long load continues here, in real time, after the gate has named its
	// subjob in a HeartbeatAck. The gate rejects a span that its own guard does not cover.
	// Zero: not reported.
	LoadFor time.Duration `msg:"load_for"`

	// RoundTrip is the least time of late from a heartbeat of this stream to its answer, awake
	// time of the manager. Zero: no answer yet.
	RoundTrip time.Duration `msg:"round_trip"`

	// Refuses is why this manager would reject a dispatch now, beside Draining. CodeNone: it
	// takes them.
	Refuses Code `msg:"refuses"`

	// Overdue is for how long work of this manager waits that could begin: it lacks no cores.
	// Zero: none does.
	Overdue  time.Duration `msg:"overdue"`
	Managers uint32        `msg:"managers"` // in the configured set of the datacenter; zero: not reported
	Suspects uint32        `msg:"suspects"` // of the workers in WorkerSum, those that the membership suspects

	// CoresMax is how many cores the datacenter can have once something has started workers for
	// the jobs that wait. Zero: not known.
	CoresMax uint32 `msg:"cores_max,omitempty" since:"1"`
}

// ManagerAlerts lists the alerts that a manager has raised. It follows a heartbeat while there are
// some, and once after the last of them.
//
//catalogue:message kind=153 class=control priority=low full=latest from=manager since=0
type ManagerAlerts struct {
	Alerts []AlertInfo `msg:"alerts"`
}

// AlertNote tells another member of a group what its leaders have reported of alerts about the
// group. The receiver keeps the latest.
//
//catalogue:message kind=154 class=control priority=critical full=latest from=gate,manager since=0 subject=Group datagram=yes
type AlertNote struct {
	Group  string `msg:"group" require:"true"`
	Term   uint64 `msg:"term" require:"true"`  // of the leader that changed it last
	Count  uint32 `msg:"count" require:"true"` // of its changes in that term
	Raised uint32 `msg:"raised"`               // a bit for each alert of core/alert's list
}

// AlertInfo is a raised alert, for people.
type AlertInfo struct {
	Name string `msg:"name" require:"true"` // in the list of core/alert
	Why  string `msg:"why"`
}

// HeartbeatAck answers a heartbeat, so that the lower node notices a peer that vanished without
// closing its streams. It renews what it names: the receiver may run that for its time since it
// sent the heartbeat.
//
//catalogue:message kind=49 class=control priority=critical full=latest from=gate,manager since=0
type HeartbeatAck struct {
	Sequence uint64      `msg:"sequence" require:"true"`
	Shards   []ShardRef  `msg:"slices"` // of those listed, the ones that this manager owns and wants
	Subjobs  []SubjobRef `msg:"parts"`  // of those listed, the ones whose job this gate owns

	// Every is how long the receiver waits from one report of figures to the next; zero: as long
	// as it likes. Other messages wait for nothing.
	Every time.Duration `msg:"every"`

	// Set lists the sender's group, once a seat of it was given to another address: the receiver
	// connects to these members from then on. SetVersion counts such changes.
	Set        []string `msg:"set" since:"1"`
	SetVersion uint64   `msg:"set_version" since:"1"`
}

// JobDispatch gives a datacenter its subjob. The fence's attempt is 0.
//
//catalogue:message kind=50 class=dispatch priority=high full=refuse from=gate since=0 stub=Job,Fence
type JobDispatch struct {
	Job        JobID         `msg:"job" require:"true"`
	Fence      Fence         `msg:"fence"`
	Name       string        `msg:"name"`
	Program    Program       `msg:"program"`
	Plan       Plan          `msg:"plan"`
	RunTimeout time.Duration `msg:"run_timeout" require:"true"` // the rest of it
	Rows       RowShare      `msg:"rows"`                       // of all feeds
	Ran        time.Duration `msg:"ran"`                        // the part of the job's run timeout that is over: how late the subjob begins

	Stops []WorkflowStop `msg:"stops"` // workflows that never begin
}

// WorkflowStop is a workflow that a client cancelled before the subjob began.
type WorkflowStop struct {
	Workflow uint32 `msg:"workflow"`
	Reason   string `msg:"reason" require:"true"`
}

// JobAccepted reports that the subjob is on the manager's disk.
//
//catalogue:message kind=51 class=dispatch priority=critical full=keep from=manager since=0
type JobAccepted struct {
	Job   JobID `msg:"job" require:"true"`
	Fence Fence `msg:"fence"`
}

// JobRefused reports that the manager rejected the subjob.
//
//catalogue:message kind=52 class=dispatch priority=critical full=keep from=manager since=0
type JobRefused struct {
	Job     JobID  `msg:"job" require:"true"`
	Fence   Fence  `msg:"fence"`
	Code    Code   `msg:"code" require:"true"`
	Detail  string `msg:"detail"`
	Current Fence  `msg:"current"`
	Holder  string `msg:"holder"` // with CodeNotOwner: address of the manager that owns the subjob

	RetryAfter time.Duration `msg:"retry_after"` // zero: when the gate likes
}

// JobProgress reports the state of a subjob: cumulative, and the highest Sequence under one
// fence is the newest.
//
//catalogue:message kind=53 class=telemetry priority=normal full=latest from=manager since=0 subject=Job,Fence
type JobProgress struct {
	Job      JobID            `msg:"job" require:"true"`
	Fence    Fence            `msg:"fence"`
	Sequence uint64           `msg:"sequence" require:"true"`
	Subjob   DatacenterResult `msg:"part"`
}

// SubjobResult is the end of a subjob. It stays in the manager's outbox, on disk, until a gate
// acknowledges it.
//
//catalogue:message kind=54 class=data priority=critical full=keep from=gate,manager since=0
type SubjobResult struct {
	Job    JobID            `msg:"job" require:"true"`
	Fence  Fence            `msg:"fence"`
	Subjob DatacenterResult `msg:"part"`
	Fault  Fault            `msg:"fault"` // of a FAILED one: the workflow's own, unless all failures are the cluster's
}

// SubjobResultAck reports that the gate has it on disk, or rejects its fence.
//
//catalogue:message kind=55 class=data priority=critical full=keep from=gate since=0 datagram=yes
type SubjobResultAck struct {
	Job     JobID `msg:"job" require:"true"`
	Fence   Fence `msg:"fence"`
	Stale   bool  `msg:"stale"`
	Current Fence `msg:"current"`
	// Holder is set if this gate does not own the job and could not forward the result. It is
	// the address of the owner, and this message then acknowledges nothing.
	Holder string `msg:"holder"`
}

// SubjobAbort asks a manager to end one workflow of a subjob: as FAILED, because the workflow's own
// condition has held for its time, or as CANCELLED, because a client asked for it.
//
//catalogue:message kind=57 class=control priority=critical full=keep from=gate since=0
type SubjobAbort struct {
	Job      JobID  `msg:"job" require:"true"`
	Fence    Fence  `msg:"fence"`
	Workflow uint32 `msg:"workflow"`
	Reason   string `msg:"reason" require:"true"`
	Client   bool   `msg:"client"` // a client asked for it
}

// SubjobCancel asks a manager to stop a subjob; SubjobResult follows.
//
//catalogue:message kind=56 class=control priority=critical full=keep from=gate since=0
type SubjobCancel struct {
	Job    JobID    `msg:"job" require:"true"`
	Fence  Fence    `msg:"fence"`
	State  JobState `msg:"state" require:"true"` // CANCELLED or TIMED_OUT: the state in which it ends
	Reason string   `msg:"reason"`
	Now    bool     `msg:"now"` // without after_all
}
