package view

import (
	"hyperscale/core/message"
	"hyperscale/runtime/report"
)

// Job is what `status JOB --json` prints. Fields may be added, never renamed.
type Job struct {
	Job         string     `json:"job"`
	Name        string     `json:"name"`
	State       string     `json:"state"`
	Position    uint32     `json:"position"` // in the queue, from 1; 0: not queued
	Reason      string     `json:"reason"`
	ElapsedNS   int64      `json:"elapsed_ns"`
	Datacenters []Progress `json:"datacenters"`
	Takeovers   uint64     `json:"takeovers,omitempty"` // by gates, since the gates' group has level 1.1
	Holder      string     `json:"holder,omitempty"`    // address of the gate that owns it; empty: none, or not known to the gate that answered
	Fence       string     `json:"fence,omitempty"`     // epoch/ordinal of the holder's token
	LeftNS      int64      `json:"left_ns,omitempty"`   // until its lease ends unless renewed

	Sinks []report.Sink `json:"sinks,omitempty"` // that get its rows from its gate
}

// Hold adds who owns the job, as far as the gate that answered knows.
func (j *Job) Hold(c *message.ClusterStatus) {
	for i := range c.Leases {
		if l := &c.Leases[i]; l.Job.String() == j.Job && !l.Released {
			j.Holder, j.Fence, j.LeftNS = holderOf(l), l.Token.String(), int64(l.Left)
		}
	}
}

// holderOf is the holder of a register, if the gate that answered knows it.
func holderOf(l *message.LeaseInfo) string {
	if l.Unheard {
		return ""
	}
	return l.Holder
}

// Progress is what one datacenter has done of a job.
type Progress struct {
	Name      string     `json:"name"`
	State     string     `json:"state"`
	Error     string     `json:"error"`
	EveryNS   int64      `json:"figures_every_ns,omitempty"` // how often its workers report, if seldom
	Workflows []Workflow `json:"workflows"`
	Workers   []Worker   `json:"workers"`
}

// Worker is what one worker does for a job.
type Worker struct {
	Name       string `json:"name"`             // empty: those that are not named, summed
	Others     uint32 `json:"others,omitempty"` // how many those are
	State      string `json:"state"`
	CoresTotal uint32 `json:"cores_total"`
	Cores      uint32 `json:"cores"`
	Active     uint64 `json:"active"` // virtual users now
	Started    uint64 `json:"started"`
	OK         uint64 `json:"ok"`
	Failed     uint64 `json:"failed"`       // timed out ones included
	Lost       uint32 `json:"lost"`         // attempts that were given up
	LateP99NS  int64  `json:"late_p99_ns"`  // 99 % of its starts were late by at most this
	BusyMaxPPM uint32 `json:"busy_max_ppm"` // busiest second of an executor
	Saturated  bool   `json:"saturated"`
}

func workersOf(in []message.WorkerShare) []Worker {
	out := []Worker{}
	for i := range in {
		w := &in[i]
		out = append(out, Worker{
			Name: w.Node, Others: w.Others, State: w.State.String(), CoresTotal: w.CoresTotal, Cores: w.Cores, Active: w.Active,
			Started: w.Started, OK: w.OK, Failed: w.Failed + w.TimedOut, Lost: w.Lost, LateP99NS: int64(w.Late), BusyMaxPPM: w.BusyMax, Saturated: w.Saturated,
		})
	}
	return out
}

// Workflow is what one datacenter has done of a workflow.
type Workflow struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Error   string `json:"error"`
	Active  uint64 `json:"active"` // virtual users now
	Started uint64 `json:"started"`
	OK      uint64 `json:"ok"`
	Failed  uint64 `json:"failed"`  // timed out ones included
	Counted bool   `json:"counted"` // started, ok and failed are known: of a job that has ended the result alone has them

	MemoryBytes uint64 `json:"memory_bytes,omitempty"`     // most of the executor that came nearest to its budget
	MemoryMax   uint64 `json:"memory_max_bytes,omitempty"` // the budget of that one
	Pressed     bool   `json:"memory_pressure,omitempty"`
	ThrottledNS int64  `json:"throttled_for_ns,omitempty"`
}

// JobOf shows the state of a job.
func JobOf(s *message.JobStatus) Job {
	out := Job{
		Job: s.Job.String(), Name: s.Name, State: s.State.String(), Position: s.Position, Reason: s.Reason, Takeovers: s.Takeovers,
		ElapsedNS: int64(s.Elapsed), Datacenters: []Progress{}, Sinks: report.SinksOf(s.Sinks.List),
	}
	for _, d := range s.Datacenters {
		part := Progress{Name: d.Name, State: d.State.String(), Error: d.Error, EveryNS: int64(d.Every), Workflows: []Workflow{}, Workers: workersOf(d.Workers)}
		for _, w := range d.Workflows {
			flow := Workflow{Name: w.Name, State: w.State.String(), Error: w.Error, Active: w.Stats.Active}
			u := &w.Stats.Generator.Usage
			flow.MemoryBytes, flow.MemoryMax, flow.Pressed, flow.ThrottledNS = u.Memory, u.MemoryMax, u.Pressed, int64(u.Throttled)
			flow.Started, flow.OK, flow.Failed = w.Stats.Requests()
			flow.Counted = len(w.Stats.Steps) > 0 || !s.State.Terminal()
			part.Workflows = append(part.Workflows, flow)
		}
		out.Datacenters = append(out.Datacenters, part)
	}
	return out
}
