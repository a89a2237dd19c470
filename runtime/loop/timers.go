package loop

import (
	"container/heap"
	"time"

	"hyperscale/core/node"
)

// timer is one keyed timer. It stays known by its key while its firing waits in
// the mailbox, so that a cancel still finds it there.
type timer struct {
	key        node.TimerKey
	due        node.Instant
	generation uint64
	place      int // in the heap; -1 while its firing waits

	// Where it stands in the heap: at due and generation, or before while a later due has not moved it.
	at    node.Instant
	order uint64
}

// timers is a heap with an index by key. Timers fire in the order of (due, generation). It belongs
// to the loop's goroutine.
//
// A manager of 10,000 workers puts one timer off with each heartbeat. So a later due moves nothing:
// a timer moves when it is the first, once in its time instead of each second.
type timers struct {
	byKey      map[node.TimerKey]*timer
	queue      timerHeap
	generation uint64
}

func newTimers() *timers { return &timers{byKey: map[node.TimerKey]*timer{}} }

// set makes the key fire at due, and only then.
func (t *timers) set(k node.TimerKey, due node.Instant) {
	t.generation++
	e := t.byKey[k]
	if e == nil {
		e = &timer{key: k, place: -1}
		t.byKey[k] = e
	}
	e.due, e.generation = due, t.generation
	switch {
	case e.place < 0:
		e.at, e.order = due, t.generation
		heap.Push(&t.queue, e)
	case due <= e.at:
		e.at, e.order = due, t.generation
		heap.Fix(&t.queue, e.place)
	}
}

// first returns the timer that fires next; nil: there is none.
func (t *timers) first() *timer {
	for len(t.queue) > 0 {
		e := t.queue[0]
		if e.order == e.generation {
			return e
		}
		e.at, e.order = e.due, e.generation
		heap.Fix(&t.queue, 0)
	}
	return nil
}

func (t *timers) cancel(k node.TimerKey) {
	e := t.byKey[k]
	if e == nil {
		return
	}
	delete(t.byKey, k)
	if e.place >= 0 {
		heap.Remove(&t.queue, e.place)
	}
}

// expire takes one timer that is due off the heap; its firing now waits.
func (t *timers) expire(now node.Instant) (*timer, bool) {
	e := t.first()
	if e == nil || e.due > now {
		return nil, false
	}
	return heap.Pop(&t.queue).(*timer), true
}

// take says whether a firing that waited is still wanted, and forgets the timer.
func (t *timers) take(k node.TimerKey, generation uint64) bool {
	e := t.byKey[k]
	if e == nil || e.generation != generation {
		return false
	}
	delete(t.byKey, k)
	return true
}

// wait returns how long it is until the next timer is due.
func (t *timers) wait(now node.Instant) (time.Duration, bool) {
	e := t.first()
	if e == nil {
		return 0, false
	}
	return max(0, e.due.Sub(now)), true
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].order < h[j].order
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *timerHeap) Push(x any) {
	e := x.(*timer)
	e.place = len(*h)
	*h = append(*h, e)
}

func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.place = -1
	return e
}
