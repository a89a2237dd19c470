package api

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
	"hyperscale/runtime/view"
)

// StatusEvent is where a job stands. A newer one replaces it.
type StatusEvent struct {
	view.Job
	Flows []FlowFigures `json:"flows"` // its workflows over all datacenters, in the plan's order
}

// FlowFigures are those of a workflow: sums since the start, and rates and latencies of the last second or two.
type FlowFigures struct {
	Name       string        `json:"name"`
	State      string        `json:"state"`
	PlannedNS  int64         `json:"planned_ns"` // how long it is to send load; 0: not known
	Users      uint64        `json:"users"`      // virtual users now
	Steps      []StepFigures `json:"steps"`
	Thresholds []Judged      `json:"thresholds"`
}

// StepFigures are those of a step.
type StepFigures struct {
	Name      string `json:"name"`
	Started   uint64 `json:"started"` // since the start
	OK        uint64 `json:"ok"`
	Failed    uint64 `json:"failed"`     // timed out ones included
	RateMilli uint64 `json:"rate_milli"` // thousandths of a request that ended a second
	FailMilli uint64 `json:"fail_milli"`
	P50NS     uint64 `json:"p50_ns"`
	P95NS     uint64 `json:"p95_ns"`
	P99NS     uint64 `json:"p99_ns"`
}

// Judged is a threshold as if the job ended now.
type Judged struct {
	report.Threshold
	Known bool `json:"known"` // something happened that it can be judged by
}

// WindowEvent is an interval of the whole job, with what happened in it alone.
type WindowEvent struct {
	FromNS    int64   `json:"from_ns"` // by the time for which load was sent
	UntilNS   int64   `json:"until_ns"`
	RateMilli uint64  `json:"rate_milli"` // thousandths of a request that ended a second
	FailMilli uint64  `json:"fail_milli"`
	P50NS     uint64  `json:"p50_ns"`
	P95NS     uint64  `json:"p95_ns"`
	P99NS     uint64  `json:"p99_ns"`
	Closed    Pursuit `json:"closed"` // of workflows whose users go round
	Open      Pursuit `json:"open"`   // of workflows whose iterations begin when they are due
}

// Pursuit is what users and iterations did in a window.
type Pursuit struct {
	Users      uint64 `json:"users"`
	BegunMilli uint64 `json:"begun_milli"` // thousandths of an iteration a second
	AskedMilli uint64 `json:"asked_milli"` // of open workflows alone
}

// JobEvent is something that happened once.
type JobEvent struct {
	What       string       `json:"what"`                 // state, takeover, worker-lost, workflow-ended
	State      string       `json:"state,omitempty"`      // with state: the new one
	Reason     string       `json:"reason,omitempty"`     // with state
	Holder     string       `json:"holder,omitempty"`     // with takeover: address of the gate that has the job now
	Datacenter string       `json:"datacenter,omitempty"` // with worker-lost
	Worker     string       `json:"worker,omitempty"`     // with worker-lost; empty: one of those that are not named
	ElapsedNS  int64        `json:"elapsed_ns"`           // of the job; 0: not known
	Workflow   *WorkflowEnd `json:"workflow,omitempty"`   // with workflow-ended
}

// WorkflowEnd is how a workflow ended, over all datacenters.
type WorkflowEnd struct {
	Number     uint32 `json:"number"` // among the ends of the job's workflows, from 1
	Name       string `json:"name"`
	State      string `json:"state"`
	Started    uint64 `json:"started"`
	Failed     uint64 `json:"failed"` // timed out ones included
	DurationNS int64  `json:"duration_ns"`
	P50NS      int64  `json:"p50_ns"`
	P99NS      int64  `json:"p99_ns"`
	Met        uint32 `json:"met"`    // thresholds
	Missed     uint32 `json:"missed"` // thresholds, those without a measurement included
}

// AlertEvent is an alert of the cluster that begins or ends while the job runs.
type AlertEvent struct {
	Alert string `json:"alert"`
	On    bool   `json:"on"`
}

// ResultEvent is a job's end. GET /v1/jobs/{id}/result has all figures.
type ResultEvent struct {
	Job        string             `json:"job"`
	State      string             `json:"state"`
	Error      string             `json:"error"`
	DurationNS int64              `json:"duration_ns"`
	Thresholds []report.Threshold `json:"thresholds"`
	Missing    []string           `json:"missing"`   // datacenters whose figures count nowhere
	Forgotten  bool               `json:"forgotten"` // the gates keep its figures no longer
}

func flowsOf(m *ui.Model) []FlowFigures {
	all := []FlowFigures{}
	for _, f := range m.Figures() {
		one := FlowFigures{Name: f.Workflow, State: f.State.String(), PlannedNS: int64(f.Planned), Users: f.Users, Steps: []StepFigures{}, Thresholds: []Judged{}}
		for _, s := range f.Steps {
			one.Steps = append(one.Steps, StepFigures{s.Name, s.Started, s.OK, s.Failed, s.RateMilli, s.FailMilli, s.P50, s.P95, s.P99})
		}
		for _, j := range f.Judged {
			one.Thresholds = append(one.Thresholds, Judged{j.Threshold, j.Known})
		}
		all = append(all, one)
	}
	return all
}

func windowOf(p *ui.Point) WindowEvent {
	of := func(c ui.Course) Pursuit { return Pursuit{c.Users, c.BegunMilli, c.AskedMilli} }
	return WindowEvent{
		FromNS: int64(p.At - p.Took), UntilNS: int64(p.At), RateMilli: p.RateMilli, FailMilli: p.FailMilli,
		P50NS: p.P50, P95NS: p.P95, P99NS: p.P99, Closed: of(p.Closed), Open: of(p.Open),
	}
}

func endOf(e *message.WorkflowEnded, elapsed time.Duration) JobEvent {
	return JobEvent{What: "workflow-ended", ElapsedNS: int64(elapsed), Workflow: &WorkflowEnd{
		Number: e.Number, Name: e.Name, State: e.State.String(), Started: e.Started, Failed: e.Failed, DurationNS: int64(e.Duration),
		P50NS: int64(e.P50), P99NS: int64(e.P99), Met: e.Met, Missed: e.Missed,
	}}
}

func resultOf(r *message.Result, forgotten bool) ResultEvent {
	out := ResultEvent{
		Job: r.Job.String(), State: r.State.String(), Error: r.Error, DurationNS: int64(r.Duration),
		Thresholds: []report.Threshold{}, Missing: append([]string{}, r.Missing...), Forgotten: forgotten,
	}
	for _, t := range r.Thresholds {
		out.Thresholds = append(out.Thresholds, report.Threshold{
			Workflow: t.Workflow, Expr: t.Expr, Of: t.Of.Name(), Value: t.Value, OK: t.OK, FromNS: int64(t.From), UntilNS: int64(t.Until), Unmeasured: t.Unmeasured,
		})
	}
	return out
}
