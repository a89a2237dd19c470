package gate

import (
	"testing"

	"hyperscale/core/archive"
	"hyperscale/core/gate/job"
	"hyperscale/core/message"
)

// Sweeps delete results that reach their age, with their part of the sums. Files of records
// that are still on their way stay.
func TestSweepsTakeWhatIsOldAndNothingElse(t *testing.T) {
	c := Default()
	c.ResultAge = c.KeyAge / 2
	env, m := ownerOf(c)
	old := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Course: job.Course{State: message.JobCompleted, Shown: message.JobCompleted}, Times: job.Times{Ended: env.Now()}, Outcome: job.Outcome{ResultFile: message.FileDigest{1}, ResultBytes: 10}}}
	m.jobs[old.ID] = old
	m.keepEnded(env, old)
	b := []byte("a result")
	open := &entry{Job: job.Job{ID: message.JobID{2}, Ready: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}}}
	m.jobs[open.ID] = open
	m.ledger.Open(open.ID)
	m.save(env, open, tag{}, b)
	env.Advance(m.config.ResultAge - m.config.SweepInterval)
	if old.ResultFile == (message.FileDigest{}) {
		t.Errorf("a result of %v is gone", m.config.ResultAge-m.config.SweepInterval)
	}
	env.Advance(2 * m.config.SweepInterval)
	if old.ResultFile != (message.FileDigest{}) {
		t.Errorf("a result older than %v is there", m.config.ResultAge)
	}
	if _, here := m.group.Files.Have(archive.DigestOf(b)); !here {
		t.Error("the file of a record that is on its way was swept")
	}
}
