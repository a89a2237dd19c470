package schedule

import (
	"time"

	"hyperscale/core/load"
	"hyperscale/core/message"
)

// arrivals are the iterations of an open workflow that this process begins. An iteration that
// waits for a virtual user takes no memory: the schedule stands still meanwhile.
type arrivals struct {
	schedule *load.Arrivals
	next     load.Arrival
	state    arrivalState
	queue    bool
	looked   int64 // when Next last looked at them
	owed     int64 // this process missed what was due until then, and does not drop it

	free  []int32 // users
	place []int32 // of each user in free
}

// arrivalState is the state of the next arrival.
type arrivalState uint8

const (
	arrivalNone    arrivalState = iota // none is left
	arrivalFresh                       // it has found no free user yet, or is not due
	arrivalDelayed                     // it found no free user, and one has become free since
	arrivalAsleep                      // it found no free user
)

// owedAfter is by how much this process may miss an arrival. It owes an arrival that it misses
// by more, because it cannot know which users were free then.
const owedAfter = int64(5 * time.Millisecond)

func newArrivals(plan *message.WorkflowPlan, cfg *Config, users []user) *arrivals {
	a := &arrivals{
		schedule: load.NewArrivals(plan, cfg.Seed, cfg.FirstVU, cfg.VUs), queue: plan.Queue,
		free: make([]int32, 0, len(users)), place: make([]int32, len(users)),
	}
	for vu := range users {
		a.put(users, int32(vu), 0)
	}
	a.step(plan)
	return a
}

// step moves to the next arrival.
func (a *arrivals) step(plan *message.WorkflowPlan) {
	have := false
	a.next, have = a.schedule.Next()
	a.state = arrivalNone
	if have && (plan.Iterations == 0 || a.next.K < plan.Iterations) {
		a.state = arrivalFresh
	}
}

func (a *arrivals) put(users []user, vu int32, since int64) {
	users[vu].state, users[vu].next = userFree, since
	a.place[vu] = int32(len(a.free))
	a.free = append(a.free, vu)
}

// take removes a user from the free ones.
func (a *arrivals) take(vu int32) {
	last := a.free[len(a.free)-1]
	a.free[a.place[vu]], a.place[last] = last, a.place[vu]
	a.free = a.free[:len(a.free)-1]
}

func (a *arrivals) wake() int64 {
	if a.state == arrivalNone || a.state == arrivalAsleep {
		return Never
	}
	return int64(a.next.Due)
}

// arrive returns the next iteration that is due and has a user. An arrival that was due before
// the end and that this process missed may begin after it. If no user is free then, it is
// dropped.
func (d *Iterations) arrive(now int64) (Iteration, bool) {
	a := d.open
	if due := int64(a.next.Due); a.state != arrivalNone && due > a.looked && now-due > owedAfter {
		a.owed = now
	}
	a.looked = now
	for d.pausing.nextDue() <= now {
		s := d.pausing.pop()
		a.put(d.users, s.vu, s.due)
	}
	for a.state != arrivalNone && int64(a.next.Due) <= min(now, d.over-1) {
		due := int64(a.next.Due)
		vu := int32(a.next.User - d.first)
		switch {
		case d.users[vu].state == userFree:
		case len(a.free) > 0:
			vu = a.free[len(a.free)-1]
		case (a.queue || due <= a.owed) && now < d.over:
			a.state = arrivalAsleep
			return Iteration{}, false
		default:
			d.drop(vu, a.next.K)
			a.step(d.plan)
			continue
		}
		if a.state >= arrivalDelayed {
			d.figures.Waited++
		}
		a.take(vu)
		a.step(d.plan)
		d.figures.Active++
		return d.begin(vu, due, max(due, d.users[vu].next))
	}
	if now >= d.over {
		d.Stop(now)
	}
	return Iteration{}, false
}

// drop counts an iteration that never begins, at the steps with which it would have begun.
func (d *Iterations) drop(vu int32, k uint64) {
	d.figures.Lost++
	taken := int16(-1)
	if !d.mix.Empty() {
		taken = d.pick(vu, ^k) // it is none of the user's iterations
	}
	for i := range d.plan.Steps {
		s := &d.plan.Steps[i]
		first := s.Kind.Measured()
		if first && len(s.After)+len(s.Behind) == 0 && (s.Weight == 0 || int16(i) == taken) {
			d.figures.Dropped[i]++
		}
	}
}

// freed takes back the user of an iteration, at once or after its think time.
func (a *arrivals) freed(d *Iterations, vu int32, at, now int64) {
	d.figures.Active--
	switch {
	case d.stopped:
		d.leaves(vu)
	case at > now:
		d.users[vu].state, d.users[vu].next = userWaiting, at
		d.pausing.push(start{due: at, vu: vu})
	default:
		a.put(d.users, vu, now)
		if a.state == arrivalAsleep {
			a.state = arrivalDelayed
		}
	}
}

// stop counts what was due and has not begun.
func (a *arrivals) stop(d *Iterations, now int64) {
	for a.state != arrivalNone && int64(a.next.Due) <= min(now, d.over-1) {
		d.drop(int32(a.next.User-d.first), a.next.K)
		a.step(d.plan)
	}
	a.state = arrivalNone
}
