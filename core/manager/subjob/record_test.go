package subjob

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tinylib/msgp/msgp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

func drawSubjob(t *rapid.T) *Subjob {
	text := rapid.StringN(0, 20, 40)
	number := rapid.Uint64Max(1 << 40)
	file := func() (f message.FileDigest) {
		f[0] = rapid.Byte().Draw(t, "file")
		return f
	}
	now := node.Instant(time.Hour)
	p := &Subjob{
		Job: message.JobID{1}, Epoch: number.Draw(t, "epoch"), Gate: node.Addr(text.Draw(t, "gate")), File: file(), Ending: Ending{Kept: file()},
		Accepted: now.Add(-time.Minute), RunTimeout: time.Hour, Deadline: now.Add(time.Minute),
		Stop: Pending{
			Decided: message.JobState(rapid.Uint8Max(11).Draw(t, "asked")), Over: rapid.Bool().Draw(t, "over"),
			Since: node.Instant(rapid.SampledFrom([]time.Duration{0, 59 * time.Minute}).Draw(t, "stopped")),
		}, Why: text.Draw(t, "why"),
	}
	p.Fence.JobEpoch = p.Epoch
	for range rapid.IntRange(0, 2).Draw(t, "counters") {
		p.Counters = append(p.Counters, Counter{Leased: number.Draw(t, "values")})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "workflows") {
		f := &Workflow{Subjob: p, Index: uint32(i), End: message.WorkflowState(rapid.Uint8Max(7).Draw(t, "end")), Failure: text.Draw(t, "failure"), Client: rapid.Bool().Draw(t, "client"), Times: Times{Started: now}, Leased: number.Draw(t, "leased"), Burned: number.Draw(t, "burned")}
		for k := range rapid.IntRange(0, 4).Draw(t, "shards") {
			s := &Shard{
				Workflow: f, ID: message.ShardID{Job: p.Job, Workflow: f.Index, Ordinal: uint32(k)}, Extent: Extent{VUs: number.Draw(t, "vus"), Cores: 3, Tenancy: message.Tenancy(rapid.IntRange(0, 3).Draw(t, "tenancy"))},
				Retries: Retries{Dispatches: rapid.IntRange(0, 9).Draw(t, "dispatches")}, Verdict: Verdict{Why: text.Draw(t, "why")}, Floor: message.Fence{JobEpoch: 1, SubjobEpoch: 2, Attempt: 3},
			}
			if rapid.Bool().Draw(t, "rows") {
				s.Leased = number.Draw(t, "rows of it")
				s.Rows = map[Lessee]*Leased{{Core: 2}: {Ask: 3, First: number.Draw(t, "first"), Count: 5, Known: true}, {}: {Ask: 1, Known: true}, {Of: 2, Core: 1}: {Ask: 2, Count: 7, Known: true}}
			}
			if rapid.Bool().Draw(t, "kept") {
				s.Worker, s.Fence = "w", message.Fence{JobEpoch: 1, SubjobEpoch: 2, Attempt: 4}
				s.Kept = &Kept{File: file(), State: message.WorkflowCompleted, Started: number.Draw(t, "started"), Why: text.Draw(t, "end")}
			} else if rapid.Bool().Draw(t, "lost") {
				s.Failed = []node.ID{"w1"}
				s.Lost = []*Lost{{LostAttempt: message.LostAttempt{Shard: s.ID, Attempt: 1, Worker: "w1", Reason: text.Draw(t, "reason"), Fault: message.Fault(rapid.IntRange(0, 4).Draw(t, "fault")), Started: 2, OK: 1, Until: 3, Unreported: 4}}}
				if rapid.Bool().Draw(t, "counts") {
					s.Lost[0].File = file()
				}
				s.Origin = now.Add(-time.Second)
			}
			f.Shards = append(f.Shards, s)
		}
		f.Cut = len(f.Shards) > 0
		p.Workflows = append(p.Workflows, f)
	}
	return p
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := node.Instant(time.Hour)
		p := drawSubjob(t)
		b := p.Record(now)
		got, err := Decode(p.Job, b, now)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.Stop.Decided; got.Stop.Decided != want || got.Stop.Durable != want || got.Stop.Over != p.Stop.Over || got.Stop.Sealed != p.Stop.Over || got.Stop.Since != p.Stop.Since {
			t.Fatalf("the stop %+v became %+v", p.Stop, got.Stop)
		}
		if diff := cmp.Diff(b, got.Record(now)); diff != "" {
			t.Fatal(diff)
		}
		for _, f := range got.Workflows {
			for k, s := range f.Shards {
				if want := p.Workflows[f.Index].Shards[k]; len(s.Lost) != len(want.Lost) || len(s.Lost) > 0 && s.Lost[0].Fault != want.Lost[0].Fault {
					t.Fatalf("the faults of %+v became those of %+v", want.Lost, s.Lost)
				}
				if want := p.Workflows[f.Index].Shards[k]; s.Floor != want.Floor || s.VUs != want.VUs || (s.Kept == nil) != (want.Kept == nil) {
					t.Fatalf("%+v became %+v", want, s)
				}
			}
		}
		if files, _ := FilesOf(b); len(got.Files()) != len(p.Files()) || !slices.Equal(files, p.Files()) {
			t.Fatal("it names other files")
		}
	})
}

