package checker

import (
	"cmp"
	"maps"
	"time"

	"hyperscale/checker/account"
	"hyperscale/checker/execution"
	"hyperscale/checker/history"
	"hyperscale/checker/operation"
	"hyperscale/checker/register"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// What a history consists of, by the names that callers of Checker use.
type (
	Record      = history.Record
	Violation   = history.Violation
	Assumptions = history.Assumptions
)

// Undecided is the Invariant of a violation that no judge could decide.
const Undecided = history.Undecided

// GroupGates is the group of registers that own whole jobs (T11).
const GroupGates = register.GroupGates

// Checker judges one history: it hands each event to the judges of its invariants.
type Checker struct {
	log        *history.Log
	nodes      *history.Nodes
	registers  *register.Judge
	receivers  *receivers
	executions *execution.Judge
	accounts   *account.Judge
	jobs       *jobs
	elections  *elections
	alerts     *alerts
	feeds      *feeds
	barriers   *barriers
	ends       *ends
	efforts    *efforts
	operations *operation.Judge
	reached    map[string]int
	*sizes
}

// New returns a checker of an empty history.
func New() *Checker {
	log, nodes := &history.Log{}, history.NewNodes()
	operations := operation.New(nodes, log)
	return &Checker{
		log: log, nodes: nodes, operations: operations, reached: map[string]int{},
		registers: register.New(nodes, log), receivers: newReceivers(log, operations), executions: execution.New(nodes, log),
		accounts: account.New(log), jobs: newJobs(log), elections: newElections(log), alerts: newAlerts(log), feeds: newFeeds(log), barriers: newBarriers(log), ends: newEnds(log), efforts: newEfforts(log), sizes: newSizes(log),
	}
}

// Assume sets what the observer knows of the world, before the first event.
func (c *Checker) Assume(a Assumptions) { c.nodes.Assume = a }

// Promise sets the promises of this history.
func (c *Checker) Promise(p Promises) { c.jobs.promises = p }

// Observe takes the next event.
func (c *Checker) Observe(r Record) {
	if c.nodes.Observe(r) {
		c.over(r.Node)
	}
	switch e := r.Event.(type) {
	case event.WorkflowAborted:
		c.receivers.aborted[e.Job] = true
		c.efforts.aborted(e.Job)
	case event.BarrierReleased:
		c.barriers.decide(r, e)
	case event.WaitsReleased:
		c.barriers.tell(r, e)
	case event.RowsTaken:
		c.feeds.take(r, e)
	case event.Acted:
		c.receivers.acted(r, e)
	case event.FenceRefused:
		c.receivers.refused(r, e)
	case event.FenceStored:
		c.executions.FenceStored(r, e)
	case event.ShardStarted:
		c.executions.Started(r, e, c.jobs.promises.Once)
	case event.ShardRenewed:
		c.executions.Renewed(r, e)
	case event.CoreFreed:
		c.executions.CoreFreed(r, e)
	case event.ShardEnded:
		c.executions.Ended(r, e)
	case event.ShardCounted:
		c.onShardCounted(r, e)
	case event.SegmentCounted:
		c.accounts.SegmentCounted(r, e, c.executions.WasStarted(execution.Shard{Datacenter: e.Datacenter, ID: e.Shard}, e.Fence))
	case event.SubjobGivenUp:
		c.accounts.SubjobGivenUp(r, e)
		c.efforts.givenUp(r, e)
	case event.SubjobCounted:
		c.accounts.SubjobCounted(r, e)
		c.efforts.counted(r, e)
	case event.JobChanged:
		c.jobs.changed(r, e, c.registers.Owns(r.Node, e.Job))
		c.efforts.changed(r, e)
	case event.WorkflowChanged:
		c.accounts.WorkflowChanged(r, e)
	case event.SubjobChanged:
		c.jobs.subjobChanged(r, e)
	case event.ShardDispatched:
		c.registers.Ordered(r, e.Shard.Job, e.Fence.SubjobEpoch, "a shard")
		c.accounts.ShardDispatched(r, e)
	case event.ShardLost:
		c.accounts.ShardLost(r, e)
	case event.SubjobDispatched:
		c.registers.Ordered(r, e.Job, e.Fence.JobEpoch, "a subjob")
		c.accounts.SubjobDispatched(r, e)
	case event.LeaseGranted:
		c.onLeaseGranted(r, e)
	case event.LeaseExtended:
		c.registers.Extended(r, e)
	case event.LeaseEnded:
		c.registers.Ended(r, e)
	case event.LeaseCalled:
		c.operations.LeaseCalled(r, e)
	case event.LeaseReturned:
		c.operations.LeaseReturned(r, e)
	case event.ClientCalled:
		c.operations.ClientCalled(r, e)
	case event.ClientReturned:
		c.operations.ClientReturned(r, e)
		c.ends.returned(r, e)
	case event.WorkflowEnded:
		c.ends.decided(r, e)
	case event.ClientTold:
		c.ends.told(r, e)
	case event.Alert:
		c.alerts.changed(r, e)
	case event.Elected:
		c.elections.elected(r, e)
	case event.Voted:
		c.elections.voted(r, e)
	case event.Shed:
		c.shed(r, e)
	case event.Reached:
		c.reached[e.What]++
	}
}

// shed judges T10: whatever arrives, a node loses no message that others rely on, and no stream
// to its own full mailbox.
func (c *Checker) shed(r Record, e event.Shed) {
	c.reached["shed/"+string(e.Reason)]++
	switch {
	case e.Reason == event.ShedBroken:
		c.log.Violate("T10", r, "%s broke a stream, as its mailbox had no room: %s", r.Node, e.What)
	case e.Reason == event.ShedLane && e.Kind != 0 && e.Priority == node.Critical:
		c.log.Violate("T10", r, "%s shed a critical message: %s", r.Node, e.What)
	}
}

func (c *Checker) onShardCounted(r Record, e event.ShardCounted) {
	shard := execution.Shard{Datacenter: e.Datacenter, ID: e.Shard}
	c.accounts.ShardCounted(r, e, account.Begun{Started: c.executions.WasStarted(shard, e.Fence), Highest: c.executions.Highest(shard)})
}

func (c *Checker) onLeaseGranted(r Record, e event.LeaseGranted) {
	if e.Group == GroupGates {
		c.jobs.granted(e.Job)
	} else {
		c.accounts.ManagerOf(e.Group, r.Node) // the managers of a datacenter
	}
	c.registers.Granted(r, e)
}

// over notes the end of a node's incarnation: its calls never return, and a worker's executors
// have exited.
func (c *Checker) over(id node.ID) {
	c.operations.Over(id)
	c.executions.Over(id)
}

// Died notes that a process has exited, and a worker's executors with it. Its windows and
// attempts are void, and its open calls never return.
func (c *Checker) Died(id node.ID) {
	if c.nodes.Die(id) {
		c.over(id)
	}
}

// Forget notes that a node has lost its disk, and with it what it acted on and counted: no
// judge holds it to that any more. What other nodes hold of it still counts.
func (c *Checker) Forget(id node.ID) {
	c.receivers.forget(id)
	c.elections.forget(id)
	c.accounts.Forget(id)
}

// Reached returns how often the history visited each rare state.
func (c *Checker) Reached() map[string]int { return maps.Clone(c.reached) }

// Violations returns the first violations, in order.
func (c *Checker) Violations() []Violation { return c.log.First() }

// Broken returns the number of violations, including those that the log dropped.
func (c *Checker) Broken() int { return c.log.Count() }

// Excuse sets which violations this history may show: what a member that lies can do.
func (c *Checker) Excuse(may func(Violation) bool) { c.log.Excuse = may }

// Violate records a violation that the caller saw, such as a scenario that plays a client.
func (c *Checker) Violate(invariant string, r Record, format string, args ...any) {
	c.log.Violate(invariant, r, format, args...)
}

// Acknowledged notes that a client has an acknowledgement of a job.
func (c *Checker) Acknowledged(r Record, id message.JobID) { c.jobs.acknowledged(r, id) }

// Effort notes what a client submits under a job's key: how many datacenters may be missing (E).
func (c *Checker) Effort(id message.JobID, e Effort) { c.efforts.asked(id, e) }

// Delivered judges a job's result as a client received it (T8, L, E).
func (c *Checker) Delivered(r Record, d Delivery) {
	c.jobs.delivered(r, d, c.accounts.Sum(d.Job))
	c.efforts.delivered(r, d)
}

// Told judges what a gate reports to a client of a job's subjobs (T8).
func (c *Checker) Told(r Record, job message.JobID, subjobs []message.DatacenterResult) {
	c.accounts.Told(r, job, subjobs)
}

// Depends judges T7 of a job whose plan has such a dependency.
func (c *Checker) Depends(r Record, job message.JobID, workflow, on uint32) {
	c.accounts.Depends(r, job, workflow, on)
}

// Jobs returns how many jobs gates accepted, and how many have ended.
func (c *Checker) Jobs() (accepted, ended int) { return c.jobs.count() }

// Finish judges T11 at the end of a history. Every job accepted at least bound ago, with no
// fault since, must have ended. Until then a gate must own it, with no longer gap than
// promised. Finish also judges that no core stays busy (T9), and T4 of the remaining
// operations.
func (c *Checker) Finish(now, bound time.Duration) {
	for _, o := range c.jobs.open() {
		if o.Accepted <= now-bound {
			c.log.Violate("T11", Record{At: now, Node: o.Gate}, "job %v, accepted at %v, is still %v", o.Job, o.Accepted, o.State)
		}
		c.registers.Owned(now, min(bound, cmp.Or(c.jobs.promises.HeldWithin, bound)), o)
	}
	c.executions.KeepsNoCore(now, bound, c.jobs.ended)
	c.registers.KeepsHands(now, bound)
	c.Settle()
}

// Settle judges T4 of the remaining operations, once: those still open never return. Finish
// does so too; Settle is for histories that are too short to judge liveness.
func (c *Checker) Settle() { c.operations.Settle() }

// Linear returns, by object, what is not linearizable or could not be decided.
func (c *Checker) Linear() []Violation { return c.operations.Failures() }

// Explain judges a history again and says which operations have no order, as operation.Judge
// does.
func Explain(records []Record, a Assumptions) (text string, page []byte) {
	c := New()
	c.Assume(a)
	for _, r := range records {
		c.Observe(r)
	}
	c.Settle()
	return c.operations.Explain()
}
