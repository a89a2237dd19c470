package checker

import (
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// sliceOf is a shard in a datacenter: shards are named anew in each.
type shardOf struct {
	datacenter string
	shard      message.ShardID
}

// attempt is the last one of a shard that was started and has not ended.
type attempt struct {
	node        node.ID
	incarnation uint64
	fence       message.Fence
	until       node.Instant  // on its worker's clock: its executors stop themselves then; 0 for not told
	at          time.Duration // when that was told,
	local       node.Instant  // and what the clock read, 0 if that was not told
	rival       node.ID       // who started another one while it may have run, if its end must tell
	rivalAt     time.Duration
}

// startsAlone judges T13 when a shard is started: no other worker runs it. Where
// nobody can tell whether the other one lives, its end tells: who is dead ends
// nothing.
func (c *Checker) startsAlone(r Record, e event.ShardStarted) {
	key := shardOf{e.Datacenter, e.Shard}
	c.begun[key] = higher(c.begun[key], e.Fence)
	old := c.attempts[key]
	next := attempt{node: r.Node, incarnation: r.Incarnation, fence: e.Fence}
	if old.node != "" && old.node != r.Node && !c.assume.Beyond {
		switch sends, known := c.sends(&old, e.Shard, r.At); {
		case sends:
			c.violate("T13", r, "shard %v was started under %v on %s while it ran under %v on %s", e.Shard, e.Fence, r.Node, old.fence, old.node)
		case !known:
			old.rival, old.rivalAt = r.Node, r.At
			c.doubted[doubt{old.node, old.incarnation, e.Shard, old.fence}] = old
		}
	}
	c.attempts[key] = next
}

// doubt names an attempt that may have run beside another one.
type doubt struct {
	node        node.ID
	incarnation uint64
	shard       message.ShardID
	fence       message.Fence
}

// sends says whether an attempt's executors run now.
func (c *Checker) sends(a *attempt, s message.ShardID, at time.Duration) (yes, known bool) {
	now, running, known := c.clock(a.node, a.incarnation)
	switch {
	case known && !running:
		return false, true
	case c.assume.Sends != nil:
		return c.assume.Sends(a.node, s, a.fence), true
	case known:
		return a.until == 0 || now < a.until, true
	case a.until != 0 && a.local != 0 && at-a.at >= scale(a.until.Sub(a.local), 1_000_000, 1_000_000-c.drift()):
		return false, true // it has stopped by itself, whatever its clock
	}
	return false, false
}

func (c *Checker) onShardRenewed(r Record, e event.ShardRenewed) {
	w := c.nodes[r.Node].worker
	if w == nil || w.incarnation != r.Incarnation {
		return
	}
	key := shardOf{w.datacenter, e.Shard}
	if a := c.attempts[key]; a.node == r.Node && a.incarnation == r.Incarnation && a.fence == e.Fence {
		a.until, a.at, a.local = e.Until, r.At, r.Local
		c.attempts[key] = a
	}
}

// endsAttempt closes it. If another one was started meanwhile, and could not be
// judged then, this worker has lived all the time: unless its executors had stopped
// by themselves, both ran.
func (c *Checker) endsAttempt(r Record, w *worker, e event.ShardEnded) {
	key := shardOf{w.datacenter, e.Shard}
	if a := c.attempts[key]; a.node == r.Node && a.fence == e.Fence {
		delete(c.attempts, key)
	}
	if len(c.doubted) == 0 {
		return
	}
	name := doubt{r.Node, r.Incarnation, e.Shard, e.Fence}
	if a, ok := c.doubted[name]; ok {
		delete(c.doubted, name)
		c.violate("T13", r, "shard %v ran under %v on %s until now, though it was started on %s at %v", e.Shard, e.Fence, r.Node, a.rival, a.rivalAt)
	}
}