// Whatever bytes a register has, reading ends, within their own size.
func TestHostileRecordsAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawSubjob(t).Record(node.Instant(time.Hour))
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			switch i := rapid.IntRange(0, len(b)-1).Draw(t, "at"); rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				b[i] ^= rapid.Byte().Draw(t, "bits")
			case 1:
				b = b[:i+1]
			default:
				b = append(b[:i:i], append([]byte{255, 255, 255, 255, 255, 255, 255, 127}, b[i:]...)...)
			}
		}
		if p, err := Decode(message.JobID{1}, b, 0); err == nil {
			shards := 0
			for _, f := range p.Workflows {
				shards += len(f.Shards)
			}
			if shards > len(b) {
				t.Fatalf("%d shards of %d bytes", shards, len(b))
			}
		}
		FilesOf(b)
	})
}

// The manager stores all files that a later holder fetches: the dispatch, the subjob's result,
// and each shard's.
func TestNoFileOfASubjobIsLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawSubjob(t)
		n := byte(0)
		file := func() (f message.FileDigest) {
			n++
			f[0] = n
			return f
		}
		want := map[message.FileDigest]bool{}
		if p.File != (message.FileDigest{}) {
			p.File = file()
			want[p.File] = true
		}
		if p.Kept != (message.FileDigest{}) {
			p.Kept = file()
			want[p.Kept] = true
		}
		for _, f := range p.Workflows {
			for _, s := range f.Shards {
				for _, l := range s.Lost {
					if l.File != (message.FileDigest{}) {
						l.File = file()
						want[l.File] = true
					}
				}
				if s.Kept != nil {
					s.Kept.File = file()
					want[s.Kept.File] = true
				}
			}
		}
		used := map[message.FileDigest]bool{}
		files, _ := FilesOf(p.Record(node.Instant(time.Hour)))
		for _, f := range files {
			used[f] = true
		}
		if diff := cmp.Diff(want, used); diff != "" {
			t.Fatalf("files that its record names, and that are kept (-named +kept):\n%s", diff)
		}
		spill := Spilled(file())
		if list, spilled := FilesOf(spill); !spilled || len(list) != 1 || list[0][0] != n {
			t.Fatalf("of a record that is a file %v are kept", list)
		}
	})
}

// An older manager that takes a subjob over writes the fields of a newer version back: in the
// subjob, its workflows, shards, results, lost attempts and rows.
func TestFieldsOfANewerVersionAreWrittenBack(t *testing.T) {
	now := node.Instant(time.Hour)
	newer := func(name string) record.Unknown { return msgp.AppendInt(msgp.AppendString(nil, "+"+name), 7) }
	want := record.Subjob{
		Epoch: 3, Gate: "g1:1", Files: []message.FileDigest{{9}}, Unknown: newer("subjob"),
		Workflows: []record.Workflow{{Unknown: newer("workflow"), Shards: []record.Shard{
			{VUs: 1, Unknown: newer("shard"), Lost: []record.Lost{{Worker: "w1", Unknown: newer("lost")}}, Rows: []record.Rows{{Core: 2, Ask: 1, Unknown: newer("rows")}}},
			{VUs: 1, Kept: record.Kept{State: message.WorkflowCompleted, File: message.FileDigest{1}, Unknown: newer("kept")}},
		}}},
	}
	p, err := Decode(message.JobID{1}, record.Append(nil, &want), now)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.Files(), message.FileDigest{9}) {
		t.Errorf("a file that a newer version names is not among %v", p.Files())
	}
	p.Workflows[0].Shards[0].Lost = append(p.Workflows[0].Shards[0].Lost, &Lost{LostAttempt: message.LostAttempt{Worker: "w2"}})
	want.Workflows[0].Shards[0].Lost = append(want.Workflows[0].Shards[0].Lost, record.Lost{Worker: "w2"})
	var got record.Subjob
	if err := record.Read(p.Record(now), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the record that was taken over against the one that is written (-want +got):\n%s", diff)
	}
}
