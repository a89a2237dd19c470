package gate

import (
	"errors"
	"testing"

	"hyperscale/core/archive"
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
)

// A job whose program no gate has is given up after goneMax rounds in which all said so,
// and none before; rounds in which some gate is away do not count.
func TestMissingFilesAreGivenUpAfterTheirRounds(t *testing.T) {
	env, m := owner()
	j := &entry{Job: job.Job{ID: message.JobID{1}, Takeover: true, Loading: 1, Course: job.Course{State: message.JobQueued, Shown: message.JobQueued}}}
	m.jobs[j.ID] = j
	f := fetch{job: j, file: message.FileDigest{1}}
	round := func(err error) {
		m.ticket++
		m.fetches[m.ticket] = f
		m.onFetched(env, archive.Outcome{Kind: archive.Failed, Ticket: m.ticket, Err: err})
		if len(m.unread) > 0 {
			f, m.unread = m.unread[0], nil
		}
	}
	for n := range goneMax {
		if j.State.Terminal() {
			t.Fatalf("given up after %d rounds, want %d", n, goneMax)
		}
		round(errors.New("a fellow is away"))
		round(archive.ErrMissing)
	}
	if j.State != message.JobFailed {
		t.Errorf("after %d rounds without the file it is %v", goneMax, j.State)
	}
}
