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
func (m *Machine) status(env node.Env, j *entry) *message.JobStatus {
	j.Sequence++
	s := &message.JobStatus{
		Job: j.ID, Name: j.Name, Sequence: j.Sequence, State: j.Shown, Reason: j.Last.Reason,
		Elapsed: j.ElapsedAt(env.Now()).Round(time.Microsecond),
	}
	if j.Shown == message.JobQueued && j.State == message.JobQueued {
		s.Position, s.Reason = j.Turn.Position(), j.Turn.Reason(m.places)
	}
	if j.Shown.Terminal() {
		if m.resultHere(j) {
			s.Datacenters = result.Bare(j.Result.Result.Datacenters)
		}
		return s
	}
	for _, p := range j.Subjobs {
		s.Datacenters = append(s.Datacenters, p.Shown())
	}
	result.FitStatus(s)
	return s
}

// onStatusQuery lists all nodes and the newest jobs.
func (m *Machine) onStatusQuery(env node.Env, in *node.Input, q *message.StatusQuery) {
	now := env.Now()
	list := &message.StatusList{Request: q.Request, Nodes: m.places.Nodes(now)}
	var jobs []*entry
	//lint:orderfree sorted below by a total order
	for _, j := range m.jobs {
		if j.Ready {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.Turn.Number, a.Turn.Number), a.ID.Compare(b.ID))
	})
	for _, j := range jobs[:min(len(jobs), jobsListed)] {
		list.Jobs = append(list.Jobs, message.JobInfo{Job: j.ID, Name: j.Name, State: j.Shown, Position: j.Turn.Position(), Age: now.Sub(j.Born).Round(time.Microsecond)})
	}
	env.Send(in.Stream, list)
}
