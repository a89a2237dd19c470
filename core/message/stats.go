package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"slices"
	"strings"
	"time"
)

// StatusCount counts the answers with one status.
type StatusCount struct {
	Status     uint32 `msg:"status" require:"true"`
	Count      uint64 `msg:"count"`
	Challenged uint64 `msg:"challenged"` // of Count, those that asked for a digest proof: requests of their own within one that started
}

// ErrorCount counts the failures of one kind.
type ErrorCount struct {
	Kind    string `msg:"kind" require:"true"` // of a bounded set, a check's text included
	Count   uint64 `msg:"count"`
	Example string `msg:"example"` // at most 256 bytes
}

// Histogram is a core/stats histogram on the wire.
type Histogram struct {
	Count   uint64 `msg:"count"`
	Sum     uint64 `msg:"sum"`
	Min     uint64 `msg:"min"`
	Max     uint64 `msg:"max"`
	Buckets []byte `msg:"buckets,limit=1048576"` // pairs of uvarints: gap to the bucket before, count
}

// Phase is a part of a request's time. The phases of a request follow each other and
// add up to its latency.
type Phase uint8

// The phases, in their order. A phase that did not happen (look-up and connect, on an open
// connection) is not recorded.
const (
	PhaseNone    Phase = iota
	PhaseBlocked       // from the intended start: the request waits for a virtual user, the generator, a connection
	PhaseDNS           // look-up of the host's name
	PhaseConnect       // until an address accepts the connection, including those that did not
	PhaseTLS           // the handshake
	PhaseSend          // from the first byte to the kernel until it has the last
	PhaseWait          // until the first byte of the answer
	PhaseReceive       // until its last
)

// PhaseTimes are the times of one phase of a step's requests.
type PhaseTimes struct {
	Phase Phase     `msg:"phase" require:"true"`
	Time  Histogram `msg:"time"` // ns
}

// MeasureKind says what a measure is.
type MeasureKind uint8

// The kinds of measures.
const (
	MeasureNone    MeasureKind = iota
	MeasureCount               // Count, of occurrences
	MeasureTimes               // Times, in nanoseconds
	MeasureAmounts             // Times, in thousandths of a unit
)

// Measure is what a step's protocol counts or times beside the latency: core/plan lists them.
type Measure struct {
	Name  string      `msg:"name" require:"true"`
	Kind  MeasureKind `msg:"kind" require:"true"`
	Count uint64      `msg:"count,omitempty"`
	Times Histogram   `msg:"times"` // also amounts
}

// Measures are those of a step that happened, by name.
type Measures struct {
	List []Measure `msg:"list"`
}

// IsZero says that none happened: an encoding leaves them out.
func (m Measures) IsZero() bool { return len(m.List) == 0 }

// Windows is a core/stats series in time: counts for each interval of equal width since the
// start.
type Windows struct {
	Width   time.Duration `msg:"width"`              // zero: nothing happened
	Data    []byte        `msg:"data,limit=1048576"` // of core/stats, in uvarints
	Dropped bool          `msg:"dropped"`            // something happened, and there was no room to say when
}

// Span holds exact figures of a step for one part of its workflow's time: of what ended then.
// A threshold that looks at parts of the time has its figures from spans.
type Span struct {
	From     time.Duration `msg:"from"`
	Until    time.Duration `msg:"until"` // zero: to the end, with what ends after it
	OK       uint64        `msg:"ok"`
	Failed   uint64        `msg:"failed"`
	TimedOut uint64        `msg:"timed_out"`
	Latency  Histogram     `msg:"latency"`
	Service  Histogram     `msg:"service"`
	Metric   Histogram     `msg:"metric"`
}

// StepSpans are the spans of one step in which something ended, ascending.
type StepSpans struct {
	Step  string `msg:"step" require:"true"`
	Spans []Span `msg:"spans"`
}

// StepStats are the figures of one step. Started == OK + Failed + TimedOut + Cancelled + those
// in flight; in a result none is in flight. For a check, OK and Failed count passes and
// failures. For a metric only Metric is used.
type StepStats struct {
	Name      string        `msg:"name" require:"true"`
	Kind      StepKind      `msg:"kind" require:"true"`
	Started   uint64        `msg:"started"`
	Sent      uint64        `msg:"sent"` // requests that the kernel took completely, also those of functions and redirects
	OK        uint64        `msg:"ok"`
	Failed    uint64        `msg:"failed"`
	TimedOut  uint64        `msg:"timed_out"`
	Cancelled uint64        `msg:"cancelled"`
	Dropped   uint64        `msg:"dropped"` // never started: no virtual user was free
	Skipped   uint64        `msg:"skipped"` // never started: a step that it needs failed
	BytesIn   uint64        `msg:"bytes_in"`
	BytesOut  uint64        `msg:"bytes_out"`
	Statuses  []StatusCount `msg:"statuses"` // ascending
	Errors    []ErrorCount  `msg:"errors"`   // by kind
	Latency   Histogram     `msg:"latency"`  // ns, from the intended start to the last byte
	Service   Histogram     `msg:"service"`  // ns, from the first byte written
	Metric    Histogram     `msg:"metric"`   // thousandths of the recorded value
	Phases    []PhaseTimes  `msg:"phases"`   // ascending; of the requests in Latency, the phases that happened
	Windows   Windows       `msg:"windows"`  // the same counts over time
	Retried   uint64        `msg:"retried"`  // of Started, those that were sent again after a failure

	Measures Measures `msg:"measures,omitzero" since:"1"` // of the step's protocol
}

