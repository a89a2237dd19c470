package metastable

import "time"

// Published is one run of the published experiment: a store whose processor is cut to a share
// for a while, and clients that ask again four times.
type Published struct {
	Name   string
	Cut    time.Duration
	Quota  int // of the processor during the cut, in percent
	Load   int // parts per thousand of the capacity
	Guards bool
}

// PublishedRuns returns the four runs of the paper's artifact.
func PublishedRuns() []Published {
	return []Published{
		{Name: "10 s at 45 %", Cut: 10 * time.Second, Quota: 45, Load: 900},
		{Name: "10 s at 40 %", Cut: 10 * time.Second, Quota: 40, Load: 900},
		{Name: "9 s at 40 %", Cut: 9 * time.Second, Quota: 40, Load: 900},
		{Name: "10 s at 40 %, a quarter less load", Cut: 10 * time.Second, Quota: 40, Load: 675},
	}
}

// The model of the store. Its timeout is the one free figure: the authors tune the rate by hand,
// too. A request that waits for longer than 5 s and less than 5.55 s at the end of a cut
// separates their four runs.
const (
	modelTick    = 10 * time.Millisecond
	modelWorks   = 10 // requests that the store serves in a tick
	modelTimeout = 5300 * time.Millisecond
	modelRetries = 4
	modelCutAt   = 60 * time.Second
	modelEnds    = 300 * time.Second
)

// batch is requests of one tick that wait in the store's queue.
type batch struct {
	tick, tries, left int
	late              int // of those left, how many have timed out
}

// Recovers plays the model: a first-in first-out queue that serves what has timed out as well.
// With guards the store drops that, unserved. It reports whether all requests of the last 10 s
// are answered in time.
func (r Published) Recovers() bool {
	var queue []batch
	timeout := int(modelTimeout / modelTick)
	due := map[int][]int{} // by tick: indexes of batches, which never move
	first, credit, power := 0, 0, 0
	last, bad := int(modelEnds/modelTick), 0
	for now := range last {
		add := func(tries, n int) {
			if n > 0 {
				due[now+timeout] = append(due[now+timeout], len(queue))
				queue = append(queue, batch{tick: now, tries: tries, left: n})
			}
		}
		credit += modelWorks * r.Load
		add(0, credit/1000)
		credit %= 1000
		for _, i := range due[now] {
			if b := &queue[i]; b.left > 0 {
				b.late = b.left
				if now >= last-int(10*time.Second/modelTick) {
					bad += b.left
				}
				if b.tries < modelRetries {
					add(b.tries+1, b.left)
				}
			}
		}
		delete(due, now)
		share := 100
		if at := time.Duration(now) * modelTick; at >= modelCutAt && at < modelCutAt+r.Cut {
			share = r.Quota
		}
		power += modelWorks * share
		for first < len(queue) {
			b := &queue[first]
			if r.Guards && b.late > 0 {
				b.left = 0
			}
			n := min(b.left, power/100)
			b.left -= n
			power -= n * 100
			if b.left > 0 {
				break
			}
			first++
		}
		if first == len(queue) {
			power %= 100 // an idle store saves nothing
		}
	}
	return bad == 0
}
