package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"fmt"
	"strings"
	"time"
)

// JobSubmit asks a gate to run a program. Any number of submits with the same key and payload
// are the same job.
//
//catalogue:message kind=16 class=dispatch priority=normal full=refuse from=client needs=submit since=0 stub=Request
type JobSubmit struct {
	Request     RequestID     `msg:"request"`
	Key         string        `msg:"key" require:"true"` // idempotency, at most 128 bytes
	Name        string        `msg:"name"`
	Program     Program       `msg:"program"`
	Plan        Plan          `msg:"plan"`
	Datacenters []string      `msg:"datacenters"` // empty: the gate chooses one
	RunTimeout  time.Duration `msg:"run_timeout"` // zero: the longest chain of workflows + 60 s
	Rank        Rank          `msg:"rank"`
	Deadline    time.Duration `msg:"deadline"`  // by when it must begin, from its acceptance on; zero: none
	Count       uint32        `msg:"count"`     // of datacenters that the gate chooses; zero: one, or those that Datacenters names
	Preferred   []string      `msg:"preferred"` // datacenters to choose first, if they have the cores
	BestEffort  BestEffort    `msg:"best_effort"`

	Outputs SinkNames `msg:"outputs,omitzero" since:"1"` // sinks of the gates that get its rows; empty: the default ones; NoOutputs: none
	Sent    uint64    `msg:"sent,omitempty" since:"1"`   // the client's clock, in ms since 1970: rows count their time from there; zero: no sink gets rows by default
}

// SinkNames names sinks of the gates' configuration.
type SinkNames struct {
	List []string `msg:"list"`
}

// IsZero says that none is named: an encoding leaves them out.
func (s SinkNames) IsZero() bool { return len(s.List) == 0 }

// NoOutputs is what a submission names instead of sinks to have none, not even the default ones.
const NoOutputs = "none"

// SinkReports are those of a job, by name.
type SinkReports struct {
	List []SinkReport `msg:"list"`
}

// IsZero says that there are none: an encoding leaves them out.
func (s SinkReports) IsZero() bool { return len(s.List) == 0 }

// SinkReport says how far a sink is that gets a job's rows.
type SinkReport struct {
	Name      string        `msg:"name" require:"true"`
	Delivered uint64        `msg:"delivered"` // rows that it has
	Behind    uint64        `msg:"behind"`    // windows that have passed, and that it does not have yet
	Since     time.Duration `msg:"since"`     // for how long the oldest of those has been over

	Rejected         uint64 `msg:"rejected"` // rows that it never takes
	RejectedRequests uint64 `msg:"rejected_requests"`
	Lost             uint64 `msg:"lost"` // rows that never get there: the gates gave up
	LostRequests     uint64 `msg:"lost_requests"`
	Twice            uint64 `msg:"twice"` // rows that it perhaps has twice, of a sink that adds up

	Done   bool   `msg:"done"`   // the job has ended, and nothing follows
	Failed string `msg:"failed"` // why the gates gave it up; empty: they did not
	Why    string `msg:"why"`    // the last failure of a try

	Kind    string        `msg:"kind,omitempty" since:"1"`    // of the gate's configuration
	Through time.Duration `msg:"through,omitempty" since:"1"` // of the job's time: it has all rows before that; zero: none, or the gate does not know it yet
}

// callerPrefix begins the keys of the HTTP API's callers.
const callerPrefix = "api/"

// CallerKey is the key of a caller of the HTTP API: callers whose names differ share none.
func CallerKey(caller, digest string) string { return callerPrefix + caller + "/" + digest }

// CallerOf is the caller of the HTTP API whose key it is; empty: it is no such key. Any client can write one: it only takes
// part of the client's own share.
func CallerOf(key string) string {
	rest, is := strings.CutPrefix(key, callerPrefix)
	if !is {
		return ""
	}
	caller, _, _ := strings.Cut(rest, "/")
	return caller
}

