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

	free  []int32 // users that have begun before
	fresh []int32 // users that have not
	place []int32 // of each user in free or fresh
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
		free: make([]int32, 0, len(users)), fresh: make([]int32, 0, len(users)), place: make([]int32, len(users)),
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
	list := a.of(&users[vu])
	a.place[vu] = int32(len(*list))
	*list = append(*list, vu)
}

// of is the list of free users in which a user is.
func (a *arrivals) of(u *user) *[]int32 {
	if u.iterations == 0 {
		return &a.fresh
	}
	return &a.free
}

// take removes a user from the free ones.
func (a *arrivals) take(users []user, vu int32) {
	list := a.of(&users[vu])
	end := len(*list) - 1
	last := (*list)[end]
	(*list)[a.place[vu]], a.place[last] = last, a.place[vu]
	*list = (*list)[:end]
}

// choose returns the user of the next arrival: its own, or else one that is free. Held says that
// a hold lets no new user begin.
func (a *arrivals) choose(d *Iterations) (vu int32, free, held bool) {
	own := int32(a.next.User - d.first)
	held = d.held && (d.figures.Active > 0 || len(a.free) > 0)
	switch {
	case d.users[own].state == userFree && (!held || d.users[own].iterations > 0):
		return own, true, false
	case len(a.free) > 0:
		return a.free[len(a.free)-1], true, false
	case !held && len(a.fresh) > 0:
		return a.fresh[len(a.fresh)-1], true, false
	}
	return own, false, held && len(a.fresh) > 0
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
		vu, free, held := a.choose(d)
		if held && a.state == arrivalFresh {
			d.figures.Held++
		}
		switch {
		case free:
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
		a.take(d.users, vu)
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
