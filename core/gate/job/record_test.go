package job

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"

	"hyperscale/core/gate/queue"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// A gate that takes a job over restores all fields of its record, and never shows clients lower
// counts than before.
func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	const now, incarnation = node.Instant(time.Hour), 3
	rapid.Check(t, func(t *rapid.T) {
		ago := func(name string) time.Duration { return time.Duration(rapid.Int64Range(1, 9e9).Draw(t, name)) }
		text := rapid.StringN(0, 9, 20)
		file := func() (f message.FileDigest) {
			f[0] = rapid.Byte().Draw(t, "file")
			return f
		}
		j := Job{
			Key: rapid.StringN(1, 9, 20).Draw(t, "key"), Digest: rapid.Uint64().Draw(t, "digest"), Name: text.Draw(t, "name"),
			Turn:    queue.Turn{Number: rapid.Uint64Range(1, 1<<40).Draw(t, "number"), Named: rapid.SliceOfN(text, 0, 3).Draw(t, "named")},
			Program: Program{RunTimeout: ago("timeout"), SpecFile: file()},
			Course:  Course{State: message.JobQueued, Last: Transition{From: message.JobSubmitted, To: message.JobQueued, Reason: "confirmed"}},
			Times:   Times{Born: now.Add(-ago("born")), Ran: true, Started: now.Add(-ago("started"))},
			Closed:  rapid.SliceOfN(text, 0, 3).Draw(t, "closed"),
			Aborts:  []*Abort{{Workflow: 1, Condition: 2, Value: 3, Known: true}, {Workflow: 2, By: "client-1", Why: text.Draw(t, "why it was cancelled"), Known: true}},
		}
		j.ID = message.JobOf(j.Key)
		j.Become(message.JobDispatching, "between")
		j.Become(message.JobRunning, text.Draw(t, "why"))
		j.Subjobs = []*Subjob{{
			Datacenter: "a", Manager: "m1", Fence: message.Fence{JobEpoch: 5, SubjobEpoch: rapid.Uint64().Draw(t, "manager")},
			Accepted: rapid.Bool().Draw(t, "accepted"), Losses: rapid.IntRange(0, 9).Draw(t, "losses"),
		}, {Datacenter: "b", Phase: Done, End: Counted, File: message.FileDigest{1, 2}}, {
			Datacenter: "c", Phase: Done, End: Unheard, Result: &message.DatacenterResult{Name: "c", State: message.JobFailed, Error: text.Draw(t, "error")},
		}}
		rec, err := ReadRecord(j.ID, j.Record(now))
		if err != nil {
			t.Fatal(err)
		}
		got := FromRecord(j.ID, &rec, now, now, incarnation)
		pick := func(j *Job) []any {
			all := []any{j.Turn.Number, j.Key, j.Digest, j.Name, len(j.Turn.Named), len(j.Closed), j.RunTimeout, j.State, j.Reason, j.Born, j.Ran, j.Started, j.SpecFile, j.Aborts[0].Value, j.Aborts[1].By, j.Aborts[1].Why}
			for _, p := range j.Subjobs {
				all = append(all, p.Datacenter, p.Manager, p.Fence, p.Accepted, p.Losses, p.End, p.File)
			}
			return append(all, j.Subjobs[2].Result.Error)
		}
		if diff := cmp.Diff(pick(&j), pick(&got)); diff != "" {
			t.Fatalf("what was written against what was read (-want +got):\n%s", diff)
		}
		if got.Shown != message.JobRunning || got.Aborts[0].Known {
			t.Fatalf("it is %v, its abort is known: %v", got.Shown, got.Aborts[0].Known)
		}
		if got.Sequence < incarnation<<32 {
			t.Fatalf("the next status is numbered %d", got.Sequence)
		}
		if p := got.Subjobs[0]; p.Phase != Adopting || p.Renewed < now || !p.Ever {
			t.Fatalf("a dispatch of the gate before, still on its way, is not waited for: %+v", p)
		}
		if told := GivenUp(got.Subjobs); len(told) > 0 {
			t.Fatalf("the end of %s, which the record has, is published once more", told[0].Datacenter)
		}
		if files := rec.Files(); len(files) == 0 || files[len(files)-1] != (message.FileDigest{1, 2}) {
			t.Fatalf("it keeps %v", files)
		}
		if _, err := ReadRecord(message.JobOf(j.Key+"x"), j.Record(now)); err == nil {
			t.Fatal("the record of another job is believed")
		}
	})
}

// An older gate that takes a job over writes the fields of a newer version back: of the job,
// its last transition, its subjobs and its aborts. A new transition has none.
func TestFieldsOfANewerVersionAreWrittenBack(t *testing.T) {
	const now = node.Instant(time.Hour)
	newer := func(name string) record.Unknown { return msgp.AppendInt(msgp.AppendString(nil, "+"+name), 7) }
	want := record.Job{
		Key: "k", Last: record.Transition{To: message.JobRunning, Unknown: newer("last")},
		Subjobs: []record.JobSubjob{{Datacenter: "a", Unknown: newer("subjob")}, {Datacenter: "b", State: message.JobFailed, Unknown: newer("ended")}},
		Aborts:  []record.Abort{{Workflow: 1, Unknown: newer("abort")}},
		Files:   []message.FileDigest{{9}}, Unknown: newer("job"),
	}
	id := message.JobOf(want.Key)
	rec, err := ReadRecord(id, record.Append(nil, &want))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(rec.Files(), message.FileDigest{9}) {
		t.Errorf("a file that a newer version names is not among %v", rec.Files())
	}
	j := FromRecord(id, &rec, now, now, 1)
	again, err := ReadRecord(id, j.Record(now))
	if diff := cmp.Diff(want, again.Job); err != nil || diff != "" {
		t.Errorf("%v; the record that was taken over against the one that is written (-want +got):\n%s", err, diff)
	}
	j.Become(message.JobCompleting, "")
	want.Last = record.Transition{From: message.JobRunning, To: message.JobCompleting}
	again, err = ReadRecord(id, j.Record(now))
	if diff := cmp.Diff(want, again.Job); err != nil || diff != "" {
		t.Errorf("%v; after a transition (-want +got):\n%s", err, diff)
	}
	j.Confirm(j.Decided())
	again, err = ReadRecord(id, j.Record(now))
	if diff := cmp.Diff(want, again.Job); err != nil || diff != "" {
		t.Errorf("%v; once a majority has that (-want +got):\n%s", err, diff)
	}
}
