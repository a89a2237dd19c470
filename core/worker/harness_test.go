package worker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/node/nodetest"
)

func small() Config {
	c := Default()
	c.Datacenter = "dc1"
	c.Managers = []node.Addr{"m1:1", "m2:1"}
	c.Cores = 4
	c.OutboxMax = 2
	c.Silence = 10 * time.Second
	c.RenewalTimeout = time.Minute // renew.txt covers its effect
	return c
}

func world(c Config) *nodetest.Env {
	w := nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"},
		New:  func() node.Machine { return New(c) },
	})
	for _, gossip := range []string{"SwimCompare", "SwimProbe", "SwimGossip", "SwimList", "SwimAck"} {
		w.Hidden[gossip] = true
	}
	return w
}

// desk is a worker with two managers, whose subjobs the test looks at.
type desk struct {
	*nodetest.Env
	t  rapid.TB
	m  *Machine
	to [2]node.StreamID
}

func newDesk(t rapid.TB, change func(*Config)) *desk {
	c := small()
	if change != nil {
		change(&c)
	}
	d := &desk{t: t}
	d.Env = nodetest.New(nodetest.Config{
		Self: node.Peer{ID: "w1", Incarnation: 1, Role: node.RoleWorker, Addr: "w1:1"},
		New:  func() node.Machine { d.m = New(c); return d.m },
	})
	d.Discard = true
	d.Start()
	for i := range d.to {
		d.open(i)
	}
	return d
}

// open makes a manager accept the stream that the worker opens to it.
func (d *desk) open(i int) {
	id := [2]node.ID{"m1", "m2"}[i]
	d.to[i] = d.OpeningTo(node.Addr(id + ":1"))[0]
	d.Opened(d.to[i], node.Peer{ID: id, Incarnation: 1, Role: node.RoleManager, Addr: node.Addr(id + ":1")})
	d.ack(i, 1)
}

func (d *desk) ack(i int, sequence uint64, named ...message.ShardRef) {
	d.Receive(d.to[i], &message.HeartbeatAck{Sequence: sequence, Shards: named})
}

func shardOf(n uint32) message.ShardID { return message.ShardID{Job: message.JobID{1}, Ordinal: n} }

func ref(n uint32, attempt uint64) message.ShardRef {
	return message.ShardRef{Shard: shardOf(n), Fence: message.Fence{JobEpoch: 1, SubjobEpoch: 1, Attempt: attempt}}
}

func (d *desk) dispatch(i int, n uint32, attempt uint64, cores uint32) *execution {
	r := ref(n, attempt)
	d.Receive(d.to[i], &message.ShardDispatch{Shard: r.Shard, Fence: r.Fence, Workflow: "load", Program: message.Program{Main: "main.star"}, PlanDigest: 9, VUs: 4, Cores: cores})
	if s := d.m.shards[r.Shard]; s != nil {
		return s.current
	}
	return nil
}

// finish ends the executors of an execution.
func (d *desk) finish(x *execution, states ...message.WorkflowState) {
	for i, r := range append([]*run(nil), x.runs...) {
		d.ExecSays(r.id, &message.ExecResult{State: states[min(i, len(states)-1)]})
	}
	for _, r := range append([]*run(nil), x.runs...) {
		d.ExecGone(r.id, "", "")
	}
}

// ledger lists all sizes that a worker reports.
func ledger(m *Machine) string {
	var lines []string
	tell := func(what string, n, bound int) { lines = append(lines, fmt.Sprintln(what, n, bound)) }
	m.Sizes(tell)
	m.Rests(tell)
	slices.Sort(lines) // maps report theirs in any order
	return strings.Join(lines, "")
}
