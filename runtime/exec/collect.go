package exec

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// An executor may leave about as much garbage uncollected as half a second produces, within
// these bounds. A percentage of the heap would not do. For a few users it is almost nothing, so
// that they collect all the time. For ten thousand users it is as much again as their memory,
// most of which is stacks of waiting functions.
const (
	garbageLeast = 6 << 20
	garbageMost  = 64 << 20
	paceEvery    = 250 * time.Millisecond
)

// collector sets the pace of garbage collection.
type collector struct {
	samples []metrics.Sample
	freed   uint64
	percent int
}

func newCollector() *collector {
	c := &collector{samples: []metrics.Sample{
		{Name: "/gc/heap/frees:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"},
	}}
	c.set()
	return c
}

// keep sets the pace until the work is done.
func (c *collector) keep(done <-chan struct{}) {
	ticker := time.NewTicker(paceEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			c.set()
		}
	}
}

// set sets GOGC: the percentage of live memory, stacks included, that equals the wanted
// garbage.
func (c *collector) set() {
	metrics.Read(c.samples)
	freed, live, stacks := c.samples[0].Value.Uint64(), c.samples[1].Value.Uint64(), c.samples[2].Value.Uint64()
	percent := pace(freed-c.freed, live+stacks)
	c.freed = freed
	if percent*10 < c.percent*9 || percent*10 > c.percent*11 { // to set it stops the world for a moment
		c.percent = percent
		debug.SetGCPercent(percent)
	}
}

// pace returns the percentage for the memory freed in paceEvery, relative to the live memory.
func pace(freed, live uint64) int {
	garbage := min(max(2*freed, garbageLeast), garbageMost)
	return int(min(max(garbage*100/max(live, 1<<20), 5), 200))
}
