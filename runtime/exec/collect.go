package exec

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// What an executor leaves uncollected is about as much as half a second makes of it,
// within these bounds, whatever else it holds: a percentage of the heap would be nothing
// for a few users, who then collect all the time, and as much again as ten thousand users
// take, most of which is stacks of functions that wait.
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

// set is the percentage of what is live, stacks included, that makes the garbage wanted.
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

// pace is the percentage for what was freed in paceEvery, beside what is live.
func pace(freed, live uint64) int {
	garbage := min(max(2*freed, garbageLeast), garbageMost)
	return int(min(max(garbage*100/max(live, 1<<20), 5), 200))
}