// BestEffort lets a job end without its slowest datacenters. The zero value waits for all.
type BestEffort struct {
	Least uint32        `msg:"least"` // of its datacenters that must complete; zero: all
	After time.Duration `msg:"after"` // from the dispatch on: until then it waits for all
}

// Rank is how important a job is in the queue of its gate.
type Rank uint8

// The ranks. The zero value is the middle one: a client that names none has it.
const (
	RankMedium Rank = iota
	RankCritical
	RankHigh
	RankLow
	RankBackground
)

func (r Rank) String() string {
	if names := Ranks(); int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("rank(%d)", uint8(r))
}

// Ranks lists the names of all ranks, in the order of their values.
func Ranks() []string { return []string{"medium", "critical", "high", "low", "background"} }

// Class is a rank's place in the order of importance, from 0 for the first.
func (r Rank) Class() int {
	switch r {
	case RankCritical:
		return 0
	case RankHigh:
		return 1
	case RankMedium:
		return 2
	case RankLow:
		return 3
	case RankBackground:
	}
	return 4
}

// JobAck reports that the job is on disk and will end.
//
//catalogue:message kind=17 class=dispatch priority=critical full=keep from=gate since=0
type JobAck struct {
	Request   RequestID `msg:"request"`
	Job       JobID     `msg:"job" require:"true"`
	Duplicate bool      `msg:"duplicate"` // the gate knew the key
}

// Refused rejects any request.
//
//catalogue:message kind=18 class=control priority=critical full=keep from=gate since=0
type Refused struct {
	Request    RequestID     `msg:"request"`
	Code       Code          `msg:"code" require:"true"`
	Detail     string        `msg:"detail"` // names the field, the value
	RetryAfter time.Duration `msg:"retry_after"`
	Current    Fence         `msg:"current"` // with CodeStaleFence or CodeNotOwner: the current one
	Holder     string        `msg:"holder"`  // with CodeNotOwner: address of the gate that owns the job
}

// JobWatch requests a job's status, now and at each change, how each workflow ends, and the
// result. JobStatus, WorkflowEnded and JobResult follow until the stream ends.
//
//catalogue:message kind=19 class=control priority=normal full=refuse from=client needs=view since=0 stub=Request
type JobWatch struct {
	Request RequestID `msg:"request"`
	Job     JobID     `msg:"job" require:"true"`
	After   uint32    `msg:"after"` // ends of workflows that the client has: the gate sends those after them
}

// JobQuery requests a job's status once. With Detail it requests a page of the steps' figures.
//
//catalogue:message kind=20 class=control priority=normal full=refuse from=client needs=view since=0 stub=Request
type JobQuery struct {
	Request RequestID `msg:"request"`
	Job     JobID     `msg:"job" require:"true"`

	Detail     bool   `msg:"detail"`
	Datacenter string `msg:"datacenter"` // whose figures; empty: the sums of all, as of datacenter "*"
	Workflow   string `msg:"workflow"`   // the only one; empty: all

	// The page begins after this step of this workflow, the last one of the page before; empty
	// for the first page. A number would not do: figures grow between two pages.
	AfterWorkflow string `msg:"after_workflow"`
	AfterStep     string `msg:"after_step"`
}

// JobStatus reports the state of a job. The highest Sequence is the newest.
//
//catalogue:message kind=21 class=telemetry priority=normal full=latest from=gate since=0 subject=Request,Job
type JobStatus struct {
	Request     RequestID          `msg:"request"`
	Job         JobID              `msg:"job" require:"true"`
	Name        string             `msg:"name"`
	Sequence    uint64             `msg:"sequence"`
	State       JobState           `msg:"state" require:"true"`
	Position    uint32             `msg:"position"` // in the queue, from 1; 0 if it does not wait there
	Reason      string             `msg:"reason"`   // why it waits, or failed
	Elapsed     time.Duration      `msg:"elapsed"`  // since its acceptance
	Datacenters []DatacenterResult `msg:"datacenters"`
	Plan        []WorkflowPlan     `msg:"plan"` // in the first status of a watch: only load and thresholds of its workflows
	More        bool               `msg:"more"` // of a page of details: another one follows

	Takeovers uint64 `msg:"takeovers,omitempty" since:"1"` // times that another gate, or the same one after its restart, took it over

	Sinks SinkReports `msg:"sinks,omitzero" since:"1"` // that get its rows, by name
}

