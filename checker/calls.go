package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"hyperscale/checker/linear"
	"hyperscale/core/event"
	"hyperscale/core/message"
)

// Operations (T4) are collected by object: a lease register, a receiver behind it, a
// job as clients see it. Package linear judges them.

type (
	leaseCalls  = linear.Partition[linear.Register, linear.RegisterOp]
	jobCalls    = linear.Partition[linear.Job, linear.JobOp]
	fencedCalls = linear.Partition[linear.Fenced, linear.FencedOp]
)

// observed is what is known of a node of whatever role.
type observed struct {
	incarnation uint64
	died        bool
	worker      *worker // nil for all others
	calls       map[callOf]call
}

// callOf names an operation within an incarnation.
type callOf struct {
	client bool
	number uint64
}

// call is one that has not returned.
type call struct {
	seq   uint64
	from  linear.Where
	lease *leaseCalls
	job   *jobCalls // nil until the job of a submit without a key is known
	index int
	what  string
	op    linear.JobOp // of a client
}

func where(r Record) linear.Where {
	return linear.Where{At: r.At, Node: r.Node, Incarnation: r.Incarnation}
}

// heard notes that an incarnation speaks: the calls of an older one are never
// returned, and its executors are gone.
func (c *Checker) heard(r Record) {
	n := c.last
	if n == nil || c.lastNode != r.Node {
		if n = c.nodes[r.Node]; n == nil {
			n = &observed{incarnation: r.Incarnation}
			c.nodes[r.Node] = n
		}
		c.last, c.lastNode = n, r.Node
	}
	if r.Incarnation > n.incarnation {
		c.abandon(n)
		n.incarnation, n.died, n.worker = r.Incarnation, false, nil
	}
	if n.worker != nil {
		n.worker.heard = r.At
	}
}

// abandon ends the calls of an incarnation that is over.
func (c *Checker) abandon(n *observed) {
	c.abandonIf(n, func(*call) bool { return true })
}

// abandonIf ends calls that will never be returned, in the order in which they began.
func (c *Checker) abandonIf(n *observed, never func(x *call) bool) {
	if len(n.calls) == 0 {
		return
	}
	var over []callOf
	//lint:orderfree they are sorted below
	for key, x := range n.calls {
		if never(&x) {
			over = append(over, key)
		}
	}
	slices.SortFunc(over, func(a, b callOf) int { return cmp.Compare(n.calls[a].seq, n.calls[b].seq) })
	for _, key := range over {
		switch x := n.calls[key]; {
		case x.lease != nil:
			c.fails(x.lease.Abandon(x.index))
		case x.job != nil:
			c.fails(x.job.Abandon(x.index))
		}
		delete(n.calls, key)
	}
}

func (n *observed) begin(key callOf, x call) {
	if n.calls == nil {
		n.calls = map[callOf]call{}
	}
	n.calls[key] = x
}

func (c *Checker) onLeaseCalled(r Record, e event.LeaseCalled) {
	switch e.What {
	case "acquire", "update", "release", "read":
	case "read-held": // by the holder, alone: nothing but its window makes it good
		if c.assume.Beyond {
			return
		}
	default:
		c.violate(Undecided, r, "%s called %q of the register of job %v: T4 knows no such operation", r.Node, e.What, e.Job)
		return
	}
	g := c.register(e.Group, e.Job)
	if g.calls == nil {
		g.calls = linear.NewPartition(c.models.lease, fmt.Sprintf("%s/%v", e.Group, e.Job))
		c.leaseCalls = append(c.leaseCalls, g.calls)
	}
	n := c.nodes[r.Node]
	if e.What == "acquire" { // it hears no more of what it asked for under lower tokens
		c.abandonIf(n, func(x *call) bool { return x.lease == g.calls && x.what != "read" })
	}
	x := call{seq: c.seen, from: where(r), lease: g.calls, what: e.What}
	op := linear.RegisterOp{What: e.What, Token: e.Token, Value: e.Value}
	if e.What == "acquire" {
		op.Seed = e.Value
	}
	x.index = g.calls.Call(c.seen, x.from, op)
	n.begin(callOf{number: e.Call}, x)
}

