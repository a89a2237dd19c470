package manager

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// committing is a subjob whose record is written again and again, small or as a file.
type committing struct {
	*nodetest.Env
	t      interface{ Fatalf(string, ...any) }
	m      *Machine
	p      *subjob.Subjob
	begun  int
	called int
}

func newCommitting(t interface{ Fatalf(string, ...any) }) *committing {
	c := &committing{Env: world(small()), t: t}
	c.Discard = true
	c.Start()
	gate := &model{world: c.Env, peers: map[node.ID]node.Peer{"g1": {ID: "g1", Incarnation: 1, Role: node.RoleGate, Addr: "g1:1"}}}
	gate.receive("g1", &message.JobDispatch{
		Job: message.JobID{1}, Fence: message.Fence{JobEpoch: 1}, Program: message.Program{Main: "f"}, RunTimeout: time.Hour,
		Plan: message.Plan{Source: "f", Workflows: []message.WorkflowPlan{{Name: "a", Test: true, VUs: 1, Timeout: time.Second, Cores: 1, Steps: home()}}},
	})
	c.m = c.Machine().(*answered).Machine
	if c.p = c.m.subjobs[message.JobID{1}]; c.p == nil {
		t.Fatalf("the subjob is not here")
	}
	return c
}

// commit changes the subjob and asks to be told when a majority has that.
func (c *committing) commit(bytes int) {
	c.begun++
	n := c.begun
	c.p.Why = fmt.Sprint(n, " ", strings.Repeat("x", bytes))
	c.m.commit(c, c.p, nil)
	c.m.records.of[c.p].waits[len(c.m.records.of[c.p].waits)-1].then = c.then(n)
	c.m.settle(c)
}

func (c *committing) then(n int) func(node.Env) {
	return func(node.Env) {
		if c.called++; c.called != n {
			c.t.Fatalf("change %d follows change %d", n, c.called-1)
		}
		if got := c.written(); got < n {
			c.t.Fatalf("change %d is taken for written, and the register has change %d", n, got)
		}
	}
}

// written is the newest change that the register has.
func (c *committing) written() int {
	seen, ok := c.m.group.Leases.Seen(c.Now(), c.p.Job)
	record := seen.Record
	if file, spill := subjob.SpillOf(record); spill {
		record, ok = c.m.group.Files.Have(file)
	}
	p, err := subjob.Decode(c.p.Job, record, c.Now())
	if !ok || err != nil {
		c.t.Fatalf("the register's record cannot be read: %v", err)
	}
	first, _, _ := strings.Cut(p.Why, " ")
	n, _ := strconv.Atoi(first)
	return n
}

func (c *committing) release() {
	c.Held = false
	for c.Pending() > 0 {
		c.Complete(1, nil)
	}
}

// What waits for a record follows once the register has one as new, in its order and
// once; when the disk writes, nothing is left that waits, however large records are.
func TestCommitsFollowTheirRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCommitting(t)
		t.Repeat(map[string]func(*rapid.T){
			"small":    func(*rapid.T) { c.commit(0) },
			"large":    func(*rapid.T) { c.commit(Default().SpillAt) },
			"hold":     func(*rapid.T) { c.Held = true },
			"complete": func(*rapid.T) { c.Complete(1, nil) },
			"release":  func(*rapid.T) { c.release() },
			"":         func(*rapid.T) {},
		})
		c.release()
		if c.called != c.begun {
			t.Fatalf("of %d changes that are written %d are told", c.begun, c.called)
		}
	})
}

// A record that the archive does not take is written again as soon as it does.
func TestUnsentRecordsAreWrittenAgain(t *testing.T) {
	c := newCommitting(t)
	for range 3 {
		c.commit(archive.FileMax)
	}
	c.release()
	if c.called > 0 {
		t.Fatal("a record that is larger than any file was taken")
	}
	c.p.Why = fmt.Sprint(c.begun, " fits")
	c.Advance(2 * c.m.config.Retry)
	c.release()
	if c.called != c.begun {
		t.Fatalf("of %d changes %d are told, two retries after there was room", c.begun, c.called)
	}
}
