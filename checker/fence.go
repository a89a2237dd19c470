package checker

import (
	"maps"
	"slices"

	"hyperscale/checker/linear"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// actor is a receiver and what it acts on.
type actor struct {
	node       node.ID
	shard      message.ShardID
	subjob     bool
	datacenter string // of a subjob, for a gate
}

// acting is what it has acted on.
type acting struct {
	highest message.Fence
	ordered message.Fence // of its last dispatch
	calls   *fencedCalls
}

// execution names one run of a shard.
type execution struct {
	datacenter string
	shard      message.ShardID
	fence      message.Fence
}

// onActed judges T3. Equal fences pass, but for a dispatch: an equal dispatch is
// answered again and starts nothing.
func (c *Checker) onActed(r Record, e event.Acted) {
	who := actor{r.Node, e.Shard, e.Subjob, e.Datacenter}
	a := c.acting[who]
	if a == nil {
		a = &acting{}
		c.acting[who] = a
	}
	if e.Fence.Less(a.highest) {
		c.violate("T3", r, "%s of %v under fence %v after it had acted under %v", e.What, e.Shard, e.Fence, a.highest)
		return
	}
	a.highest = e.Fence
	if e.What == "abort" && !c.aborted[e.Shard.Job] {
		c.violate("A", r, "a workflow of job %v was aborted before a majority of the gates knew that it was to be", e.Shard.Job)
	}
	if e.What == "dispatch" {
		if a.ordered != (message.Fence{}) && !a.ordered.Less(e.Fence) {
			c.violate("T3", r, "dispatch of %v under fence %v was obeyed, though %v had been", e.Shard, e.Fence, a.ordered)
		}
		a.ordered = e.Fence
	}
	c.answers(r, who, a, linear.FencedOp{What: e.What, Fence: e.Fence})
}

// onFenceRefused is for receivers that have acted: one that has not may hold what
// it learnt from a report.
func (c *Checker) onFenceRefused(r Record, e event.FenceRefused) {
	who := actor{r.Node, e.Shard, e.Subjob, e.Datacenter}
	if a := c.acting[who]; a != nil {
		c.answers(r, who, a, linear.FencedOp{What: e.What, Fence: e.Got, Refused: true, Current: e.Current})
	}
}

// onSliceStarted judges T6, then T13 and T9.
func (c *Checker) onShardStarted(r Record, e event.ShardStarted) {
	run := execution{e.Datacenter, e.Shard, e.Fence}
	if first, ok := c.started[run]; ok {
		c.violate("T6", r, "shard %v was started under fence %v, as it had been on %s", e.Shard, e.Fence, first)
	}
	c.started[run] = r.Node
	c.startsOnce(r, e)
	c.startsAlone(r, e)
	c.takeCores(r, e)
}

// onFenceStored judges T3 across a crash that takes the write from both sides, and
// with it the proof: what runs under a fence had it on disk before.
func (c *Checker) onFenceStored(r Record, e event.FenceStored) {
	w := c.of(r)
	for _, core := range slices.Sorted(maps.Keys(w.holder)) {
		if run := w.holder[core]; run.shard == e.Shard && run.fence == e.Fence {
			c.violate("T3", r, "shard %v was started under %v before that fence was on disk", e.Shard, e.Fence)
			return
		}
	}
}