// WorkflowEnded tells a watcher how a workflow ended, over all datacenters, once a majority of the
// gates has it. It follows a JobStatus and comes before the JobResult, which has all figures.
//
//catalogue:message kind=151 class=data priority=critical full=keep from=gate since=0
type WorkflowEnded struct {
	Request  RequestID     `msg:"request"`
	Job      JobID         `msg:"job" require:"true"`
	Number   uint32        `msg:"number" require:"true"` // among the ends of the job's workflows, from 1
	Workflow uint32        `msg:"workflow"`              // of the plan
	Name     string        `msg:"name"`
	State    WorkflowState `msg:"state" require:"true"`
	Started  uint64        `msg:"started"` // requests
	Failed   uint64        `msg:"failed"`  // of those, timed out ones included
	Duration time.Duration `msg:"duration"`
	P50      time.Duration `msg:"p50"` // latencies of all requests
	P99      time.Duration `msg:"p99"`
	Met      uint32        `msg:"met"`    // thresholds
	Missed   uint32        `msg:"missed"` // thresholds, those without a measurement included
	Again    bool          `msg:"again"`  // it had ended before, in a datacenter that the job left since

	Unreported time.Duration `msg:"unreported,omitempty" since:"1"` // it may have sent load for so long that no figure counts
}

// JobResult brings a finished job's result to a watcher.
//
//catalogue:message kind=22 class=data priority=critical full=keep from=gate since=0
type JobResult struct {
	Request RequestID `msg:"request"`
	Result  Result    `msg:"result"`

	Sinks SinkReports `msg:"sinks,omitzero" since:"1"` // as far as they are when the gate sends it
}

// JobCancel asks a gate to stop a job, or some of its workflows. A client may send it again.
//
//catalogue:message kind=23 class=control priority=critical full=keep from=client needs=submit since=0
type JobCancel struct {
	Request RequestID `msg:"request"`
	Job     JobID     `msg:"job" require:"true"`
	Now     bool      `msg:"now"` // without after_all

	Workflows []string `msg:"workflows"` // by name; none: the whole job
	Reason    string   `msg:"reason"`    // for people
}

// JobCancelAck reports that CANCELLING, or the stops of the workflows, are on disk, or that the
// job had ended.
//
//catalogue:message kind=24 class=control priority=critical full=keep from=gate since=0
type JobCancelAck struct {
	Request RequestID `msg:"request"`
	Job     JobID     `msg:"job" require:"true"`
	State   JobState  `msg:"state" require:"true"`
}

// DatacenterQuery requests the list of datacenters.
//
//catalogue:message kind=25 class=control priority=low full=refuse from=client needs=view since=0 stub=Request
type DatacenterQuery struct {
	Request RequestID `msg:"request"`
}

// DatacenterInfo is one line of that list.
type DatacenterInfo struct {
	Name       string `msg:"name" require:"true"`
	Health     Health `msg:"health"`
	Managers   uint32 `msg:"managers"`
	Workers    uint32 `msg:"workers"`
	CoresTotal uint32 `msg:"cores_total"`
	CoresFree  uint32 `msg:"cores_free"`

	RoundTrip time.Duration `msg:"round_trip"` // to the nearest of its managers; 0: not known
	Favoured  bool          `msg:"favoured"`   // by the gate that answers
}