// onLeaseReturned: one that began before the history did is nobody's.
func (c *Checker) onLeaseReturned(r Record, e event.LeaseReturned) {
	n := c.nodes[r.Node]
	key := callOf{number: e.Call}
	x, ok := n.calls[key]
	if !ok {
		return
	}
	delete(n.calls, key)
	if !e.OK {
		c.fails(x.lease.Drop(x.index))
		return
	}
	op, ok := x.lease.Called(x.index)
	if !ok {
		return
	}
	if op.What != "update" && op.What != "release" {
		op.Token, op.Value = e.Token, e.Value
	}
	c.fails(x.lease.Return(x.index, c.seen, where(r), op))
}

// jobCalls returns the history of a job as clients see it.
func (c *Checker) jobCalls(id message.JobID) *jobCalls {
	j := c.job(id)
	if j.calls == nil {
		j.calls = linear.NewPartition(c.models.job, id.String())
		c.clientCalls = append(c.clientCalls, j.calls)
	}
	return j.calls
}

func (c *Checker) onClientCalled(r Record, e event.ClientCalled) {
	switch e.What {
	case "submit", "status", "cancel", "result":
	default:
		c.violate(Undecided, r, "%s called %q of job %v: T4 knows no such operation", r.Node, e.What, e.Job)
		return
	}
	x := call{seq: c.seen, from: where(r), op: linear.JobOp{What: e.What, Payload: e.Payload}}
	if e.Job != (message.JobID{}) {
		x.job = c.jobCalls(e.Job)
		x.index = x.job.Call(c.seen, x.from, x.op)
	}
	c.nodes[r.Node].begin(callOf{true, e.Call}, x)
}

func (c *Checker) onClientReturned(r Record, e event.ClientReturned) {
	n := c.nodes[r.Node]
	key := callOf{true, e.Call}
	x, ok := n.calls[key]
	if !ok {
		return
	}
	delete(n.calls, key)
	if x.job == nil {
		if e.Job == (message.JobID{}) {
			return // refused, and never named
		}
		x.job = c.jobCalls(e.Job)
		x.index = x.job.Call(x.seq, x.from, x.op)
	}
	if !e.OK && !tells(x.op.What, e.Code) {
		c.fails(x.job.Drop(x.index))
		return
	}
	x.op.State, x.op.Result = e.State, e.Result
	if !e.OK {
		x.op.Refused = e.Code
	}
	c.fails(x.job.Return(x.index, c.seen, where(r), x.op))
}

// tells says that a refusal tells something of the job itself, not just of whoever
// was asked.
func tells(what string, code message.Code) bool {
	if what == "submit" {
		return code == message.CodeKeyMismatch
	}
	return code == message.CodeUnknownJob
}

// answers is T4 of the register behind the lease: what one receiver obeyed, and
// refused.
func (c *Checker) answers(r Record, who actor, a *acting, op linear.FencedOp) {
	if a.calls == nil {
		a.calls = linear.NewPartition(c.models.fenced, fmt.Sprintf("%s/%v", who.node, who.shard))
		c.fencedCalls = append(c.fencedCalls, a.calls)
	}
	c.fails(a.calls.Point(c.seen, where(r), op))
}

// Settle judges T4 of what is left, once: what is open then never returns. Finish
// does so too; it is for histories that are too short to judge liveness.
func (c *Checker) Settle() {
	if c.settled {
		return
	}
	c.settled = true
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		c.abandon(c.nodes[id])
	}
	for _, p := range c.leaseCalls {
		c.fails(p.Finish())
	}
	for _, p := range c.clientCalls {
		c.fails(p.Finish())
	}
	for _, p := range c.fencedCalls {
		c.fails(p.Finish())
	}
}
