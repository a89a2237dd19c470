package gate

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/queue"
	"hyperscale/core/lease"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// owner is a gate whose subjobs are called by themselves.
func owner() (*nodetest.Env, *Machine) {
	var m *Machine
	env := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "g1", Incarnation: 3, Role: node.RoleGate, Addr: "g1:1"}, Seed: 1,
		New: func() node.Machine { m = New(Default()); return m },
	})
	env.Discard = true
	env.Start()
	env.Advance(10 * time.Second)
	return env, m
}

// Whoever takes a job over goes on with all that its record says, and with nothing
// that was told before counted down.
func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	env, m := owner()
	rapid.Check(t, func(t *rapid.T) {
		now := env.Now()
		ago := func(name string) time.Duration { return time.Duration(rapid.Int64Range(1, 9e9).Draw(t, name)) }
		text := rapid.StringN(0, 9, 20)
		file := func() (f message.FileDigest) {
			f[0] = rapid.Byte().Draw(t, "file")
			return f
		}
		j := &job{
			key: text.Draw(t, "key"), digest: rapid.Uint64().Draw(t, "digest"),
			name: text.Draw(t, "name"), runTimeout: ago("timeout"),
			turn:  queue.Turn{Number: rapid.Uint64Range(1, 1<<40).Draw(t, "number"), Named: rapid.SliceOfN(text, 0, 3).Draw(t, "named")},
			state: message.JobRunning, born: now.Add(-ago("born")), ran: true, started: now.Add(-ago("started")),
			closed: rapid.SliceOfN(text, 0, 3).Draw(t, "closed"), specFile: file(),
			last:   transition{message.JobQueued, message.JobDispatching, "told"},
			untold: []transition{{message.JobQueued, message.JobDispatching, "between"}, {message.JobDispatching, message.JobRunning, text.Draw(t, "why")}},
			aborts: []*abort{{Workflow: 1, Condition: 2, Value: 3}},
		}
		j.id = message.JobOf(j.key)
		j.subjobs = []*subjob{{
			datacenter: "a", manager: "m1", fence: message.Fence{JobEpoch: 5, SubjobEpoch: rapid.Uint64().Draw(t, "manager")},
			accepted: rapid.Bool().Draw(t, "accepted"), losses: rapid.IntRange(0, 9).Draw(t, "losses"),
		}, {datacenter: "b", phase: subjobDone, counted: true, file: message.FileDigest{1, 2}}}
		rec, err := readRecord(j.id, j.record(now))
		if err != nil {
			t.Fatal(err)
		}
		got := m.fromRecord(env, j.id, &rec)
		pick := func(j *job) []any {
			all := []any{j.turn.Number, j.key, j.digest, j.name, len(j.turn.Named), len(j.closed), j.runTimeout, j.state, j.born, j.ran, j.started, j.specFile, j.aborts[0].Value}
			for _, p := range j.subjobs {
				all = append(all, p.datacenter, p.manager, p.fence, p.accepted, p.losses, p.counted, p.file)
			}
			return all
		}
		if diff := cmp.Diff(pick(j), pick(got)); diff != "" {
			t.Fatalf("what was written against what was read (-want +got):\n%s", diff)
		}
		if got.reason != j.untold[1].Reason || got.shown != message.JobRunning {
			t.Fatalf("it is %v: %q", got.shown, got.reason)
		}
		if got.sequence < env.Self().Incarnation<<32 || m.number < j.turn.Number {
			t.Fatalf("what is told next is numbered %d, the next job %d", got.sequence, m.number)
		}
		if p := got.subjobs[0]; p.phase != subjobAdopting || p.renewed < now || !p.ever {
			t.Fatalf("a dispatch of the gate before, still on its way, is not waited for: %+v", p)
		}
		if _, err := readRecord(message.JobOf(j.key+"x"), j.record(now)); err == nil {
			t.Fatal("the record of another job is believed")
		}
	})
}

// Three failures within a while open the circuit, for a while; then one trial at a
// time is let through, and failures of long ago count for nothing.
func TestCircuit(t *testing.T) {
	var c circuit
	at := node.Instant(time.Hour)
	c.failed(at)
	c.failed(at)
	if at = at.Add(circuitWindow); c.left(at) != 0 {
		t.Fatal("two failures open it")
	}
	if c.failed(at); c.left(at) != 0 {
		t.Fatal("failures of a window ago open it")
	}
	c.failed(at)
	if c.failed(at); c.left(at) != circuitReset {
		t.Fatalf("after three failures %v are left, want %v", c.left(at), circuitReset)
	}
	at = at.Add(circuitReset)
	if c.left(at) != 0 {
		t.Fatal("no trial when its time has come")
	}
	if c.left(at) != circuitReset {
		t.Fatal("two trials at once")
	}
	if c.worked(); c.left(at) != 0 {
		t.Fatal("a trial that worked does not close it")
	}
}

// A file that every gate says is gone is asked for some rounds, as a gate that is away
// may have it; then the job ends.
func TestAFileThatIsGoneIsAskedForSomeRounds(t *testing.T) {
	env, m := owner()
	j := &job{id: message.JobID{1}, loading: 1, takeover: true, state: message.JobRunning, shown: message.JobRunning}
	m.jobs[j.id] = j
	m.fetches[1<<40] = fetch{job: j}
	for round := 1; round < goneMax; round++ {
		for _, ticket := range slices.Sorted(maps.Keys(m.fetches)) {
			m.onFetched(env, archive.Outcome{Kind: archive.Failed, Ticket: ticket, Err: archive.ErrMissing})
		}
		if j.state.Terminal() || len(m.unread) != 1 {
			t.Fatalf("given up in round %d of %d", round, goneMax)
		}
		m.fetches[1<<40] = m.unread[0]
		m.unread = nil
	}
}

// A question that waited while the job was taken over is of a key that was known.
func TestWhoeverWaitedForATakeoverHasADuplicate(t *testing.T) {
	env, m := owner()
	j := &job{key: "k", turn: queue.Turn{Number: 1}, state: message.JobQueued, last: transition{message.JobSubmitted, message.JobQueued, ""}, born: env.Now()}
	id := message.JobOf("k")
	a := &audience.Ask{What: audience.Submit}
	m.adopt(env, lease.Outcome{Job: id, Token: message.LeaseToken{Epoch: 4, Ordinal: 1}, Record: j.record(env.Now())}, []*audience.Ask{a})
	if !a.Again {
		t.Error("it is told to be accepted for the first time")
	}
	if m.adopt(env, lease.Outcome{Job: message.JobID{9}, Record: j.record(env.Now())}, nil); m.jobs[message.JobID{9}] != nil {
		t.Error("a record under another job's register is gone on with")
	}
}
