package execution

import (
	"time"

	"hyperscale/checker/history"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// attempt is the last one of a shard that was started and has not ended.
type attempt struct {
	node        node.ID
	incarnation uint64
	fence       message.Fence
	until       node.Instant  // on its worker's clock: its executors stop themselves then; 0: unknown
	at          time.Duration // when the worker renewed it,
	local       node.Instant  // and what the clock read, 0: unknown
	rival       node.ID       // who started another one while it may have run, if its end must tell
	rivalAt     time.Duration
}

// startsAlone judges T13 when a worker starts a shard: no other worker runs it. Where
// the history cannot tell whether the other worker lives, a later end of its attempt
// shows that it did.
func (j *Judge) startsAlone(r history.Record, e event.ShardStarted) {
	key := Shard{e.Datacenter, e.Shard}
	if j.begun[key].Less(e.Fence) {
		j.begun[key] = e.Fence
	}
	old := j.attempts[key]
	next := attempt{node: r.Node, incarnation: r.Incarnation, fence: e.Fence}
	if old.node != "" && old.node != r.Node && !j.nodes.Assume.DriftBeyondBound {
		switch sends, known := j.sends(&old, e.Shard, r.At); {
		case sends:
			j.log.Violate("T13", r, "shard %v was started under %v on %s while it ran under %v on %s", e.Shard, e.Fence, r.Node, old.fence, old.node)
		case !known:
			old.rival, old.rivalAt = r.Node, r.At
			j.doubted[doubt{old.node, old.incarnation, e.Shard, old.fence}] = old
		}
	}
	j.attempts[key] = next
}

// doubt names an attempt that may have run beside another one.
type doubt struct {
	node        node.ID
	incarnation uint64
	shard       message.ShardID
	fence       message.Fence
}

// sends says whether an attempt's executors run now.
func (j *Judge) sends(a *attempt, s message.ShardID, at time.Duration) (yes, known bool) {
	now, running, known := j.nodes.Clock(a.node, a.incarnation)
	switch {
	case known && !running:
		return false, true
	case j.nodes.Assume.Sends != nil:
		return j.nodes.Assume.Sends(a.node, s, a.fence), true
	case known:
		return a.until == 0 || now < a.until, true
	case a.until != 0 && a.local != 0 && at-a.at >= j.nodes.AtMost(a.until.Sub(a.local)):
		return false, true // it has stopped by itself, whatever its clock
	}
	return false, false
}

// Renewed takes how long a worker lets an attempt run without a further renewal.
func (j *Judge) Renewed(r history.Record, e event.ShardRenewed) {
	w := j.workers[r.Node]
	if w == nil || w.incarnation != r.Incarnation {
		return
	}
	key := Shard{w.datacenter, e.Shard}
	if a := j.attempts[key]; a.node == r.Node && a.incarnation == r.Incarnation && a.fence == e.Fence {
		a.until, a.at, a.local = e.Until, r.At, r.Local
		j.attempts[key] = a
	}
}

// endsAttempt closes it. If another one was started meanwhile, and could not be
// judged then, this worker has lived all the time: unless its executors had stopped
// by themselves, both ran.
func (j *Judge) endsAttempt(r history.Record, w *worker, e event.ShardEnded) {
	key := Shard{w.datacenter, e.Shard}
	if a := j.attempts[key]; a.node == r.Node && a.fence == e.Fence {
		delete(j.attempts, key)
	}
	if len(j.doubted) == 0 {
		return
	}
	name := doubt{r.Node, r.Incarnation, e.Shard, e.Fence}
	if a, ok := j.doubted[name]; ok {
		delete(j.doubted, name)
		j.log.Violate("T13", r, "shard %v ran under %v on %s until now, though it was started on %s at %v", e.Shard, e.Fence, r.Node, a.rival, a.rivalAt)
	}
}