// DatacenterList answers a DatacenterQuery.
//
//catalogue:message kind=26 class=control priority=normal full=keep from=gate since=0
type DatacenterList struct {
	Request     RequestID        `msg:"request"`
	Datacenters []DatacenterInfo `msg:"datacenters"` // by name
}

// StatusQuery requests everything that a gate knows of jobs and nodes.
//
//catalogue:message kind=27 class=control priority=low full=refuse from=client needs=view since=0 stub=Request
type StatusQuery struct {
	Request RequestID `msg:"request"`
}

// NodeInfo is one node as a gate sees it.
type NodeInfo struct {
	Node       string        `msg:"node" require:"true"`
	Role       uint8         `msg:"role"`
	Datacenter string        `msg:"datacenter"`
	Silent     time.Duration `msg:"silent"` // since it was last heard
	CoresTotal uint32        `msg:"cores_total"`
	CoresFree  uint32        `msg:"cores_free"`

	Incarnation uint64 `msg:"incarnation"`
	State       string `msg:"state"` // "alive", "suspect", "dead", "left"; "lost": the gate no longer hears it; a manager that takes nothing: "no quorum", "joining", "full", and one whose work does not begin: "stalled", "stuck"
	By          string `msg:"by"`    // the member that raised it
	Draining    bool   `msg:"draining"`
	Subjobs     uint32 `msg:"parts"`  // that a manager owns
	Leader      bool   `msg:"leader"` // of its datacenter's managers

	Version string `msg:"version,omitempty" since:"1"` // of the protocol; empty: not known
}

// JobInfo is one job in a list.
type JobInfo struct {
	Job      JobID         `msg:"job" require:"true"`
	Name     string        `msg:"name"`
	State    JobState      `msg:"state"`
	Position uint32        `msg:"position"`
	Age      time.Duration `msg:"age"` // since its acceptance, at least: the gate may not know how old its record is

	Token  LeaseToken `msg:"token"`  // of the grant under which its state was written
	Source JobSource  `msg:"source"` // who says so

	Ranked      bool     `msg:"ranked"` // Rank is known
	Rank        Rank     `msg:"rank"`
	Datacenters []string `msg:"datacenters"` // of its subjobs; before its dispatch those that it names
	Counted     bool     `msg:"counted"`     // Started and Failed are known
	Started     uint64   `msg:"started"`     // requests, as last reported
	Failed      uint64   `msg:"failed"`      // of those, timed out ones included
}

// JobSource says how a gate knows a job's state. Values are on the wire: never renumber.
type JobSource uint8

// The sources of a job's state.
const (
	SourceRecord JobSource = iota // its record, which the gate's acceptor has: a majority may have another one
	SourceOwner                   // the gate owns it: a majority has this state
	SourceEnd                     // it has ended for good
)

func (s JobSource) String() string {
	if names := [...]string{"record", "owner", "end"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("source(%d)", uint8(s))
}

// StatusList answers a StatusQuery, with at most the 100 newest jobs.
//
//catalogue:message kind=28 class=control priority=normal full=keep from=gate since=0
type StatusList struct {
	Request RequestID  `msg:"request"`
	Nodes   []NodeInfo `msg:"nodes"`
	Jobs    []JobInfo  `msg:"jobs"`
}

// ClientPing checks a client's stream for life; ClientPong answers it.
//
//catalogue:message kind=29 class=control priority=high full=latest from=client needs=view since=0
type ClientPing struct {
	Counter uint64 `msg:"counter"`
}

// ClientPong answers a ClientPing.
//
//catalogue:message kind=30 class=control priority=high full=latest from=gate since=0
type ClientPong struct {
	Counter uint64 `msg:"counter"`
}

// GateSet lists the configured gates, so that a client that knows one finds all.
//
//catalogue:message kind=31 class=control priority=high full=keep from=gate since=0
type GateSet struct {
	Gates []string `msg:"gates"`
}
