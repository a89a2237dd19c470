package live

import (
	"hyperscale/runtime/report"
)

// View is a job at one moment, as model.js reads it. Times are in nanoseconds, rates and users in
// thousandths, shares in parts per million. Fields may be added, never renamed.
type View struct {
	Job      string `json:"job"`
	Name     string `json:"name"`
	State    string `json:"state"`
	Reason   string `json:"reason"`
	Position uint32 `json:"position"` // in the queue, from 1; 0: not queued
	Sequence uint64 `json:"sequence"` // rises with each change
	Ended    bool   `json:"ended"`    // its figures are final
	Clock
	Takeovers uint64 `json:"takeovers"` // by gates

	Trust      Trust               `json:"trust"`
	Now        Now                 `json:"now"`
	Totals     report.Totals       `json:"totals"`
	Latency    report.Distribution `json:"latency_ns"` // of all requests so far, merged
	Thresholds []Threshold         `json:"thresholds"`
	Steps      []Step              `json:"steps"`
	Errors     []Failure           `json:"errors"`
	Places     []Place             `json:"datacenters"`
	Sinks      []Sink              `json:"sinks"`
	Marks      []Mark              `json:"marks"`
	Course     Course              `json:"course"`
}

// Clock says how far the load is.
type Clock struct {
	ElapsedNS int64 `json:"elapsed_ns"` // since the job was accepted
	DoneNS    int64 `json:"done_ns"`    // of the planned load
	PlannedNS int64 `json:"planned_ns"` // 0: not known
}

// Trust says whether the figures are those of the target.
type Trust struct {
	Word string   `json:"word"` // yes, no, or unknown before the first request
	Why  []string `json:"why"`  // of no: each reason with its remedy
}

// Now are figures of the newest second that all executors have told.
type Now struct {
	RateMilli uint64 `json:"rate_milli"` // requests that ended a second
	FailMilli uint64 `json:"fail_milli"` // of those, the ones that failed or timed out
	P50       uint64 `json:"p50_ns"`
	P99       uint64 `json:"p99_ns"`
	Users     uint64 `json:"users"`
}

// Threshold is a threshold as it stands.
type Threshold struct {
	Workflow string `json:"workflow"`
	Expr     string `json:"expr"`
	Value    string `json:"value"` // for people
	Known    bool   `json:"known"`
	OK       bool   `json:"ok"`
	Plot     string `json:"plot"`  // latency, errors or rate, where it is a line; else empty
	Bound    int64  `json:"bound"` // of that line
}

// Step is one step so far.
type Step struct {
	Workflow  string `json:"workflow"`
	Name      string `json:"name"`
	Started   uint64 `json:"started"`
	OK        uint64 `json:"ok"`
	Failed    uint64 `json:"failed"`
	TimedOut  uint64 `json:"timed_out"`
	RateMilli uint64 `json:"rate_milli"`
	P50       uint64 `json:"p50_ns"`
	P99       uint64 `json:"p99_ns"`
	Max       uint64 `json:"max_ns"`
}

// Failure is a kind of failure so far.
type Failure struct {
	Step    string `json:"step"`
	Kind    string `json:"kind"`
	Example string `json:"example"`
	Count   uint64 `json:"count"`
}

// Place is one datacenter's part.
type Place struct {
	Name      string   `json:"name"`
	State     string   `json:"state"`
	Health    string   `json:"health"` // good, warn or bad
	Waits     string   `json:"waits"`  // what it waits for, or why it ended so
	SharePPM  uint64   `json:"share_ppm"`
	Users     uint64   `json:"users"`
	Started   uint64   `json:"started"`
	Failed    uint64   `json:"failed"`     // timed out ones included
	RateMilli uint64   `json:"rate_milli"` // now
	P99       uint64   `json:"p99_ns"`     // now: where the bucket of its course begins
	Workers   []Worker `json:"workers"`    // the first 64 by name, then the sum of the others
}

// Worker is one worker's part.
type Worker struct {
	Name       string `json:"name"`
	Others     uint32 `json:"others"` // number of workers in a sum that has no name
	State      string `json:"state"`
	Cores      uint32 `json:"cores"`
	Users      uint64 `json:"users"`
	Started    uint64 `json:"started"`
	Failed     uint64 `json:"failed"`
	Lost       uint32 `json:"lost"` // attempts
	LateP99NS  int64  `json:"late_p99_ns"`
	BusyMaxPPM uint32 `json:"busy_max_ppm"`
	Saturated  bool   `json:"saturated"`
}

// Sink is a sink of the cluster that gets the job's rows.
type Sink struct {
	Name         string `json:"name"`
	Kind         string `json:"kind"`
	State        string `json:"state"`  // a word of runtime/report
	Health       string `json:"health"` // good, warn or bad
	Delivered    uint64 `json:"delivered"`
	ThroughNS    int64  `json:"through_ns"` // of the job's time: it has all rows before that
	BehindNS     int64  `json:"behind_ns"`  // for how long the oldest window has been over that it lacks
	Lost         uint64 `json:"lost"`
	Rejected     uint64 `json:"rejected"`
	PerhapsTwice uint64 `json:"perhaps_twice"`
	Done         bool   `json:"done"` // nothing follows
	Why          string `json:"why"`
}

// Mark is something that happened at one moment of the load, or in a time of it.
type Mark struct {
	AtNS    int64  `json:"at_ns"` // since the load began; negative: before this page looked
	UntilNS int64  `json:"until_ns,omitempty"`
	Kind    string `json:"kind"` // lost, takeover, abort, sink
	Text    string `json:"text"`
}

// Course is what happened over time since the load began, a column for each WidthNS. Of a page that
// has some of its columns, an event holds those from From on.
type Course struct {
	WidthNS   int64    `json:"width_ns"` // 0: nothing happened
	Per       int      `json:"per"`      // buckets of an octave, in which the quantiles are known
	From      int      `json:"from"`
	Ended     []uint64 `json:"ended"`  // requests
	Failed    []uint64 `json:"failed"` // of those
	P50       []uint64 `json:"p50_ns"` // where its bucket begins; 0: nothing ended
	P99       []uint64 `json:"p99_ns"`
	Users     []uint64 `json:"users_milli"` // on average
	LastNS    int64    `json:"last_ns"`     // length of the last column
	LeftOut   bool     `json:"left_out"`    // some steps had no room for their course
	Beginning int64    `json:"began_ns"`    // of the job's time, where the load began
}
