package checker

import (
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// Effort is what a submission says of best effort. The zero value: all datacenters count.
type Effort struct {
	Least int           // datacenters that must complete
	After time.Duration // since the dispatch; a datacenter that is late is left out from then on
}

// efforts judges E: best effort leaves a datacenter out at its time or later, as enough others have
// completed, and what was left out counts nowhere.
type efforts struct {
	log  *history.Log
	jobs map[message.JobID]*effort
}

type effort struct {
	Effort
	begun   time.Duration // the first dispatch; zero: none
	stopped bool          // by a client or a condition: what ends then is not left out
	left    map[string]bool
}

// slowest is how much of a time a clock within every bound may have left when the observer's has passed:
// a gate that takes a job over goes on from what the record says, so two clocks count.
const slowest = 98

func newEfforts(log *history.Log) *efforts {
	return &efforts{log: log, jobs: map[message.JobID]*effort{}}
}

// asked takes what a client submits. Another submission under the same key changes nothing.
func (s *efforts) asked(id message.JobID, e Effort) {
	if s.jobs[id] == nil && e.Least > 0 {
		s.jobs[id] = &effort{Effort: e, left: map[string]bool{}}
	}
}

func (s *efforts) changed(r Record, e event.JobChanged) {
	j := s.jobs[e.Job]
	switch {
	case j == nil:
	case e.To == message.JobDispatching && j.begun == 0:
		j.begun = r.At
	case e.To == message.JobCancelling || e.To == message.JobCancelled:
		j.stopped = true
	}
}

func (s *efforts) aborted(id message.JobID) {
	if j := s.jobs[id]; j != nil {
		j.stopped = true
	}
}

// givenUp judges a datacenter that a job goes on without.
func (s *efforts) givenUp(r Record, e event.SubjobGivenUp) {
	j := s.jobs[e.Job]
	if j == nil || j.stopped || e.State != message.JobCancelled {
		return
	}
	j.left[e.Datacenter] = true
	if at := r.At - j.begun; j.begun == 0 || at < j.After*slowest/100 {
		s.log.Violate("E", r, "best effort left %s out of job %v %v after its dispatch, and waits for %v", e.Datacenter, e.Job, at, j.After)
	}
	if e.Started > 0 {
		s.log.Violate("E", r, "best effort left %s out of job %v, and counts %d of its starts", e.Datacenter, e.Job, e.Started)
	}
}

func (s *efforts) counted(r Record, e event.SubjobCounted) {
	if j := s.jobs[e.Job]; j != nil && j.left[e.Datacenter] {
		s.log.Violate("E", r, "%s counts the result of %s, which best effort left out of job %v", r.Node, e.Datacenter, e.Job)
	}
}

// delivered judges a result, from which so many datacenters are missing.
func (s *efforts) delivered(r Record, d Delivery) {
	j := s.jobs[d.Job]
	switch {
	case d.Missing == 0:
	case j == nil:
		s.log.Violate("E", r, "the result of job %v is without %d datacenters, and no submission allowed that", d.Job, d.Missing)
	case d.State == message.JobCompleted && d.Subjobs < j.Least:
		s.log.Violate("E", r, "job %v completed in %d datacenters without %d, and %d must complete", d.Job, d.Subjobs, d.Missing, j.Least)
	}
}
