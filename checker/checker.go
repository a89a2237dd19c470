package checker

import (
	"fmt"
	"maps"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Record is one event of a history.
type Record struct {
	At          time.Duration // since the history began, on the observer's clock
	Node        node.ID
	Incarnation uint64
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

// Checker judges one history.
type Checker struct {
	violations []Violation
	broken     int

	acted    map[actor]message.Fence   // T3: highest obeyed
	ordered  map[actor]message.Fence   // T3: highest dispatch obeyed
	started  map[execution]node.ID     // T6
	workers  map[node.ID]*worker       // T9
	slices   map[counted]told          // T8
	parts    map[partOf]bool           // T8
	jobs     map[message.JobID]*theJob // L, T11
	flows    map[flow]message.WorkflowState
	reported map[partSum]uint64 // T8: starts counted, by part
	sums     map[message.JobID]jobSum

	seen      uint64                  // events
	given     map[given]message.Fence // T3: highest given out
	abandoned map[abandoned]bool      // T3
	courses   map[flow]*course        // T7
	promises  Promises
	ran       map[execution]message.Fence // P
}

// New returns a checker of an empty history.
func New() *Checker {
	return &Checker{
		acted: map[actor]message.Fence{}, ordered: map[actor]message.Fence{}, started: map[execution]node.ID{},
		workers: map[node.ID]*worker{}, slices: map[counted]told{}, parts: map[partOf]bool{},
		jobs: map[message.JobID]*theJob{}, flows: map[flow]message.WorkflowState{}, reported: map[partSum]uint64{},
		sums: map[message.JobID]jobSum{}, given: map[given]message.Fence{}, abandoned: map[abandoned]bool{}, courses: map[flow]*course{},
		ran: map[execution]message.Fence{},
	}
}

// Observe takes the next event.
func (c *Checker) Observe(r Record) {
	c.seen++
	c.outlive(r)
	switch e := r.Event.(type) {
	case event.Acted:
		c.onActed(r, e)
	case event.SliceStarted:
		c.onSliceStarted(r, e)
	case event.SliceEnded:
		c.onSliceEnded(r, e)
	case event.SliceCounted:
		c.onSliceCounted(r, e)
	case event.PartCounted:
		c.onPartCounted(r, e)
	case event.JobChanged:
		c.onJobChanged(r, e)
	case event.WorkflowChanged:
		c.onWorkflowChanged(r, e)
	case event.PartChanged:
		c.onPartChanged(r, e)
	case event.SliceDispatched:
		c.onSliceDispatched(r, e)
	case event.SliceLost:
		c.onSliceLost(r, e)
	case event.PartDispatched:
		c.onPartDispatched(r, e)
	}
}

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
	maps.DeleteFunc(c.acted, func(a actor, _ message.Fence) bool { return a.node == id })
	maps.DeleteFunc(c.ordered, func(a actor, _ message.Fence) bool { return a.node == id })
	maps.DeleteFunc(c.slices, func(s counted, _ told) bool { return s.manager == id })
	maps.DeleteFunc(c.reported, func(p partSum, _ uint64) bool { return p.manager == id })
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
