package backup

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/runtime/store"
)

// written returns a data directory with records.
func written(t testing.TB, records ...node.Record) string {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir, "gate-1")
	if err != nil {
		t.Fatal(err)
	}
	s.Put(records, 1)
	done := make(chan error, 1)
	s.Serve(func(_ node.WriteID, err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func examined(t testing.TB, records ...node.Record) Audit {
	t.Helper()
	a, err := Examine(written(t, records...))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func encoded(t testing.TB, m message.Body) []byte {
	t.Helper()
	b, err := message.Append(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// jobRecord is a job's record in its register.
func jobRecord(key string, state message.JobState, spec message.FileDigest) []byte {
	return record.Append(nil, &record.Job{Key: key, Name: key, Last: record.Transition{From: message.JobSubmitted, To: state}, Spec: spec})
}

func register(t testing.TB, key string, epoch, seq uint64, b []byte) message.LeaseRegister {
	t.Helper()
	token := message.LeaseToken{Epoch: epoch, Ordinal: 1}
	return message.LeaseRegister{Job: message.JobOf(key), Promised: token, Accepted: message.LeaseState{Token: token, Seq: seq, Lease: 1, Record: b}}
}

func onDisk(t testing.TB, r message.LeaseRegister) node.Record {
	t.Helper()
	b, err := r.MarshalMsg(nil)
	if err != nil {
		t.Fatal(err)
	}
	return node.Record{Key: "lease/gates/register/" + r.Job.String(), Value: b}
}

// TestRecordsAreRead: a record that matches its checksum and makes no sense is a fault; what a
// node mends by itself is a note.
func TestRecordsAreRead(t *testing.T) {
	file := archive.Records("gates", make([]byte, 300<<10))
	digest := archive.DigestOf(make([]byte, 300<<10))
	mark := node.Record{Key: "lease/gates/member", Value: record.Append(nil, &record.Member{Standing: 2, Members: []string{"a:1"}, Generations: []uint64{1}})}
	good := onDisk(t, register(t, "k", 3, 1, jobRecord("k", message.JobQueued, digest)))
	shard := message.ShardID{Job: message.JobOf("k"), Workflow: 1, Ordinal: 2}
	fence := node.Record{Key: "fence/" + shard.String(), Value: encoded(t, &message.ShardAccepted{Shard: shard, Fence: message.Fence{JobEpoch: 7, Attempt: 1}})}
	result := func(f message.Fence) node.Record {
		return node.Record{Key: "result/" + shard.String(), Value: append([]byte("\x01m"), encoded(t, &message.ShardResult{Shard: shard, Fence: f, State: message.WorkflowCompleted})...)}
	}
	with := func(r node.Record, value []byte) node.Record { r.Value = value; return r }
	flipped := slices.Clone(file)
	flipped[1].Value = append([]byte{1}, flipped[1].Value[1:]...)
	for _, c := range []struct {
		what        string
		records     []node.Record
		fault, note string
	}{
		{"a gate's", append(slices.Clone(file), mark, good), "", ""},
		{"a worker's", []node.Record{fence, result(message.Fence{JobEpoch: 7, Attempt: 1})}, "", ""},
		{"a mark that is torn", []node.Record{with(mark, mark.Value[:len(mark.Value)-1])}, "does not say whose disk it is", ""},
		{"a register that is torn", []node.Record{mark, with(good, good.Value[:len(good.Value)-3])}, "is no register", ""},
		{"a register with a tail", []node.Record{mark, with(good, append(slices.Clone(good.Value), 1))}, "is no register: 1 bytes are left over", ""},
		{"a register under another's key", []node.Record{mark, {Key: "lease/gates/register/" + message.JobOf("other").String(), Value: good.Value}}, "is no register: it is of job", ""},
		{"another job's record", []node.Record{mark, onDisk(t, register(t, "k", 3, 1, jobRecord("other", message.JobQueued, digest)))}, "no role reads", ""},
		{"a flipped file", flipped, "does not match its digest", ""},
		{"a file without a piece", file[1:], "has 2 pieces of 3", ""},
		{"a file without its end", file[:2], "", "is not whole: a write was under way"},
		{"a file that is away", []node.Record{mark, good}, "", "1 files of 1 jobs that go on are not here"},
		{"registers without a mark", append(slices.Clone(file), good), "", "a join was under way"},
		{"a short vote", []node.Record{{Key: "election/gates", Value: []byte{1}}}, "a vote has 8 at least", ""},
		{"a torn fence", []node.Record{with(fence, fence.Value[:4])}, "is no fence of its shard", ""},
		{"a result without a fence", []node.Record{result(message.Fence{JobEpoch: 7, Attempt: 1})}, "has the fence", ""},
		{"a result of an older attempt", []node.Record{fence, result(message.Fence{JobEpoch: 6, Attempt: 1})}, "has the fence", ""},
		{"a result that is cut short", []node.Record{fence, {Key: "result/" + shard.String(), Value: binary.AppendUvarint(nil, 9)}}, "is cut short", ""},
	} {
		a := examined(t, c.records...)
		for kind, lists := range map[string]struct {
			got  []string
			want string
		}{"faults": {a.Faults, c.fault}, "notes": {a.Notes, c.note}} {
			if got := strings.Join(lists.got, "; "); (lists.want == "") != (got == "") || !strings.Contains(got, lists.want) {
				t.Errorf("%s: %s %q, want %q", c.what, kind, got, lists.want)
			}
		}
		if len(a.Damages) > 0 || a.Damaged() != (c.fault != "") {
			t.Errorf("%s: damages %v", c.what, a.Damages)
		}
	}
}
