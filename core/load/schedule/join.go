package schedule

import (
	"cmp"
	"time"

	"hyperscale/core/load"
)

// Joined says where a process enters a workflow that has run before, in place of one that was
// lost.
type Joined struct {
	At    time.Duration // the workflow's time now
	Begun uint64        // iterations that the lost ones are known to have begun
	// Users whose iterations Begun counts: this process's own, and those of others beside it.
	FirstVU, VUs uint64
}

// Join enters the schedule where time stands, before the first call of Next. What was due before
// never begins, and Figures counts it as missed. A limited number of iterations continues after
// those that have begun.
func (d *Iterations) Join(j Joined) {
	at := int64(j.At)
	if d.open != nil {
		d.open.join(d, at)
		return
	}
	c := &d.closed
	if c.curve.End() > 0 {
		c.set(at, c.curve.At(j.At))
		c.foresee(at)
	}
	c.since, c.last = at, at-c.spacing
	whole := cmp.Or(j.VUs, uint64(c.n))
	switch {
	case d.quota.once:
		before := d.first - min(j.FirstVU, d.first)
		done := min(j.Begun, whole)
		c.up = int(min(done*(before+uint64(c.n))/whole-done*before/whole, uint64(c.n)))
	case d.quota.limited:
		spread := load.NewSpread(d.plan.VUs)
		reached := d.reached(spread, j.Begun, j.FirstVU, whole)
		d.quota.left -= min(d.quota.left, spread.Share(reached, d.first, uint64(c.n)))
		if d.quota.each > 0 {
			for vu := range d.users {
				d.users[vu].iterations = spread.Share(reached, d.first+uint64(vu), 1)
			}
		}
	}
}

// reached is the least number of the workflow's first iterations of which some users have begun
// so many.
func (d *Iterations) reached(s load.Spread, begun, first, n uint64) uint64 {
	low, high := uint64(0), d.plan.Iterations
	for low < high {
		if middle := low + (high-low)/2; s.Share(middle, first, n) >= begun {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// join skips the arrivals that were due before.
func (a *arrivals) join(d *Iterations, at int64) {
	for a.state != arrivalNone && int64(a.next.Due) < min(at, d.over) {
		d.figures.Missed++
		a.step(d.plan)
	}
	a.looked = at
	for vu := range d.users {
		d.users[vu].next = at
	}
}
