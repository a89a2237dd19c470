package checker

import (
	"maps"
	"slices"
	"time"

	"hyperscale/core/event"
)

// worker is who holds which core, in one incarnation.
type worker struct {
	incarnation uint64
	holder      map[int]execution
	heard       time.Duration // when it last told anything
	datacenter  string        // where its shards are
}

// of returns the worker's cores. A new incarnation holds none: its executors
// died with the old one.
func (c *Checker) of(r Record) *worker {
	n := c.nodes[r.Node]
	if n.worker == nil || n.worker.incarnation != r.Incarnation {
		n.worker = &worker{incarnation: r.Incarnation, holder: map[int]execution{}, heard: r.At}
	}
	return n.worker
}

// leaks judges that no core is held for a job that ended at least bound ago, by a
// worker that has been heard of since: one that died with it cannot tell. Nor can one
// that stands still, even if it woke for a moment.
func (c *Checker) leaks(now, bound time.Duration) {
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		w := c.nodes[id].worker
		if w == nil {
			continue
		}
		if _, running, known := c.clock(id, w.incarnation); known && !running {
			continue // it has died since, and its executors with it
		}
		if c.assume.Still != nil && c.assume.Still(id) {
			continue
		}
		for _, core := range slices.Sorted(maps.Keys(w.holder)) {
			run := w.holder[core]
			if j := c.jobs[run.shard.Job]; j != nil && j.state.Terminal() && j.ended <= now-bound && j.ended < w.heard {
				c.violate("T9", Record{At: now, Node: id}, "core %d is held by shard %v under %v, whose job ended at %v", core, run.shard, run.fence, j.ended)
			}
		}
	}
}

func (c *Checker) takeCores(r Record, e event.ShardStarted) {
	w := c.of(r)
	w.datacenter = e.Datacenter
	if len(e.Cores) == 0 {
		c.violate("T9", r, "shard %v under %v started on no core", e.Shard, e.Fence)
	}
	for _, core := range e.Cores {
		if core < 0 || core >= e.Total {
			c.violate("T9", r, "shard %v was given core %d of %d", e.Shard, core, e.Total)
		}
		if other, ok := w.holder[core]; ok {
			c.violate("T9", r, "core %d was given to shard %v under %v while %v under %v holds it", core, e.Shard, e.Fence, other.shard, other.fence)
		}
		w.holder[core] = execution{shard: e.Shard, fence: e.Fence}
	}
	c.runsAlone(r, w, e)
}

// runsAlone judges T6 within one worker: a higher attempt of a shard starts when
// the executors of the lower one are gone.
func (c *Checker) runsAlone(r Record, w *worker, e event.ShardStarted) {
	for core := range e.Total {
		if other, ok := w.holder[core]; ok && other.shard == e.Shard && other.fence != e.Fence {
			c.violate("T6", r, "shard %v was started under %v while it still ran there under %v", e.Shard, e.Fence, other.fence)
			return
		}
	}
}

func (c *Checker) onShardEnded(r Record, e event.ShardEnded) {
	w := c.of(r)
	run := execution{shard: e.Shard, fence: e.Fence}
	var held []int
	//lint:orderfree the cores are sorted below
	for core, holder := range w.holder {
		if holder == run {
			held = append(held, core)
		}
	}
	slices.Sort(held)
	freed := slices.Sorted(slices.Values(e.Cores))
	if !slices.Equal(held, freed) {
		c.violate("T9", r, "shard %v under %v freed cores %v but held %v", e.Shard, e.Fence, freed, held)
	}
	for _, core := range held {
		delete(w.holder, core)
	}
	c.endsAttempt(r, w, e)
}
