package manager

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func drawSubjob(t *rapid.T) *subjob {
	text := rapid.StringN(0, 20, 40)
	number := rapid.Uint64Max(1 << 40)
	file := func() (f message.FileDigest) {
		f[0] = rapid.Byte().Draw(t, "file")
		return f
	}
	now := node.Instant(time.Hour)
	p := &subjob{
		job: message.JobID{1}, epoch: number.Draw(t, "epoch"), gate: node.Addr(text.Draw(t, "gate")), file: file(), kept: file(),
		accepted: now.Add(-time.Minute), runTimeout: time.Hour, deadline: now.Add(time.Minute),
		asked: message.JobState(rapid.Uint8Max(11).Draw(t, "asked")), why: text.Draw(t, "why"),
	}
	p.fence.JobEpoch = p.epoch
	for i := range rapid.IntRange(0, 3).Draw(t, "workflows") {
		f := &workflow{subjob: p, index: uint32(i), end: message.WorkflowState(rapid.Uint8Max(7).Draw(t, "end")), failure: text.Draw(t, "failure"), started: now, leased: number.Draw(t, "leased"), burned: number.Draw(t, "burned")}
		for k := range rapid.IntRange(0, 4).Draw(t, "shards") {
			s := &shard{
				workflow: f, id: message.ShardID{Job: p.job, Workflow: f.index, Ordinal: uint32(k)}, vus: number.Draw(t, "vus"), cores: 3,
				dispatches: rapid.IntRange(0, 9).Draw(t, "dispatches"), why: text.Draw(t, "why"), floor: message.Fence{JobEpoch: 1, SubjobEpoch: 2, Attempt: 3},
			}
			if rapid.Bool().Draw(t, "rows") {
				s.leased = number.Draw(t, "rows of it")
				s.rows = map[uint32]*leased{2: {ask: 3, first: number.Draw(t, "first"), count: 5, known: true}, 0: {ask: 1, known: true}}
			}
			if rapid.Bool().Draw(t, "kept") {
				s.worker, s.fence = "w", message.Fence{JobEpoch: 1, SubjobEpoch: 2, Attempt: 4}
				s.kept = &kept{file: file(), state: message.WorkflowCompleted, started: number.Draw(t, "started"), why: text.Draw(t, "end")}
			} else if rapid.Bool().Draw(t, "lost") {
				s.failed = []node.ID{"w1"}
				s.lost = []message.LostAttempt{{Shard: s.id, Attempt: 1, Worker: "w1", Reason: text.Draw(t, "reason"), Started: 2, OK: 1}}
			}
			f.shards = append(f.shards, s)
		}
		f.cut = len(f.shards) > 0
		p.workflows = append(p.workflows, f)
	}
	return p
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := node.Instant(time.Hour)
		p := drawSubjob(t)
		b := p.record(now)
		got, err := decodeSubjob(p.job, b, now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, got.record(now)); diff != "" {
			t.Fatal(diff)
		}
		for _, f := range got.workflows {
			for k, s := range f.shards {
				if want := p.workflows[f.index].shards[k]; s.floor != want.floor || s.vus != want.vus || (s.kept == nil) != (want.kept == nil) {
					t.Fatalf("%+v became %+v", want, s)
				}
			}
		}
		if len(got.files()) != len(p.files()) || len(filesOf(p.job, b)) != len(p.files()) {
			t.Fatal("it names other files")
		}
	})
}

// Whatever bytes a register has, reading them ends, within their own size.
func TestHostileRecordsAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawSubjob(t).record(node.Instant(time.Hour))
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
		if p, err := decodeSubjob(message.JobID{1}, b, 0); err == nil {
			shards := 0
			for _, f := range p.workflows {
				shards += len(f.shards)
			}
			if shards > len(b) {
				t.Fatalf("%d shards of %d bytes", shards, len(b))
			}
		}
		filesOf(message.JobID{1}, b)
	})
}

// What a manager keeps for a subjob is all that who takes it over fetches: the dispatch,
// the result, and each shard's.
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
		if p.file != (message.FileDigest{}) {
			p.file = file()
			want[p.file] = true
		}
		if p.kept != (message.FileDigest{}) {
			p.kept = file()
			want[p.kept] = true
		}
		for _, f := range p.workflows {
			for _, s := range f.shards {
				if s.kept != nil {
					s.kept.file = file()
					want[s.kept.file] = true
				}
			}
		}
		used := map[message.FileDigest]bool{}
		new(Machine).use(nil, used, p.job, p.record(node.Instant(time.Hour)))
		if diff := cmp.Diff(want, used); diff != "" {
			t.Fatalf("files that its record names, and that are kept (-named +kept):\n%s", diff)
		}
		spill := spilled(file())
		if list := filesOf(p.job, spill); len(list) != 1 || list[0][0] != n {
			t.Fatalf("of a record that is a file %v are kept", list)
		}
	})
}
