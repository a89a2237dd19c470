package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// File is one source file of a program.
type File struct {
	Name string `msg:"name" require:"true"` // relative to the main file's folder
	Data []byte `msg:"data,limit=1048576"`
}

// Param is one value that a user gave with --set.
type Param struct {
	Name  string `msg:"name" require:"true"`
	Value string `msg:"value"`
}

// Sealed is a text that no log, JSON or %v shows. Only string(s) has it.
type Sealed string

// Format implements fmt.Formatter.
func (Sealed) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("***")) } // what it writes to takes everything

// MarshalText implements encoding.TextMarshaler, and with it JSON.
func (Sealed) MarshalText() ([]byte, error) { return []byte("***"), nil }

// Secret is the value of a secret() of the file.
type Secret struct {
	Name  string `msg:"name" require:"true"`
	Value Sealed `msg:"value"`
}

// Program is the input of core/workflow: files, and values that override theirs. The same
// Program gives the same Plan everywhere.
type Program struct {
	Main     string        `msg:"main" require:"true"` // the file to load first
	Files    []File        `msg:"files"`
	Params   []Param       `msg:"params"`   // sorted by name
	VUs      uint64        `msg:"vus"`      // zero: as in the file
	Duration time.Duration `msg:"duration"` // zero: as in the file
	Seed     uint64        `msg:"seed"`     // of every random number of the virtual users
	Rate     uint64        `msg:"rate"`     // zero: as in the file; else thousandths of an iteration in RatePer
	RatePer  time.Duration `msg:"rate_per"` // zero: a second
	Feeds    []FeedFile    `msg:"feeds"`    // files that a node reads locally, which Files does not include
	Secrets  []Secret      `msg:"secrets"`  // sorted by name. The plan does not depend on them

	Iterations uint64      `msg:"iterations"` // zero: as in the file
	Stages     []StagePlan `msg:"stages"`     // none: as in the file; rates are in thousandths of an iteration in an hour
}

// StepKind is the kind of a step.
type StepKind uint8

// The kinds of steps.
const (
	StepNone     StepKind = iota
	StepRequest           // compiled to bytes before the clock starts
	StepFunction          // interpreted, measured by the response it returns
	StepCheck             // passes or fails, by a value
	StepMetric            // records a number
	StepAction            // runs, without measurement
	StepPart              // no step: requests of a step's function that share a name
	StepBeside            // no step: the same of a function beside the steps, such as setup
)

// Measured says that steps of this kind start, end and have latencies. They make a workflow a
// test.
func (k StepKind) Measured() bool { return k == StepRequest || k == StepFunction }

// Requests says that figures of this kind count requests of the load, each once. A function's
// own figures count its calls.
func (k StepKind) Requests() bool { return k == StepRequest || k == StepPart }

// StepPlan is what all nodes but the executor need to know of a step.
type StepPlan struct {
	Name  string   `msg:"name" require:"true"`
	Kind  StepKind `msg:"kind" require:"true"`
	After []uint32 `msg:"after"` // indices of earlier steps that it waits for and needs, ascending
	Layer uint32   `msg:"layer"` // 0 for steps that wait for none, else 1 + the highest of After and Behind
	Unit  string   `msg:"unit"`  // of a metric: counter, rate, distribution

	Weight uint32 `msg:"weight"` // an iteration takes one of the weighted steps; zero: every iteration takes it
	Tags   []Tag  `msg:"tags"`   // sorted by name

	Behind []uint32 `msg:"behind"` // indices of further earlier steps that it waits for, whatever becomes of them, ascending

	Protocol string `msg:"protocol,omitempty" since:"1" json:",omitempty"` // of its request: it says which measures it has; empty: HTTP
}

// Tag labels a step or a workflow in reports.
type Tag struct {
	Name  string `msg:"name" require:"true"`
	Value string `msg:"value"`
}

// ThresholdOp is a comparison.
type ThresholdOp uint8

// The comparisons.
const (
	OpNone ThresholdOp = iota
	OpBelow
	OpAtMost
	OpAbove
	OpAtLeast
)

// ThresholdOf names the measurement of a threshold.
type ThresholdOf uint8

