package gate

import (
	"testing"
	"time"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
)

// A write waited so long for an earlier one that fellows may sweep its file: the gate
// keeps the file again before the record names it.
func TestWritesThatWaitKeepTheirFilesAgain(t *testing.T) {
	env, m := owner()
	j := &entry{Job: job.Job{ID: message.JobID{1}, Ready: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}}}
	m.jobs[j.ID] = j
	first := &put{job: j, missing: 1}
	j.open = append(j.open, first)
	file := []byte("result")
	second := &put{job: j, files: [][]byte{file}}
	m.save(env, second)
	m.settle(env)
	env.Advance(m.config.FileAge/2 + time.Second)
	if second.missing != 0 || second.ticket != 0 || !m.group.Files.Stale(env, fileOf(file)) {
		t.Fatalf("%d files are missing, the ticket is %d, the file may still be named: this test looks away", second.missing, second.ticket)
	}
	first.missing = 0
	m.issue(env, j)
	if second.ticket != 0 {
		t.Error("the record names a file that its keepers may sweep")
	}
	m.settle(env)
	env.Advance(time.Second)
	if m.group.Files.Stale(env, fileOf(file)) || second.ticket == 0 {
		t.Errorf("the gate has not kept the file again, or has not sent the record: ticket %d", second.ticket)
	}
}
