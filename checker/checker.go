package checker

import (
	"fmt"
	"maps"
	"time"

	"hyperscale/checker/linear"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Record is one event of a history.
type Record struct {
	At          time.Duration // since the history began, on the observer's clock
	Node        node.ID
	Incarnation uint64
	Local       node.Instant // what the node's own clock read; 0 if that is not known
	Event       node.Event
}

// Violation is one broken invariant.
type Violation struct {
	Invariant string // "T3"
	At        time.Duration
	Node      node.ID
	Detail    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s broken at %v on %s: %s", v.Invariant, v.At, v.Node, v.Detail)
}

// violationsMax bounds what is remembered: the first ones tell the cause.
const violationsMax = 20

// Undecided is the Invariant of what could not be judged: no broken invariant, but
// no history that was proved either.
const Undecided = "undecided"

// Checker judges one history.
type Checker struct {
	violations []Violation
	broken     int
	assume     Assumptions

	acting    map[actor]*acting         // T3, T4
	started   map[execution]node.ID     // T6
	shards    map[counted]told          // T8
	subjobs   map[subjobOf]bool         // T8
	jobs      map[message.JobID]*theJob // L, T11
	flows     map[flow]message.WorkflowState
	reported  map[subjobSum]uint64 // T8: starts counted, by manager and subjob
	latest    map[shardOf]latest   // T8
	inherited map[subjobOf]uint64  // T8: starts counted, by subjob
	places    map[node.ID]string   // T7: datacenters of managers
	sums      map[message.JobID]jobSum

	seen      uint64                  // events
	given     map[given]message.Fence // T3: highest given out
	abandoned map[abandoned]bool      // T3
	courses   map[flow]*course        // T7
	promises  Promises
	ran       map[execution]message.Fence // P

	nodes     map[node.ID]*observed
	lastNode  node.ID                   // the node that spoke last,
	last      *observed                 // so that the next event of it costs no search
	registers map[registerOf]*register  // T1, T2, T4, T11
	opened    map[ownWindow]opened      // T2
	leaders   map[termOf]node.ID        // T5
	votes     map[voter]event.Voted     // T5
	oversized map[sizeOf]bool           // T12: reported
	aborted   map[message.JobID]bool    // A
	rows      map[feedOf][]taken        // F: of each feed, ascending
	attempts  map[shardOf]attempt       // T13
	begun     map[shardOf]message.Fence // T3: the highest that a worker has started
	doubted   map[doubt]attempt         // T13
	reached   map[string]int

	models      models
	leaseCalls  []*leaseCalls // T4, in the order of their first calls
	clientCalls []*jobCalls
	fencedCalls []*fencedCalls
	settled     bool
}

// models are T4's.
type models struct {
	lease  *linear.Model[linear.Register, linear.RegisterOp]
	job    *linear.Model[linear.Job, linear.JobOp]
	fenced *linear.Model[linear.Fenced, linear.FencedOp]
}

// New returns a checker of an empty history.
func New() *Checker {
	return &Checker{
		acting: map[actor]*acting{}, started: map[execution]node.ID{},
		shards: map[counted]told{}, subjobs: map[subjobOf]bool{},
		jobs: map[message.JobID]*theJob{}, flows: map[flow]message.WorkflowState{}, reported: map[subjobSum]uint64{},
		sums: map[message.JobID]jobSum{}, given: map[given]message.Fence{}, abandoned: map[abandoned]bool{}, courses: map[flow]*course{},
		ran:   map[execution]message.Fence{},
		nodes: map[node.ID]*observed{}, registers: map[registerOf]*register{}, opened: map[ownWindow]opened{}, leaders: map[termOf]node.ID{},
		latest: map[shardOf]latest{}, inherited: map[subjobOf]uint64{}, places: map[node.ID]string{},
		votes: map[voter]event.Voted{}, oversized: map[sizeOf]bool{}, attempts: map[shardOf]attempt{}, begun: map[shardOf]message.Fence{}, doubted: map[doubt]attempt{},
		aborted: map[message.JobID]bool{}, rows: map[feedOf][]taken{}, reached: map[string]int{}, models: models{linear.LeaseRegister(), linear.JobAPI(), linear.FencedRegister()},
	}
}

// Assumptions are what an observer knows of the world in which a history happens.
// The zero value is that of real processes on good clocks.
type Assumptions struct {
	// Beyond says that clocks may drift faster than the bound: what depends on
	// them (T2, T13, the order of grants that overlapped) is not judged then.
	Beyond bool
	// DriftPPM is the bound, 10,000 when it is not set.
	DriftPPM int64
	// Clock reads the clock of an incarnation as it is now, exactly; false: that
	// incarnation is over. Without it only what holds for any clock within the bound
	// is judged, from Record.Local.
	Clock func(id node.ID, incarnation uint64) (node.Instant, bool)
	// Sends says whether a worker's executors run an attempt now; without it they do
	// from ShardStarted to ShardEnded, or until their time is over.
	Sends func(worker node.ID, s message.ShardID, f message.Fence) bool
	// Still says that a node stands still now, though it is not down; without it none does.
	Still func(id node.ID) bool
	// Lame says that a node is never healed: a lease is no good to it, and it may lose
	// one after the other. Without it all are healed.
	Lame func(id node.ID) bool
}

// Assume tells it, before the first event.
func (c *Checker) Assume(a Assumptions) { c.assume = a }

// Observe takes the next event.
func (c *Checker) Observe(r Record) {
	c.seen++
	c.heard(r)
	switch e := r.Event.(type) {
	case event.WorkflowAborted:
		c.aborted[e.Job] = true
	case event.RowsTaken:
		c.onRowsTaken(r, e)
	case event.Acted:
		c.onActed(r, e)
	case event.FenceRefused:
		c.onFenceRefused(r, e)
	case event.FenceStored:
		c.onFenceStored(r, e)
	case event.ShardStarted:
		c.onShardStarted(r, e)
	case event.ShardRenewed:
		c.onShardRenewed(r, e)
	case event.ShardEnded:
		c.onShardEnded(r, e)
	case event.ShardCounted:
		c.onShardCounted(r, e)
	case event.SubjobCounted:
		c.onSubjobCounted(r, e)
	case event.JobChanged:
		c.onJobChanged(r, e)
	case event.WorkflowChanged:
		c.onWorkflowChanged(r, e)
	case event.SubjobChanged:
		c.onSubjobChanged(r, e)
	case event.ShardDispatched:
		c.onShardDispatched(r, e)
	case event.ShardLost:
		c.onShardLost(r, e)
	case event.SubjobDispatched:
		c.onSubjobDispatched(r, e)
	case event.LeaseGranted:
		c.onLeaseGranted(r, e)
	case event.LeaseExtended:
		c.onLeaseExtended(r, e)
	case event.LeaseEnded:
		c.onLeaseEnded(r, e)
	case event.LeaseCalled:
		c.onLeaseCalled(r, e)
	case event.LeaseReturned:
		c.onLeaseReturned(r, e)
	case event.ClientCalled:
		c.onClientCalled(r, e)
	case event.ClientReturned:
		c.onClientReturned(r, e)
	case event.Elected:
		c.onElected(r, e)
	case event.Voted:
		c.onVoted(r, e)
	case event.Reached:
		c.reached[e.What]++
	}
}

// Died tells that a process is gone, and with a worker its executors: its windows
// and attempts are void, what it called never returns.
func (c *Checker) Died(id node.ID, at time.Duration) {
	n := c.nodes[id]
	if n == nil || n.died {
		return
	}
	n.died = true
	c.abandon(n)
	n.worker = nil
}

// Size judges T12: of each thing a node keeps no more than its configuration says.
func (c *Checker) Size(at time.Duration, id node.ID, what string, n, bound int) {
	if n <= bound || c.oversized[sizeOf{id, what}] {
		return
	}
	c.oversized[sizeOf{id, what}] = true
	c.violate("T12", Record{At: at, Node: id}, "%s keeps %d of %s, bounded by %d", id, n, what, bound)
}

// sizeOf is what one node keeps of something.
type sizeOf struct {
	node node.ID
	what string
}

// Reached returns how often each rare state was visited.
func (c *Checker) Reached() map[string]int { return maps.Clone(c.reached) }

// Violations returns what was broken so far, the first ones, in order.
func (c *Checker) Violations() []Violation { return c.violations }

// Violate records what somebody else saw broken: a scenario that plays a client.
func (c *Checker) Violate(invariant string, r Record, format string, args ...any) {
	c.violate(invariant, r, format, args...)
}

// Forget tells that a node has lost its disk: what it had acted on and counted is
// gone with it, and nothing can be asked of that any more. What others hold of it
// still counts.
func (c *Checker) Forget(id node.ID) {
	maps.DeleteFunc(c.acting, func(a actor, _ *acting) bool { return a.node == id })
	maps.DeleteFunc(c.votes, func(v voter, _ event.Voted) bool { return v.node == id })
	maps.DeleteFunc(c.shards, func(s counted, _ told) bool { return s.manager == id })
	maps.DeleteFunc(c.reported, func(p subjobSum, _ uint64) bool { return p.manager == id })
	maps.DeleteFunc(c.given, func(g given, _ message.Fence) bool { return g.giver == id })
	maps.DeleteFunc(c.courses, func(f flow, _ *course) bool { return f.manager == id })
	maps.DeleteFunc(c.flows, func(f flow, _ message.WorkflowState) bool { return f.manager == id })
}

// Broken returns how often something was broken, the forgotten ones included.
func (c *Checker) Broken() int { return c.broken }

func (c *Checker) violate(invariant string, r Record, format string, args ...any) {
	c.broken++
	if len(c.violations) < violationsMax {
		c.violations = append(c.violations, Violation{invariant, r.At, r.Node, fmt.Sprintf(format, args...)})
	}
}