// The measurements of thresholds.
const (
	OfNone    ThresholdOf = iota
	OfLatency             // nanoseconds, at Quantile (or Statistic)
	OfService             // the same, of service time
	OfErrors              // share of failed and timed out, in parts per million
	OfChecks              // share of passed checks, in parts per million
	OfRate                // finished requests a second, in thousandths
	OfMetric              // a metric's value at Quantile, in thousandths
	OfPhase               // as OfLatency, of Threshold.Phase
	OfMeasure             // times of Threshold.Measure, as OfLatency
	OfCount               // occurrences of Threshold.Measure, in thousandths
	OfAmount              // amounts of Threshold.Measure, as OfMetric
)

// Name is the measurement as result files and rows write it; empty: there is none.
func (o ThresholdOf) Name() string {
	names := [...]string{"", "latency", "service", "errors", "checks", "rate", "metric", "phase", "measure", "count", "amount"}
	if int(o) < len(names) {
		return names[o]
	}
	return ""
}

// Statistic names the number that a threshold takes from a distribution.
type Statistic uint8

// The statistics. StatQuantile reads Threshold.Quantile.
const (
	StatQuantile Statistic = iota
	StatMin
	StatMax
	StatMean
	StatCount
	StatSum
)

// Threshold is one condition of a good run, compiled.
type Threshold struct {
	Expr      string      `msg:"expr" require:"true"` // as written
	Step      string      `msg:"step"`                // empty: all steps of the workflow
	Of        ThresholdOf `msg:"of" require:"true"`
	Statistic Statistic   `msg:"statistic"`
	Quantile  uint32      `msg:"quantile"` // parts per million
	Op        ThresholdOp `msg:"op" require:"true"`
	Bound     int64       `msg:"bound"` // in the unit of Of
	Phase     Phase       `msg:"phase"` // with OfPhase

	Steps      []string      `msg:"steps"`      // with a tag, in place of Step
	Group      string        `msg:"group"`      // of requests of functions, in place of Step: those below vu.group(Group)
	Datacenter string        `msg:"datacenter"` // empty: the sum of all
	From       time.Duration `msg:"from"`       // of the workflow's time: what ended earlier does not count
	Until      time.Duration `msg:"until"`      // zero: to the end; what ends then or later does not count
	Over       time.Duration `msg:"over"`       // each window of that length must hold; zero: all of it together

	Measure string `msg:"measure,omitempty" since:"1" json:",omitempty"` // with OfMeasure, OfCount and OfAmount
}

// Partial reports whether a threshold looks at parts of the workflow's time.
func (t *Threshold) Partial() bool { return t.From > 0 || t.Until > 0 || t.Over > 0 }

// OfProtocol reports whether a threshold looks at a protocol's measure.
func (t *Threshold) OfProtocol() bool {
	return t.Of == OfMeasure || t.Of == OfCount || t.Of == OfAmount
}

// Looks reports whether a threshold may look at a step.
func (t *Threshold) Looks(step string) bool {
	if t.Group != "" {
		_, path, owned := strings.Cut(step, "/")
		return owned && len(path) > len(t.Group) && path[len(t.Group)] == '/' && path[:len(t.Group)] == t.Group
	}
	return t.Step == step || slices.Contains(t.Steps, step) || t.Step == "" && len(t.Steps) == 0
}

// Names reports whether a threshold names what it looks at. Others look at all steps that their
// figure is about.
func (t *Threshold) Names() bool { return t.Step != "" || len(t.Steps) > 0 || t.Group != "" }

// ParamPlan is one param() of the file.
type ParamPlan struct {
	Name    string `msg:"name" require:"true"`
	Default string `msg:"default"`
	Help    string `msg:"help"`
	Value   string `msg:"value"`                    // its value in this plan
	Secret  bool   `msg:"secret" json:",omitempty"` // people do not see its value
}

// Plan is everything that a cluster must know of a program without running it.
type Plan struct {
	Source    string         `msg:"source" require:"true"` // name of the main file
	Workflows []WorkflowPlan `msg:"workflows"`
	Params    []ParamPlan    `msg:"params"`
	Counters  []CounterPlan  `msg:"counters" json:",omitempty"`  // as declared
	Barriers  []BarrierPlan  `msg:"barriers" json:",omitempty"`  // as declared
	AfterAll  uint32         `msg:"after_all" json:",omitempty"` // 1 + the index of the workflow that cleans up, also when the job is stopped; zero: none
}
