package gate

import (
	"testing"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A manager that takes a subjob over is heard from its first number on.
func TestProgressBeginsAnewWithEachManager(t *testing.T) {
	env, _ := owner()
	p := &job.Subjob{Datacenter: "a", Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1}, Sequence: 9}
	in := &node.Input{From: node.Peer{ID: "m1", Role: node.RoleManager}, Stream: 7, Message: &message.JobProgress{}}
	j := &entry{Job: job.Job{ID: message.JobID{1}, Epoch: 1, Subjobs: []*job.Subjob{p}}}
	if follows(env, in, j, p, message.Fence{JobEpoch: 1, SubjobEpoch: 2}); p.Sequence != 0 {
		t.Errorf("a manager that took over is heard from number %d on", p.Sequence)
	}
}

// A record never goes out before one whose files are still missing.
func TestRecordsGoOutInTheirOrder(t *testing.T) {
	env, m := owner()
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true}}
	j.open = []*put{{job: j, missing: 1}, {job: j}}
	if m.issue(env, j); j.open[1].ticket != 0 {
		t.Error("the second record was sent, the first waits for its file")
	}
}

// Gates of another set are refused, however many they are.
func TestAnotherSetIsRefused(t *testing.T) {
	env, m := owner()
	in := &node.Input{From: node.Peer{ID: "m1", Role: node.RoleManager}}
	for _, x := range []struct {
		gates  []string
		refuse bool
	}{{nil, false}, {[]string{"g1:1"}, false}, {[]string{"g2:1"}, true}, {[]string{"g1:1", "g2:1"}, true}} {
		if got := m.refusesSet(env, in, &message.ManagerHeartbeat{Sequence: 1, Gates: x.gates}); got != x.refuse {
			t.Errorf("%v: refused is %v", x.gates, got)
		}
	}
}

// Results are forgotten at their age, and leave nothing in the sums; files of records
// that are on their way stay.
func TestSweepsTakeWhatIsOldAndNothingElse(t *testing.T) {
	env, m := owner()
	m.config.ResultAge = m.config.KeyAge / 2
	old := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Course: job.Course{State: message.JobCompleted, Shown: message.JobCompleted}, Times: job.Times{Ended: env.Now()}, Outcome: job.Outcome{ResultFile: message.FileDigest{1}, ResultBytes: 10}}}
	m.jobs[old.ID] = old
	m.keepEnded(env, old)
	b := []byte("a result")
	open := &entry{Job: job.Job{ID: message.JobID{2}, Ready: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}}}
	open.open = []*put{{job: open, files: [][]byte{b}, missing: 1}}
	m.jobs[open.ID] = open
	m.group.Files.Keep(env, b, 1<<50)
	env.Advance(m.config.ResultAge - m.config.SweepInterval)
	if old.ResultFile == (message.FileDigest{}) {
		t.Errorf("a result of %v is gone", m.config.ResultAge-m.config.SweepInterval)
	}
	env.Advance(2 * m.config.SweepInterval)
	if old.ResultFile != (message.FileDigest{}) {
		t.Errorf("a result older than %v is there", m.config.ResultAge)
	}
	if _, here := m.group.Files.Have(fileOf(b)); !here {
		t.Error("the file of a record that is on its way was swept")
	}
}

// All files that nobody had are asked for again.
func TestEachUnreadFileIsAskedForAgain(t *testing.T) {
	env, m := owner()
	j := &entry{Job: job.Job{ID: message.JobID{1}, Takeover: true, Loading: 2}}
	m.jobs[j.ID] = j
	m.unread = []fetch{{job: j, file: message.FileDigest{1}}, {job: j, file: message.FileDigest{2}}}
	if m.onStoreRetry(env); len(m.fetches) != 2 || len(m.unread) != 0 {
		t.Errorf("%d of 2 are asked for, %d wait", len(m.fetches), len(m.unread))
	}
}
