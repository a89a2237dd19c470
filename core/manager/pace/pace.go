package pace

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds say how much may be out.
type Bounds struct {
	Count    int           // dispatches
	Bytes    int           // of them all
	Patience time.Duration // after so long without an answer a dispatch no longer counts
}

// Default lets a gigabit's link send what is out in 70 ms. The number of dispatches matters to no
// renewal: it bounds the work of a call.
func Default() Bounds { return Bounds{Count: 256, Bytes: 8 << 20, Patience: 3 * time.Second} }

// WaitsMax bounds what waits: no record holds more shards.
const WaitsMax = 131072

// Dispatch names one attempt of a shard.
type Dispatch struct {
	Shard message.ShardID
	Fence message.Fence
}

// Pace holds what is out, and what waits.
type Pace struct {
	bounds  Bounds
	out     []sent // oldest first
	bytes   int    // of out
	waits   []Dispatch
	waiting map[Dispatch]bool
}

type sent struct {
	Dispatch
	size int
	at   node.Instant
}

// New returns a pace with nothing out.
func New(b Bounds) *Pace { return &Pace{bounds: b, waiting: map[Dispatch]bool{}} }

// Admit says whether a dispatch may be sent now. If not, it waits until Next returns it. One that
// is out already may be sent again.
func (p *Pace) Admit(d Dispatch, size int, now node.Instant) bool {
	p.expire(now)
	if slices.ContainsFunc(p.out, func(s sent) bool { return s.Dispatch == d }) {
		return true
	}
	full := len(p.out) >= p.bounds.Count || len(p.out) > 0 && p.bytes+size > p.bounds.Bytes
	if full || len(p.waits) > 0 && p.waits[0] != d {
		if !p.waiting[d] {
			p.waits, p.waiting[d] = append(p.waits, d), true
		}
		return false
	}
	if p.waiting[d] {
		p.Skip()
	}
	p.out, p.bytes = append(p.out, sent{d, size, now}), p.bytes+size
	return true
}

// Next returns the dispatch that has waited longest. The caller admits it, or skips it if it is no
// longer wanted.
func (p *Pace) Next() (d Dispatch, ok bool) {
	if len(p.waits) == 0 {
		return d, false
	}
	return p.waits[0], true
}

// Skip forgets the dispatch that Next returns.
func (p *Pace) Skip() {
	delete(p.waiting, p.waits[0])
	if p.waits = p.waits[1:]; len(p.waits) == 0 {
		p.waits = nil
	}
}

// Answered makes room: a worker has answered, or nothing waits for its answer any more.
func (p *Pace) Answered(d Dispatch) {
	if at := slices.IndexFunc(p.out, func(s sent) bool { return s.Dispatch == d }); at >= 0 {
		p.bytes -= p.out[at].size
		p.out = slices.Delete(p.out, at, at+1)
	}
}

// Waiting counts the dispatches that wait.
func (p *Pace) Waiting() int { return len(p.waits) }

func (p *Pace) expire(now node.Instant) {
	for len(p.out) > 0 && now.Sub(p.out[0].at) >= p.bounds.Patience {
		p.bytes -= p.out[0].size
		p.out = slices.Delete(p.out, 0, 1)
	}
}
