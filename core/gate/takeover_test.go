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

// A submission that waited during a takeover belongs to a known key, so its client gets a
// duplicate.
func TestWhoeverWaitedForATakeoverHasADuplicate(t *testing.T) {
	env, m := owner()
	j := &entry{Job: job.Job{Key: "k", Turn: queue.Turn{Number: 1}, Course: job.Course{State: message.JobQueued, Last: job.Transition{From: message.JobSubmitted, To: message.JobQueued}}, Times: job.Times{Born: env.Now()}}}
	id := message.JobOf("k")
	a := &audience.Ask{What: audience.Submit}
	m.adopt(env, lease.Outcome{Job: id, Token: message.LeaseToken{Epoch: 4, Ordinal: 1}, Record: j.Record(env.Now())}, []*audience.Ask{a})
	if !a.Again {
		t.Error("it is told to be accepted for the first time")
	}
	if m.adopt(env, lease.Outcome{Job: message.JobID{9}, Record: j.Record(env.Now())}, nil); m.jobs[message.JobID{9}] != nil {
		t.Error("a record under another job's register is gone on with")
	}
}

// A gate whose lease is lost while it fetches the files of a job forgets the job: another gate may own
// it, and a file that arrives later resumes nothing. Storm 217737 found that it kept the job for ever.
func TestALeaseIsLostWhileFilesAreFetched(t *testing.T) {
	env, m := owner()
	j := &entry{Job: job.Job{Key: "k", Turn: queue.Turn{Number: 1}, Course: job.Course{State: message.JobQueued, Last: job.Transition{From: message.JobSubmitted, To: message.JobQueued}}, Times: job.Times{Born: env.Now()}}}
	j.SpecFile = message.FileDigest{1}
	id, token := message.JobOf("k"), message.LeaseToken{Epoch: 4, Ordinal: 1}
	m.adopt(env, lease.Outcome{Job: id, Token: token, Record: j.Record(env.Now())}, nil)
	if got := m.jobs[id]; got == nil || got.Ready {
		t.Fatalf("the job is %+v, want one whose program is on its way", got)
	}
	if m.onLease(env, lease.Outcome{Kind: lease.Lost, Job: id, Token: message.LeaseToken{Epoch: 3, Ordinal: 1}}); m.jobs[id] == nil {
		t.Error("the end of an earlier lease ends the takeover")
	}
	if m.onLease(env, lease.Outcome{Kind: lease.Lost, Job: id, Token: token}); m.jobs[id] != nil {
		t.Error("it keeps a job that it has lost")
	}
}

// A write under a former token of this gate confirms nothing.
func TestWritesOfAnotherTokenConfirmNothing(t *testing.T) {
	env, m := owner()
	mine, before := message.LeaseToken{Epoch: 2, Ordinal: 1}, message.LeaseToken{Epoch: 1, Ordinal: 1}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}, Token: mine}}
	m.jobs[j.ID] = j
	m.ledger.Open(j.ID)
	m.save(env, j, tag{})
	if m.onLease(env, lease.Outcome{Kind: lease.Updated, Job: j.ID, Token: before, Ticket: 5}); m.ledger.Idle(j.ID) {
		t.Error("confirmed under the token before")
	}
	if m.onLease(env, lease.Outcome{Kind: lease.Updated, Job: j.ID, Token: mine, Ticket: 5}); !m.ledger.Idle(j.ID) {
		t.Error("not confirmed under its own")
	}
}

// A gate that loses and regains leadership counts vacancies from the start.
func TestVacanciesAreCountedByTheLeaderAlone(t *testing.T) {
	env, m := owner()
	m.vacant = map[message.JobID]node.Instant{{1}: env.Now()}
	m.draining = true
	if m.keepHouse(env); len(m.vacant) != 0 {
		t.Errorf("it still counts %v", m.vacant)
	}
}
