package gate

import (
	"maps"
	"slices"
	"testing"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/gate/audience"
	"hyperscale/core/gate/job"
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
	j := &entry{Job: job.Job{ID: message.JobID{1}, Loading: 1, Takeover: true, Course: job.Course{State: message.JobRunning, Shown: message.JobRunning}}}
	m.jobs[j.ID] = j
	m.fetches[1<<40] = fetch{job: j}
	for round := 1; round < goneMax; round++ {
		for _, ticket := range slices.Sorted(maps.Keys(m.fetches)) {
			m.onFetched(env, archive.Outcome{Kind: archive.Failed, Ticket: ticket, Err: archive.ErrMissing})
		}
		if j.State.Terminal() || len(m.unread) != 1 {
			t.Fatalf("given up in round %d of %d", round, goneMax)
		}
		m.fetches[1<<40] = m.unread[0]
		m.unread = nil
	}
}

// A question that waited while the job was taken over is of a key that was known.
func TestWhoeverWaitedForATakeoverHasADuplicate(t *testing.T) {
	env, m := owner()
	j := &entry{Job: job.Job{Key: "k", Turn: queue.Turn{Number: 1}, Course: job.Course{State: message.JobQueued, Last: job.Transition{From: message.JobSubmitted, To: message.JobQueued}}, Times: job.Times{Born: env.Now()}}}
	id := message.JobOf("k")
	a := &audience.Ask{What: audience.Submit}
	m.adopt(env, lease.Outcome{Job: id, Token: message.LeaseToken{Epoch: 4, Ordinal: 1}, Record: j.Record(env.Now())}, []*audience.Ask{a})
	if !a.Again {
		t.Error("it is told to be accepted for the first time")
	}
	if m.adopt(env, lease.Outcome{Job: message.JobID{9}, Record: j.Record(env.Now())}, nil); m.jobs[message.JobID{9}] != nil {
		t.Error("a record under another job's register is gone on with")
	}
}
