package job

import (
	"slices"

	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
)

// Ends holds how workflows of a job ended, in the order in which clients learn it. The record keeps
// the order, so a client's cursor is valid at every gate.
type Ends struct {
	list  []record.Ended
	known int // of list: on a majority
}

// Len counts the ends as decided: a record written now contains them.
func (e *Ends) Len() int { return len(e.list) }

// Confirm records that a majority has the first upTo ends, and returns those that are newly known.
func (e *Ends) Confirm(upTo int) []record.Ended {
	if upTo <= e.known {
		return nil
	}
	fresh := e.list[e.known:upTo]
	e.known = upTo
	return fresh
}

// Known lists the ends that a majority has.
func (e *Ends) Known() []record.Ended { return e.list[:e.known] }

func (e *Ends) has(workflow int) bool {
	for i := range e.list {
		if e.list[i].Workflow == uint32(workflow) && !e.list[i].Left {
			return true
		}
	}
	return false
}

// leave says that workflows which have ended begin again in another datacenter, and end again.
func (e *Ends) leave() {
	e.list = slices.Clone(e.list)
	for i := range e.list {
		e.list[i].Left = true
	}
}

// before says that a workflow had ended before its end at an index.
func (e *Ends) before(at int) bool {
	return slices.ContainsFunc(e.list[:at], func(o record.Ended) bool { return o.Workflow == e.list[at].Workflow })
}

// Note adds the workflows of the job that have ended in all datacenters, and says whether there are any.
// Once all workflows have, it adds nothing: the job's end follows, and its record contains them.
func (e *Ends) Note(j *Job) (noted bool) {
	if j.Spec == nil || j.Stopping() || j.State.Terminal() {
		return false
	}
	var fresh []int
	all := true
	for i := range j.Spec.Plan.Workflows {
		switch {
		case !j.EndedEverywhere(i):
			all = false
		case !e.has(i):
			fresh = append(fresh, i)
		}
	}
	if all || len(fresh) == 0 {
		return false
	}
	places := lastReports(j)
	for _, i := range fresh {
		e.add(j, i, places)
	}
	return true
}

// Complete adds the workflows that the end of the job ends.
func (e *Ends) Complete(j *Job) {
	places := lastReports(j)
	for i := range j.Spec.Plan.Workflows {
		if !e.has(i) {
			e.add(j, i, places)
		}
	}
}

func (e *Ends) add(j *Job, workflow int, places []message.DatacenterResult) {
	r := result.Ended(&j.Spec.Plan.Workflows[workflow], places, j.State)
	e.list = append(e.list, record.Ended{
		Workflow: uint32(workflow), State: r.State, Started: r.Started, Failed: r.Failed, Duration: r.Duration,
		P50: r.P50, P99: r.P99, Met: r.Met, Missed: r.Missed, Unreported: ranAtMost(j, r.Unreported),
	})
}

// lastReports lists what each datacenter reported last.
func lastReports(j *Job) (places []message.DatacenterResult) {
	for _, p := range j.Subjobs {
		switch {
		case p.Result != nil:
			places = append(places, *p.Result)
		case p.Progress != nil:
			places = append(places, *p.Progress)
		}
	}
	return places
}

// After returns the known ends of the job after the first n, as clients get them.
func (e *Ends) After(j *Job, n uint32) (all []*message.WorkflowEnded) {
	for i := int(min(n, uint32(e.known))); i < e.known; i++ {
		r := &e.list[i]
		all = append(all, &message.WorkflowEnded{
			Job: j.ID, Number: uint32(i + 1), Workflow: r.Workflow, Name: nameOf(j, int(r.Workflow)), State: r.State,
			Started: r.Started, Failed: r.Failed, Duration: r.Duration, P50: r.P50, P99: r.P99, Met: r.Met, Missed: r.Missed, Again: e.before(i), Unreported: r.Unreported,
		})
	}
	return all
}

// nameOf is a workflow's name, from the plan or, after the job's end, from its result.
func nameOf(j *Job, workflow int) string {
	switch {
	case j.Spec != nil && workflow < len(j.Spec.Plan.Workflows):
		return j.Spec.Plan.Workflows[workflow].Name
	case j.Result != nil && workflow < len(j.Result.Result.Workflows):
		return j.Result.Result.Workflows[workflow].Name
	}
	return ""
}