// Generator says how well the load was generated.
type Generator struct {
	Lag       Histogram `msg:"lag"`            // ns by which starts were late
	BusyMax   uint32    `msg:"busy_max"`       // busiest second of the loop, parts per million
	Saturated bool      `msg:"saturated"`      // its own work filled its core for a second
	Begun     uint64    `msg:"begun"`          // iterations
	Waited    uint64    `msg:"waited"`         // those that were due while no virtual user was free
	Dropped   uint64    `msg:"dropped"`        // that were due and never began, because no virtual user was free
	Missed    uint64    `msg:"missed"`         // that were due while no attempt of their shard is known to have run
	WaitMax   uint32    `msg:"wait_max"`       // of a second, ready to run while others had the core, parts per million
	StealMax  uint32    `msg:"steal_max"`      // of the machine's time that its host gave to other machines, parts per million
	Starved   bool      `msg:"starved"`        // others took the core that it needed
	Late      bool      `msg:"late"`           // enough starts were late to say so, for whatever reason
	Held      uint64    `msg:"held,omitempty"` // begins of virtual users that throttled executors held back

	Usage Usage `msg:"usage,omitzero"`
}

// Usage says what executors used of their machines. Their worker measures it.
type Usage struct {
	CPU       time.Duration `msg:"cpu"`        // of processors
	Memory    uint64        `msg:"memory"`     // most of the executor that came nearest to its budget, in bytes
	MemoryMax uint64        `msg:"memory_max"` // the budget of that one
	Pressed   bool          `msg:"pressed"`    // an executor came near its budget
	Throttles uint32        `msg:"throttles"`  // how often executors were throttled, to keep their budgets
	Throttled time.Duration `msg:"throttled"`  // for how long, of the executor that was throttled for longest
}

// IsZero says that nothing is known: an encoding leaves it out.
func (u Usage) IsZero() bool { return u == Usage{} }

// Stats are the figures of one workflow, by one executor or by many.
type Stats struct {
	Active    uint64        `msg:"active"`  // virtual users now
	Elapsed   time.Duration `msg:"elapsed"` // of the workflow's time
	Gap       time.Duration `msg:"gap"`     // of it, without load as far as is known, because an attempt was lost
	Steps     []StepStats   `msg:"steps"`   // in the plan's order
	Generator Generator     `msg:"generator"`
	Logs      []string      `msg:"logs"`  // what the system tells of the run, then what vu.log wrote: the first 20 lines of each
	Rows      uint64        `msg:"rows"`  // of the feed that iterations took
	Spans     []StepSpans   `msg:"spans"` // of the steps whose thresholds look at parts of the time

	Activity Windows `msg:"activity"` // of core/stats: users and iterations over time

	Barriers []BarrierStats `msg:"barriers"` // at which users waited, in the plan's order

	Silent    []Silent `msg:"silent"`     // executors none of whose requests was answered: the first of them
	SilentSum uint32   `msg:"silent_sum"` // their number

	Counters []CounterStats `msg:"counters"` // whose values users took, in the plan's order

	Told uint32 `msg:"told,omitempty" since:"1"` // of Logs, the first lines, which the system told
}

// Silent is an executor whose requests ended, each without an answer.
type Silent struct {
	Worker   string `msg:"worker" require:"true"`
	Core     uint32 `msg:"core"`
	Requests uint64 `msg:"requests"`
	Kind     string `msg:"kind"`    // of most of these failures
	Example  string `msg:"example"` // of that kind
}

// CountsRequests reports whether a row counts requests of the load, each of which is in one row.
// A function without rows of its requests stands for them.
func (s *Stats) CountsRequests(step *StepStats) bool {
	if step.Kind != StepFunction {
		return step.Kind.Requests()
	}
	return !slices.ContainsFunc(s.Steps, func(o StepStats) bool { return o.Kind == StepPart && strings.HasPrefix(o.Name, step.Name+"/") })
}

