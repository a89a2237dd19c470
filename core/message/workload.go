package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import "time"

// StagePlan is one stretch of a workflow's load. The load goes in a straight line from the end
// of the earlier stage to this value, or jumps there if the stage takes no time. Stages of one
// workflow are all of VUs or all of Rate.
type StagePlan struct {
	Duration time.Duration `msg:"duration"`
	VUs      uint64        `msg:"vus"`
	Rate     uint64        `msg:"rate"` // in the unit of the workflow's Rate
}

// AbortPlan ends a workflow as FAILED once its condition has held for its time.
type AbortPlan struct {
	When Threshold     `msg:"when"`
	For  time.Duration `msg:"for"`
}

// Importance says which share of a datacenter's cores a workflow may take, and
// which it waits for.
type Importance uint8

// The priorities of a workflow: the smallest and the largest share of all cores.
const (
	PriorityAuto      Importance = iota // none .. all
	PriorityLow                         // none .. a quarter
	PriorityNormal                      // a quarter .. three quarters
	PriorityHigh                        // three quarters .. all
	PriorityExclusive                   // all
)

// SessionMode says what a virtual user keeps from iteration to iteration.
type SessionMode uint8

// The sessions.
const (
	SessionVU   SessionMode = iota // its cookies and connections
	SessionNone                    // nothing: each iteration begins without a session
)

// WorkflowPlan is one workflow as declared.
//
// It is closed, its virtual users repeat, unless Rate or the Rate of a stage is above zero.
// Then it is open, iterations begin when they are due, and VUs bounds the concurrent ones.
// core/load says when each iteration begins.
type WorkflowPlan struct {
	Name       string        `msg:"name" require:"true"`
	Test       bool          `msg:"test"`               // has a measured step
	VUs        uint64        `msg:"vus" require:"true"` // concurrent, at most
	Duration   time.Duration `msg:"duration"`           // of all stages, if there are any; zero: until Iterations, or one iteration of each virtual user
	Timeout    time.Duration `msg:"timeout" require:"true"`
	Think      time.Duration `msg:"think"`
	Cores      uint32        `msg:"cores"`   // zero: min(VUs, free)
	Depends    []uint32      `msg:"depends"` // indices of workflows, ascending
	Layer      uint32        `msg:"layer"`   // 1 + the highest of Depends and StartAfter, 0 without
	Steps      []StepPlan    `msg:"steps"`
	Thresholds []Threshold   `msg:"thresholds"`

	Iterations uint64        `msg:"iterations"` // of all virtual users together; zero: until Duration
	Rate       uint64        `msg:"rate"`       // thousandths of an iteration in RatePer: of the whole run, or where the stages begin
	RatePer    time.Duration `msg:"rate_per"`   // zero: a second
	Poisson    bool          `msg:"poisson"`    // of arrivals; false: even arrivals
	Queue      bool          `msg:"queue"`      // an iteration without a free virtual user waits for one; else it is dropped
	Stages     []StagePlan   `msg:"stages"`

	ThinkMax     time.Duration `msg:"think_max"`     // zero: exactly Think; else between both
	Pace         time.Duration `msg:"pace"`          // minimum time between two starts of a virtual user's iterations
	GracefulStop time.Duration `msg:"graceful_stop"` // for what is in flight at the end; zero: GracefulStopDefault

	StartAfter []uint32    `msg:"start_after"` // indices of workflows that must have ended, in any state, ascending
	AbortWhen  []AbortPlan `msg:"abort_when"`
	Priority   Importance  `msg:"priority"`

	Feed        FeedPlan      `msg:"feed"`
	Session     SessionMode   `msg:"session"`
	Connections uint32        `msg:"connections"` // of an executor, shared by its virtual users; zero: each has its own
	Weighted    bool          `msg:"weighted"`    // some of Steps have a weight
	Tags        []Tag         `msg:"tags"`        // sorted by name
	Report      []string      `msg:"report"`      // KIND=WHERE: the reports that a program that follows the run writes
	Interval    time.Duration `msg:"interval"`    // between the points of its curves; zero: the width of its windows

	UserIterations uint64        `msg:"vu_iterations"`                      // of each virtual user; Iterations is their sum. Zero: the users share Iterations
	Jitter         time.Duration `msg:"jitter"`                             // a virtual user of a closed workflow begins later by a random time below it
	StartDelay     time.Duration `msg:"start_delay"`                        // from when nothing holds it back any more to its begin
	Memory         uint64        `msg:"memory,omitempty" json:",omitempty"` // bytes that each executor may have; zero: what its worker lets it have
}

// GracefulStopDefault is how long a workflow without its own value waits for what is in flight
// at its end.
const GracefulStopDefault = 30 * time.Second
