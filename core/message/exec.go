package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// Provided is a value that a workflow gives to others: its context. The executor of the first
// virtual user computes it once, at the end. A majority has it with the result before any of
// the others begins.
type Provided struct {
	Name  string   `msg:"name" require:"true"`
	To    []uint32 `msg:"to"`                // workflows of the plan that use it
	Value []byte   `msg:"value,limit=32768"` // JSON
}

// ProvidedMax bounds how many values a workflow gives, and how many it gets, so that all of
// them fit a frame beside a program or figures.
const ProvidedMax = 6

// ExecJoin says where an executor joins its workflow, in place of lost ones. Zero: it begins with
// the workflow.
type ExecJoin struct {
	Origin  int64  `msg:"origin"` // when the workflow's time was zero, by the machine's CLOCK_BOOTTIME, in nanoseconds
	Begun   uint64 `msg:"begun"`  // iterations that lost attempts of the shard are known to have begun
	Anew    bool   `msg:"anew"`   // the load begins from its beginning, whatever the workflow's time is
	FirstVU uint64 `msg:"first_vu"`
	VUs     uint64 `msg:"vus"` // of the shard, of which this executor has some; zero: it joins nothing
}

// ExecStart gives an executor its work: it loads the bytes, compares the plan and runs the
// workflow.
//
//catalogue:message kind=80 class=dispatch priority=high full=keep from=worker since=0
type ExecStart struct {
	Shard      ShardID       `msg:"slice"` // for logs and models
	Workflow   string        `msg:"workflow" require:"true"`
	Program    Program       `msg:"program"`
	PlanDigest uint64        `msg:"plan_digest" require:"true"`
	VUs        uint64        `msg:"vus" require:"true"`
	FirstVU    uint64        `msg:"first_vu"`
	Duration   time.Duration `msg:"duration"`
	Timeout    time.Duration `msg:"timeout"`
	Given      []Provided    `msg:"given"` // values of earlier workflows
	Rows       RowShare      `msg:"rows"`
	Join       ExecJoin      `msg:"join"`
	Trace      uint64        `msg:"trace"`            // one iteration of that many is sampled; zero: none
	Memory     uint64        `msg:"memory,omitempty"` // its budget, in bytes; zero: its host's
}

// ExecCancel asks an executor to stop: it starts nothing new, cancels and counts what is in
// flight, and reports a result.
//
//catalogue:message kind=81 class=control priority=critical full=keep from=worker since=0
type ExecCancel struct {
	Reason string `msg:"reason"`
}

// ExecExtend lets an execution run until its machine's CLOCK_BOOTTIME shows Until, in
// nanoseconds. Without another one the executor then ends by itself. Sender and receiver are
// processes of one machine and read one clock.
//
//catalogue:message kind=86 class=control priority=critical full=keep from=worker since=0
type ExecExtend struct {
	Until uint64 `msg:"until" require:"true"`
}

// ExecReady reports that a pre-warmed executor can take work. Bare says why it has no filter of
// system calls though its worker wants one.
//
//catalogue:message kind=82 class=control priority=high full=keep from=executor since=0
type ExecReady struct {
	Process uint64 `msg:"process" require:"true"`
	Bare    string `msg:"bare"`
}

// ExecStarted reports that the clock of the execution has started.
//
//catalogue:message kind=83 class=control priority=high full=keep from=executor since=0
type ExecStarted struct {
	VUs uint64 `msg:"vus" require:"true"`
}

// ExecAlive reports that the loop of an execution turns. With Asks it is no such report: the loop is
// about to do something long, and asks for more time. The worker grants that at most five times, and
// only if Done has risen since.
//
//catalogue:message kind=148 class=control priority=normal full=keep from=executor since=0
type ExecAlive struct {
	Asks   bool   `msg:"asks"`
	Done   uint32 `msg:"done"` // of the work before the load, in millionths
	Reason string `msg:"reason"`
}

// ExecUsage reports what an execution uses, as its host measures it several times a second. It is no word
// of the execution itself.
//
//catalogue:message kind=146 class=telemetry priority=normal full=latest from=executor since=0
type ExecUsage struct {
	Memory    uint64        `msg:"memory"`     // bytes that its processes have for themselves
	MemoryMax uint64        `msg:"memory_max"` // that its host lets an executor have
	CPU       time.Duration `msg:"cpu"`        // of processors, since it began
	Left      uint64        `msg:"left"`       // bytes that its machine has left
	Machine   uint64        `msg:"machine"`    // bytes that its machine has; zero: unknown
}

// ExecThrottle asks an execution to save memory while On: it begins no new virtual user, and collects
// more. Off ends that.
//
//catalogue:message kind=147 class=control priority=high full=keep from=worker since=0
type ExecThrottle struct {
	On bool `msg:"on"`
}

// ExecProgress is cumulative; the highest Sequence is the newest.
//
//catalogue:message kind=84 class=telemetry priority=normal full=latest from=executor since=0
type ExecProgress struct {
	Sequence uint64 `msg:"sequence" require:"true"`
	Stats    Stats  `msg:"stats"`
}

// ExecTrace brings samples of requests as lines. An executor's pool takes it: no node gets it.
//
//catalogue:message kind=91 class=telemetry priority=normal full=keep from=executor since=0
type ExecTrace struct {
	Lines   []byte `msg:"lines,limit=1048576"`
	Last    bool   `msg:"last"`     // no other one follows, and the figures below are known
	Sampled uint64 `msg:"sampled"`  // requests, of the whole run
	LeftOut uint64 `msg:"left_out"` // of Sampled, those that have no line
}

// ExecResult is the last message of an execution.
//
//catalogue:message kind=85 class=data priority=critical full=keep from=executor since=0
type ExecResult struct {
	State    WorkflowState `msg:"state" require:"true"`
	Error    string        `msg:"error"`
	Duration time.Duration `msg:"duration"`
	Stats    Stats         `msg:"stats"`
	Provided []Provided    `msg:"provided"`
}
