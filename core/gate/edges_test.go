package gate

import (
	"testing"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Whoever told a result last is answered, and the cores of a subjob are given back once.
func TestSubjobsAreKeptInOrder(t *testing.T) {
	env, m := owner()
	p := &subjob{datacenter: "a", fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1}, sequence: 9, ackBy: "g2:1"}
	in := &node.Input{From: node.Peer{ID: "m1", Role: node.RoleManager}, Stream: 7, Message: &message.JobProgress{}}
	if m.ackTo(p, in); p.ackBy != "" || p.ackTo != 7 {
		t.Errorf("the manager told it itself, and %q is answered", p.ackBy)
	}
	j := &job{id: message.JobID{1}, epoch: 1, subjobs: []*subjob{p}}
	if m.follows(env, in, j, p, message.Fence{JobEpoch: 1, SubjobEpoch: 2}); p.sequence != 0 {
		t.Errorf("a manager that took over is heard from number %d on", p.sequence)
	}
	d := m.places.Add("a", env.Now())
	d.Reserve(5)
	p.reserved = 3
	p.release(m.places)
	p.release(m.places)
	m.places.Rests(func(what string, n, _ int) {
		if what == "gate/cores that datacenters reserve" && n != 2 {
			t.Errorf("%d cores stay reserved, want 2", n)
		}
	})
	a := &abort{known: true}
	if p.phase = subjobDone; p.aborting(a) {
		t.Error("a subjob that is done is told to abort")
	}
	if p.phase = subjobRunning; !p.aborting(a) {
		t.Error("a subjob that runs is not")
	}
}

// A record never goes out before one whose files are still missing.
func TestRecordsGoOutInTheirOrder(t *testing.T) {
	env, m := owner()
	j := &job{id: message.JobID{1}, ready: true}
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
	old := &job{id: message.JobID{1}, ready: true, state: message.JobCompleted, shown: message.JobCompleted, ended: env.Now(), resultFile: message.FileDigest{1}, resultBytes: 10}
	m.jobs[old.id] = old
	m.keepEnded(env, old)
	b := []byte("a result")
	open := &job{id: message.JobID{2}, ready: true, state: message.JobRunning, shown: message.JobRunning}
	open.open = []*put{{job: open, files: [][]byte{b}, missing: 1}}
	m.jobs[open.id] = open
	m.files.Keep(env, b, 1<<50)
	env.Advance(m.config.ResultAge - m.config.SweepInterval)
	if old.resultFile == (message.FileDigest{}) || m.resultSum != 10 {
		t.Errorf("a result of %v is gone, %d bytes are left", m.config.ResultAge-m.config.SweepInterval, m.resultSum)
	}
	env.Advance(2 * m.config.SweepInterval)
	if old.resultFile != (message.FileDigest{}) || m.resultSum != 0 || len(m.results) != 0 {
		t.Errorf("a result older than %v is there, %d of %d bytes", m.config.ResultAge, len(m.results), m.resultSum)
	}
	if _, here := m.files.Have(fileOf(b)); !here {
		t.Error("the file of a record that is on its way was swept")
	}
}

// All files that nobody had are asked for again.
func TestEachUnreadFileIsAskedForAgain(t *testing.T) {
	env, m := owner()
	j := &job{id: message.JobID{1}, takeover: true, loading: 2}
	m.jobs[j.id] = j
	m.unread = []fetch{{job: j, file: message.FileDigest{1}}, {job: j, file: message.FileDigest{2}}}
	if m.onStoreRetry(env); len(m.fetches) != 2 || len(m.unread) != 0 {
		t.Errorf("%d of 2 are asked for, %d wait", len(m.fetches), len(m.unread))
	}
}
