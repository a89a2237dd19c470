package gate

import (
	"testing"

	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
	"hyperscale/core/gate/queue"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A job that goes leaves nothing in the sums of those that are here.
func TestWhatGoesIsCountedNoMore(t *testing.T) {
	env, m := owner()
	m.accepting, m.specBytes = 2, 30
	j := &entry{Job: job.Job{ID: message.JobID{1}, Program: job.Program{Spec: &message.JobSubmit{}, SpecSize: 10}}}
	m.jobs[j.ID] = j
	if m.unload(env, j); m.accepting != 1 || m.specBytes != 20 || m.jobs[j.ID] != nil {
		t.Errorf("%d are being accepted, %d bytes are submitted, the job is %v", m.accepting, m.specBytes, m.jobs[j.ID])
	}
	owned := &entry{Job: job.Job{ID: message.JobID{2}, Ready: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}}}
	m.jobs[owned.ID] = owned
	for s := range node.StreamID(2) {
		m.follow(env, owned, &audience.Ask{What: audience.Watch, Stream: 7 + s})
	}
	if n := m.audience.Len(); n != 2 {
		t.Fatalf("%d watchers, want 2", n)
	}
	if m.unload(env, owned); m.accepting != 1 || m.specBytes != 20 {
		t.Errorf("of one that is owned: %d are being accepted, %d bytes are submitted", m.accepting, m.specBytes)
	}
	if n := m.audience.Len(); n != 0 {
		t.Errorf("%d watchers follow a job that is gone", n)
	}
}

// A job that another gate owns leaves the queue, and those behind it move up.
func TestWhatGoesLeavesTheQueue(t *testing.T) {
	env, m := owner()
	var all []*entry
	for n := range 3 {
		id := message.JobID{byte(n + 1)}
		j := &entry{Job: job.Job{ID: id, Turn: queue.Turn{Job: id, Number: uint64(n + 1)}, Program: job.Program{Spec: &message.JobSubmit{}}, Ready: true, Course: job.Course{State: message.JobQueued, Shown: message.JobQueued}}}
		m.jobs[j.ID] = j
		m.enqueue(env, j)
		all = append(all, j)
	}
	m.unload(env, all[1])
	if m.queue.Len() != 2 || all[0].Turn.Position() != 1 || all[2].Turn.Position() != 2 {
		t.Errorf("%d jobs are queued, want 2; the last one is at %d", m.queue.Len(), all[2].Turn.Position())
	}
}

// An acknowledgement goes back the way its result came, once.
func TestAcknowledgementsGoBackOnce(t *testing.T) {
	env, m := owner()
	a := &message.SubjobResultAck{Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1}}
	in := &node.Input{From: node.Peer{ID: "g2", Role: node.RoleGate}, Message: a}
	for n := range 2 { // the second result of the same fence takes the place of the first
		m.remembers(passed{a.Job, a.Fence, node.StreamID(7 + n), env.Now()})
	}
	m.remembers(passed{message.JobID{2}, a.Fence, 9, env.Now()})
	if len(m.forwarded) != 2 {
		t.Fatalf("%d results are on their way, want 2", len(m.forwarded))
	}
	for range 2 {
		m.onPassedAck(env, in, a)
	}
	if len(m.forwarded) != 1 || m.forwarded[0].job != (message.JobID{2}) {
		t.Errorf("left are %+v, want the other job's", m.forwarded)
	}
}

// A subjob whose datacenter is silent waits for another one that is not well yet, and may go
// back to none that it has left.
func TestSilentDatacentersStayOpenUntilOneIsChosen(t *testing.T) {
	env, m := owner()
	m.places.Add("a", env.Now())
	m.places.Add("b", env.Now()) // it has no managers: not well
	p := &job.Subjob{Datacenter: "a", Phase: job.Running, Ever: true}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}, Subjobs: []*job.Subjob{p}}}
	m.jobs[j.ID] = j
	if m.onExpired(env, j, p); len(j.Closed) != 0 || j.Subjobs[0] != p {
		t.Errorf("closed are %v, the subjob is in %s", j.Closed, j.Subjobs[0].Datacenter)
	}
}

// What a manager left out is counted anew once that had its consequence.
func TestDenialsAreCountedAnew(t *testing.T) {
	env, m := owner()
	p := &job.Subjob{Datacenter: "a", Phase: job.Running, Missed: 9}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Course: job.Course{State: message.JobCancelling, Shown: message.JobCancelling}, Subjobs: []*job.Subjob{p}}}
	if m.denied(env, j, p); p.Missed != 0 {
		t.Errorf("it was left out %d times since", p.Missed)
	}
}

// A write under a token that this gate had before confirms nothing.
func TestWritesOfAnotherTokenConfirmNothing(t *testing.T) {
	env, m := owner()
	mine, before := message.LeaseToken{Epoch: 2, Ordinal: 1}, message.LeaseToken{Epoch: 1, Ordinal: 1}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}, Token: mine}}
	j.open = []*put{{job: j, ticket: 5}}
	m.jobs[j.ID] = j
	if m.onLease(env, lease.Outcome{Kind: lease.Updated, Job: j.ID, Token: before, Ticket: 5}); len(j.open) != 1 {
		t.Error("confirmed under the token before")
	}
	if m.onLease(env, lease.Outcome{Kind: lease.Updated, Job: j.ID, Token: mine, Ticket: 5}); len(j.open) != 0 {
		t.Error("not confirmed under its own")
	}
}

// A result that its owner never acknowledges is not remembered for good.
func TestPassedResultsAreForgotten(t *testing.T) {
	env, m := owner()
	m.remembers(passed{message.JobID{1}, message.Fence{JobEpoch: 1}, 7, env.Now()})
	env.Advance(m.config.AnswerTimeout - 1)
	if m.forgetPassed(env.Now()); len(m.forwarded) != 1 {
		t.Error("forgotten before its answer is overdue")
	}
	if env.Advance(2 * m.config.SweepInterval); len(m.forwarded) != 0 {
		t.Errorf("left are %+v", m.forwarded)
	}
}

// A gate that leads no more, and leads again, counts anew since when a job is vacant.
func TestVacanciesAreCountedByTheLeaderAlone(t *testing.T) {
	env, m := owner()
	m.vacant = map[message.JobID]node.Instant{{1}: env.Now()}
	m.draining = true
	if m.keepHouse(env); len(m.vacant) != 0 {
		t.Errorf("it still counts %v", m.vacant)
	}
}

// A job that has ended judges no condition any more.
func TestEndedJobsWatchNothing(t *testing.T) {
	env, m := owner()
	spec := &message.JobSubmit{Plan: message.Plan{Workflows: []message.WorkflowPlan{{AbortWhen: []message.AbortPlan{{}}}}}}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Program: job.Program{Spec: spec}, Course: job.Course{State: message.JobCompleting, Shown: message.JobCompleting}}}
	m.jobs[j.ID] = j
	if j.Observe(0, env.Now()); j.Watching() != 1 {
		t.Fatalf("%d workflows are watched, want 1", j.Watching())
	}
	if m.end(env, j, message.JobCompleted, ""); j.Watching() != 0 {
		t.Errorf("%d workflows are watched", j.Watching())
	}
}
