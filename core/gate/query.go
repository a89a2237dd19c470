package gate

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/gate/result"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// jobsListed bounds a list of jobs.
const jobsListed = 100

// status tells where a job stands, by what is on a majority.
func (m *Machine) status(env node.Env, j *job) *message.JobStatus {
	j.sequence++
	s := &message.JobStatus{
		Job: j.id, Name: j.name, Sequence: j.sequence, State: j.shown, Reason: j.last.Reason,
		Elapsed: j.elapsedAt(env.Now()).Round(time.Microsecond),
	}
	if j.shown == message.JobQueued && j.state == message.JobQueued {
		s.Position, s.Reason = j.turn.Position(), j.turn.Reason(m.places)
	}
	if j.shown.Terminal() {
		if m.resultHere(j) {
			s.Datacenters = result.Bare(j.result.Result.Datacenters)
		}
		return s
	}
	for _, p := range j.subjobs {
		s.Datacenters = append(s.Datacenters, p.shown())
	}
	result.FitStatus(s)
	return s
}

// shown is a subjob as people see it.
func (p *subjob) shown() message.DatacenterResult {
	d := message.DatacenterResult{Name: p.datacenter}
	switch {
	case p.result != nil && (p.counted || p.unheard):
		return *p.result
	case p.progress != nil:
		d = *p.progress
	}
	d.Name = p.datacenter
	switch p.phase {
	case subjobRunning, subjobDone:
		d.State = message.JobRunning
	case subjobSent:
		if d.State = message.JobDispatching; p.accepted { // by who goes on with it
			d.State = message.JobRunning
		}
	case subjobWaiting:
		d.State, d.Error = message.JobQueued, "waits for a manager"
	case subjobAdopting:
		d.State, d.Error = message.JobRunning, "waits to hear of it after a take-over"
	default:
		d.State = message.JobDispatching
	}
	return d
}

// onStatusQuery lists all nodes and the newest jobs.
func (m *Machine) onStatusQuery(env node.Env, in *node.Input, q *message.StatusQuery) {
	now := env.Now()
	list := &message.StatusList{Request: q.Request, Nodes: m.places.Nodes(now)}
	var jobs []*job
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		if j.ready {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(b.turn.Number, a.turn.Number), a.id.Compare(b.id))
	})
	for _, j := range jobs[:min(len(jobs), jobsListed)] {
		list.Jobs = append(list.Jobs, message.JobInfo{Job: j.id, Name: j.name, State: j.shown, Position: j.turn.Position(), Age: now.Sub(j.born).Round(time.Microsecond)})
	}
	env.Send(in.Stream, list)
}
