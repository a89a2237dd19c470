package leases

import "hyperscale/core/workflow/feed"

// Lessor leases blocks of rows of a unique feed, and of values of counters, which no other process
// has. of is 0 for the feed, else the counter's place in the plan, from 1.
type Lessor interface {
	Ask(of uint32, want uint64)                      // only while no request for the same is open
	Answer(of uint32) (first, count uint64, ok bool) // count 0: none is left; not ok: no answer yet
	OnAnswer(wake func())                            // wake runs on another goroutine
}

// askEvery is how long a block should last at least. askAhead is the share of it that is left when
// the engine requests the next one: an answer takes a few milliseconds.
const (
	askEvery = int64(500_000_000)
	askAhead = 2
	askLeast = 16
)

// Leases are the rows of a unique feed, or the values of a counter, that this process has.
type Leases struct {
	Lessor Lessor // nil: there is none, and these are no leases
	Of     uint32
	Ended  bool // none is left
	open   bool // a request has no answer yet

	first, count uint64 // the rest of the block
	size         uint64 // size of the block
	since        int64  // when the block arrived
	next         block  // the block after it
}

// block is first up to first+count.
type block struct{ first, count uint64 }

// Ready reports whether there is one to take. If not, it is on its way, or none is left. It asks
// for the next block in time.
func (r *Leases) Ready(now int64) bool {
	if r.Ended {
		return false
	}
	if r.open {
		if first, count, ok := r.Lessor.Answer(r.Of); ok {
			r.open = false
			r.next = block{first, count}
			if count == 0 {
				r.Ended = r.count == 0
				r.next.first = noMore
			}
		}
	}
	if r.count == 0 && r.next.count > 0 {
		r.first, r.count, r.size, r.since = r.next.first, r.next.count, r.next.count, now
		r.next = block{}
	}
	if r.count == 0 && r.next.first == noMore {
		r.Ended = true
		return false
	}
	if !r.open && r.next == (block{}) && r.count <= r.size/askAhead {
		r.open = true
		r.Lessor.Ask(r.Of, r.want(now))
	}
	return r.count > 0
}

// noMore marks that the lessor has none left.
const noMore = ^uint64(0)

// want returns how many to request: twice as many if the last ones went too fast.
func (r *Leases) want(now int64) uint64 {
	switch {
	case r.size == 0:
		return askLeast
	case now-r.since < askEvery:
		return min(2*r.size, feed.BlockMax)
	}
	return max(r.size/2, askLeast)
}

// Take returns the next one, which is ready.
func (r *Leases) Take() uint64 {
	r.first++
	r.count--
	return r.first - 1
}
