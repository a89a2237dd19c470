package manager

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"hyperscale/core/archive"
	"hyperscale/core/manager/subjob"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

// committing is a subjob whose record the test writes again and again, small or as a file.
type committing struct {
	*nodetest.Env
	t     interface{ Fatalf(string, ...any) }
	m     *Machine
	p     *subjob.Subjob
	begun int
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

// commit changes the subjob and writes its record.
func (c *committing) commit(bytes int) {
	c.begun++
	c.p.Why = fmt.Sprint(c.begun, " ", strings.Repeat("x", bytes))
	c.m.commit(c.p, tag{})
	c.m.settle(c)
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

// The manager writes a record that the archive refused as soon as the archive takes it.
func TestUnsentRecordsAreWrittenAgain(t *testing.T) {
	c := newCommitting(t)
	for range 3 {
		c.commit(archive.FileMax)
	}
	c.release()
	if n := c.written(); n > 0 {
		t.Fatalf("a record that is larger than any file was taken: the register has change %d", n)
	}
	c.p.Why = fmt.Sprint(c.begun, " fits")
	c.Advance(2 * c.m.config.Retry)
	c.release()
	if n := c.written(); n != c.begun || !c.m.ledger.Idle(c.p.Job) {
		t.Fatalf("two retries after there was room the register has change %d of %d", n, c.begun)
	}
}