// Requests sums the rows that count requests of the load. Failed ones include those that timed
// out.
func (s *Stats) Requests() (started, ok, failed uint64) {
	for i := range s.Steps {
		if step := &s.Steps[i]; s.CountsRequests(step) {
			started, ok, failed = started+step.Started, ok+step.OK, failed+step.Failed+step.TimedOut
		}
	}
	return started, ok, failed
}

// LostAttempt reports a shard's attempt that its manager gave up.
type LostAttempt struct {
	Shard   ShardID `msg:"slice"`
	Attempt uint64  `msg:"attempt"` // zero: no node knows which
	Worker  string  `msg:"worker"`  // empty: no node knows where
	Reason  string  `msg:"reason"`
	Started uint64  `msg:"started"` // its last report
	OK      uint64  `msg:"ok"`

	// Counted says that the figures of the last report are part of the workflow's. Otherwise they
	// count nowhere.
	Counted bool          `msg:"counted"`
	From    time.Duration `msg:"from"`  // of the workflow's time, when it began
	Until   time.Duration `msg:"until"` // of the workflow's time, up to which its figures count
	// Unreplaced says that no other attempt followed before the time of the workflow was over.
	Unreplaced bool `msg:"unreplaced"`
	// Unreported bounds the time in which it may have sent load that no figure counts.
	Unreported time.Duration `msg:"unreported"`
	Fault      Fault         `msg:"fault"` // of the worker that reported its end; none: it was lost silently
}

// WorkflowResult is the end of one workflow, in one datacenter or in all.
type WorkflowResult struct {
	Name     string        `msg:"name" require:"true"`
	State    WorkflowState `msg:"state"`
	Error    string        `msg:"error"`
	VUs      uint64        `msg:"vus"`
	Cores    uint32        `msg:"cores"`
	Shared   uint32        `msg:"shared"` // of Cores: those that executors of other workflows of the job shared
	Duration time.Duration `msg:"duration"`
	Stats    Stats         `msg:"stats"`
	Lost     []LostAttempt `msg:"lost"`
	Burned   uint64        `msg:"burned"`    // rows of a unique feed that lost attempts held: no executor gets them
	Tags     []Tag         `msg:"tags"`      // as declared; of the whole job's result only
	StepTags []StepTags    `msg:"step_tags"` // of steps with tags, in the plan's order
	Interval time.Duration `msg:"interval"`  // between two points of its curves, as declared; of the whole job's result only
	Began    time.Duration `msg:"began"`     // of the job's time, when its load began there; of a whole, where it began first
	Order    []string      `msg:"order"`     // of core/plan: in which order its steps begin; of the whole job's result only
}

// StepTags are the tags of one step.
type StepTags struct {
	Step string `msg:"step" require:"true"`
	Tags []Tag  `msg:"tags"`
}

// DatacenterResult is the end, or the current state, of one datacenter's subjob.
type DatacenterResult struct {
	Name      string           `msg:"name" require:"true"`
	State     JobState         `msg:"state"`
	Error     string           `msg:"error"`
	Duration  time.Duration    `msg:"duration"`
	Workflows []WorkflowResult `msg:"workflows"`
	Workers   []WorkerShare    `msg:"workers"` // by name, the first 64 of them; then the sum of the others
	Every     time.Duration    `msg:"every"`   // how often each worker reports, and the manager; zero: as often as they like, or never again
}

// ThresholdResult is the verdict on one threshold.
type ThresholdResult struct {
	Workflow string      `msg:"workflow"`
	Expr     string      `msg:"expr" require:"true"`
	Value    int64       `msg:"value"` // in the unit of Of
	Of       ThresholdOf `msg:"of"`
	OK       bool        `msg:"ok"`

	From       time.Duration `msg:"from"`       // of a threshold over windows: where the worst one begins
	Until      time.Duration `msg:"until"`      // and where it ends; zero: the threshold has no windows
	Unmeasured bool          `msg:"unmeasured"` // nothing happened that it could judge: Value is no figure
}

// Result is the end of a job.
type Result struct {
	Job         JobID              `msg:"job" require:"true"`
	Name        string             `msg:"name"`
	State       JobState           `msg:"state" require:"true"`
	Error       string             `msg:"error"`
	Duration    time.Duration      `msg:"duration"`
	Datacenters []DatacenterResult `msg:"datacenters"`
	Workflows   []WorkflowResult   `msg:"workflows"` // merged over the datacenters
	Thresholds  []ThresholdResult  `msg:"thresholds"`
	Turns       []string           `msg:"turns"`   // of core/plan: in which order the workflows begin
	Missing     []string           `msg:"missing"` // datacenters that best effort left out: their figures count nowhere

	// Restored says from which backup the gates knew the job, which had not ended then: what it did
	// since is in no figure.
	Restored string `msg:"restored,omitempty" since:"1"`
}
