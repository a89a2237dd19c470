package checker

import (
	"cmp"
	"slices"

	"hyperscale/core/event"
	"hyperscale/core/message"
)

// feedOf is a workflow whose passes take rows that nobody else takes.
type feedOf struct {
	job      message.JobID
	workflow uint32
}

// taken is a stretch of rows, which whoever took it first has.
type taken struct {
	first, end uint64
	by         event.RowsTaken
}

// onRowsTaken judges F: no row is handed to executors twice, wherever they are.
func (c *Checker) onRowsTaken(r Record, e event.RowsTaken) {
	key := feedOf{e.Shard.Job, e.Shard.Workflow}
	all, end := c.rows[key], e.First+e.Count
	at, _ := slices.BinarySearchFunc(all, e.First, func(t taken, first uint64) int { return cmp.Compare(t.first, first) })
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(all) && all[i].first < end && e.First < all[i].end {
			c.violate("F", r, "rows %d to %d of workflow %d of job %v went to shard %v under %v in %s, of which shard %v under %v in %s has %d to %d",
				e.First, end-1, e.Shard.Workflow, e.Shard.Job, e.Shard, e.Fence, e.Datacenter, all[i].by.Shard, all[i].by.Fence, all[i].by.Datacenter, all[i].first, all[i].end-1)
			return
		}
	}
	if at > 0 && all[at-1].end == e.First { // mostly blocks follow each other
		all[at-1].end = end
		return
	}
	c.rows[key] = slices.Insert(all, at, taken{e.First, end, e})
}
