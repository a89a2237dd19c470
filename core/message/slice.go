package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// SliceRef names a slice and the fence under which it runs.
type SliceRef struct {
	Slice SliceID `msg:"slice"`
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
	Running    []SliceRef `msg:"running"` // by slice: accepted, without a result acknowledged
}

// SliceDispatch gives a worker a slice. The worker keeps the highest fence of
// each slice on disk, refuses a lower one, and answers an equal one again
// without starting anything.
//
//catalogue:message kind=65 class=dispatch priority=high
type SliceDispatch struct {
	Slice      SliceID       `msg:"slice"`
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

// SliceAccepted says that the fence is on disk and the slice started.
//
//catalogue:message kind=66 class=dispatch priority=critical
type SliceAccepted struct {
	Slice SliceID `msg:"slice"`
	Fence Fence   `msg:"fence"`
}

// SliceRefused says that it was not taken.
//
//catalogue:message kind=67 class=dispatch priority=critical
type SliceRefused struct {
	Slice     SliceID `msg:"slice"`
	Fence     Fence   `msg:"fence"`
	Code      Code    `msg:"code" require:"true"`
	Detail    string  `msg:"detail"`
	CoresFree uint32  `msg:"cores_free"`
	Current   Fence   `msg:"current"` // with CodeStaleFence
}

// SliceProgress tells where a slice stands: cumulative, the highest Sequence
// under one fence is the newest.
//
//catalogue:message kind=68 class=telemetry priority=normal
type SliceProgress struct {
	Slice    SliceID `msg:"slice"`
	Fence    Fence   `msg:"fence"`
	Sequence uint64  `msg:"sequence" require:"true"`
	Stats    Stats   `msg:"stats"`
}

// SliceResult is the end of a slice. It stays in the worker's outbox, on disk,
// until acknowledged.
//
//catalogue:message kind=69 class=data priority=critical
type SliceResult struct {
	Slice    SliceID       `msg:"slice"`
	Fence    Fence         `msg:"fence"`
	State    WorkflowState `msg:"state" require:"true"`
	Error    string        `msg:"error"`
	Duration time.Duration `msg:"duration"`
	Stats    Stats         `msg:"stats"`
	Provided []Provided    `msg:"provided"` // kept on a majority with the rest, before it counts
}

// SliceResultAck says that the manager has it on disk, or refuses it by its
// fence; either way the worker may forget it.
//
//catalogue:message kind=70 class=data priority=critical
type SliceResultAck struct {
	Slice SliceID `msg:"slice"`
	Fence Fence   `msg:"fence"`
	Stale bool    `msg:"stale"`
}

// SliceCancel asks a worker to stop a slice; SliceResult follows.
//
//catalogue:message kind=71 class=control priority=critical
type SliceCancel struct {
	Slice  SliceID       `msg:"slice"`
	Fence  Fence         `msg:"fence"`
	State  WorkflowState `msg:"state" require:"true"` // CANCELLED or TIMED_OUT
	Reason string        `msg:"reason"`
}
