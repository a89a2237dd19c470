package load

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Arrival is one iteration of an open workflow.
type Arrival struct {
	K    uint64        // its number in the workflow, from 0
	Due  time.Duration // since the beginning of the workflow
	User uint64        // its virtual user
}

// Arrivals iterates over the arrivals of one executor.
type Arrivals struct {
	rate     Curve
	spread   Spread
	first, n uint64 // the executor's users
	one      uint64 // twice the area of one iteration
	poisson  bool
	seed     uint64
	table    *logarithms // of Poisson arrivals

	k, user uint64 // the next one, of any executor
	sum     wide   // twice its area
	segment int
	near    uint64 // the last due time within the segment
	nearSum wide
}

// NewArrivals returns the arrivals of an open workflow that users [first, first+n) begin. The
// seed is the job's.
func NewArrivals(p *message.WorkflowPlan, seed, first, n uint64) *Arrivals {
	per := uint64(time.Second)
	if p.RatePer > 0 {
		per = min(uint64(p.RatePer), uint64(24*time.Hour))
	}
	a := &Arrivals{rate: NewRate(p), spread: NewSpread(p.VUs), first: first, n: n, one: 2 * 1000 * per, poisson: p.Poisson}
	if p.Poisson {
		// Two workflows of a job must not run in lockstep.
		a.seed, a.table = node.MixString(node.Mix(seed, 1), p.Name), newLogarithms()
		a.sum = wide{0, a.table.draw(a.seed, 0, a.one)}
	}
	return a
}

// Next returns the next arrival, or false if there is none left.
func (a *Arrivals) Next() (Arrival, bool) {
	if a.first >= a.spread.vus || a.n == 0 {
		return Arrival{}, false
	}
	if a.poisson {
		for a.user-a.first >= a.n {
			if !a.ends() {
				a.skip()
				continue
			}
			return Arrival{}, false
		}
		return a.take()
	}
	k := a.k
	for a.user-a.first >= a.n {
		a.next()
	}
	a.sum = a.sum.plus(product(a.k-k, a.one))
	return a.take()
}

// next moves to the next number.
func (a *Arrivals) next() {
	a.k++
	if a.user += a.spread.stride; a.user >= a.spread.vus {
		a.user -= a.spread.vus
	}
}

// skip moves to the next arrival of a Poisson process: all arrivals must be drawn.
func (a *Arrivals) skip() {
	a.next()
	a.sum = a.sum.plus(wide{0, a.table.draw(a.seed, a.k, a.one)})
}

// ends finds the segment in which the next arrival is due; true if there is none.
func (a *Arrivals) ends() bool {
	for ; a.segment < len(a.rate.segments); a.segment++ {
		s := &a.rate.segments[a.segment]
		if a.sum.less(s.before.plus(product(s.from+s.to, s.length))) {
			return false
		}
		a.near, a.nearSum = 0, s.before.plus(product(s.from+s.to, s.length))
	}
	return true
}

// take returns the next arrival's due time, and moves on.
func (a *Arrivals) take() (Arrival, bool) {
	if a.ends() {
		return Arrival{}, false
	}
	s := &a.rate.segments[a.segment]
	if s.from != s.to {
		a.near += a.sum.minus(a.nearSum).over(2*s.rate(a.near) + 1)
	}
	a.near, a.nearSum = s.reach(a.sum.minus(s.before), a.near), a.sum
	out := Arrival{K: a.k, Due: time.Duration(s.start + a.near), User: a.user}
	if a.poisson {
		a.skip()
		return out, true
	}
	a.next()
	a.sum = a.sum.plus(wide{0, a.one})
	return out, true
}

// Count returns the number of even arrivals of a workflow, over all executors.
func Count(p *message.WorkflowPlan) uint64 {
	a := NewArrivals(p, 0, 0, 1)
	if len(a.rate.segments) == 0 {
		return 0
	}
	s := &a.rate.segments[len(a.rate.segments)-1]
	return up(s.before.plus(product(s.from+s.to, s.length)), a.one)
}
