package checker

import (
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// actor is a receiver and what it acts on.
type actor struct {
	node  node.ID
	slice message.SliceID
	part  bool
}

// execution names one run of a slice.
type execution struct {
	datacenter string
	slice      message.SliceID
	fence      message.Fence
}

// onActed judges T3. Equal fences pass, but for a dispatch: an equal dispatch is
// answered again and starts nothing.
func (c *Checker) onActed(r Record, e event.Acted) {
	who := actor{r.Node, e.Slice, e.Part}
	if highest := c.acted[who]; e.Fence.Less(highest) {
		c.violate("T3", r, "%s of %v under fence %v after it had acted under %v", e.What, e.Slice, e.Fence, highest)
		return
	}
	c.acted[who] = e.Fence
	if e.What != "dispatch" {
		return
	}
	if last, ok := c.ordered[who]; ok && !last.Less(e.Fence) {
		c.violate("T3", r, "dispatch of %v under fence %v was obeyed, though %v had been", e.Slice, e.Fence, last)
	}
	c.ordered[who] = e.Fence
}

// onSliceStarted judges T6, then T9.
func (c *Checker) onSliceStarted(r Record, e event.SliceStarted) {
	run := execution{e.Datacenter, e.Slice, e.Fence}
	if first, ok := c.started[run]; ok {
		c.violate("T6", r, "slice %v was started under fence %v, as it had been on %s", e.Slice, e.Fence, first)
	}
	c.started[run] = r.Node
	c.startsOnce(r, e)
	c.takeCores(r, e)
}
