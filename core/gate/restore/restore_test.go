package restore

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/gate/job"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
)

// TestMark: every job that had not ended is marked, no other one is, and the mark changes nothing
// else.
func TestMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var registers []message.LeaseRegister
		was := map[message.JobID]record.Job{}
		for _, key := range rapid.SliceOfNDistinct(rapid.StringN(1, 5, 5), 0, 6, rapid.ID[string]).Draw(t, "keys") {
			r := record.Job{
				Key: key, Name: key, Elapsed: 5, Spec: message.FileDigest{1}, Named: []string{"east"},
				Last: record.Transition{From: message.JobQueued, To: message.JobState(rapid.IntRange(int(message.JobSubmitted), int(message.JobTimedOut)).Draw(t, "state"))},
			}
			was[message.JobOf(key)] = r
			registers = append(registers, message.LeaseRegister{Job: message.JobOf(key), Accepted: message.LeaseState{Record: record.Append(nil, &r)}})
		}
		gone := message.LeaseRegister{Job: message.JobOf("long ago"), Reaped: true}
		count := len(registers)
		registers = append(registers, gone, message.LeaseRegister{Job: message.JobOf("promised")})
		jobs, err := Mark(registers, "a backup")
		if err != nil || len(jobs) != len(was) {
			t.Fatalf("%d jobs of %d, %v", len(jobs), len(was), err)
		}
		for i, r := range registers[:count] {
			got, err := job.ReadRecord(r.Job, r.Accepted.Record)
			if err != nil {
				t.Fatal(err)
			}
			open := !was[r.Job].Last.To.Terminal()
			if (got.Behind.Restored == "a backup") != open || jobs[i].Unknown != open || jobs[i].ID != r.Job || jobs[i].State != was[r.Job].Last.To {
				t.Fatalf("a job that was %v is marked %q, and listed as %+v", was[r.Job].Last.To, got.Behind.Restored, jobs[i])
			}
			got.Behind.Restored = ""
			if d := cmp.Diff(was[r.Job], got.Job); d != "" {
				t.Fatalf("the mark changes the record:\n%s", d)
			}
		}
	})
}

// TestUnreadableRecordsAreRefused: half a backup is none.
func TestUnreadableRecordsAreRefused(t *testing.T) {
	if _, err := Mark([]message.LeaseRegister{{Job: message.JobOf("a"), Accepted: message.LeaseState{Record: []byte{1, 2}}}}, "a backup"); err == nil {
		t.Error("a record that cannot be read is restored")
	}
}
