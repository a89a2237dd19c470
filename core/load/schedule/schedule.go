package schedule

import (
	"time"

	"hyperscale/core/load"
	"hyperscale/core/load/queue"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Never is an instant that never arrives.
const Never = 1<<63 - 1

// Config is the load of a workflow, and one process's share of it.
type Config struct {
	Plan     *message.WorkflowPlan // with its steps
	FirstVU  uint64                // number of user 0 in the whole workflow
	VUs      uint64                // users of this process
	Seed     uint64
	Duration time.Duration // nothing new starts after it; 0: one iteration of each user, or as many as the plan says
	Spacing  time.Duration // between the first starts of a closed workflow
}

// Iterations says which virtual user begins which iteration, and when. A caller asks Next what
// begins, and reports with Ended what has ended. Instants are nanoseconds since the run's base.
// A process numbers its virtual users from 0.
type Iterations struct {
	plan    *message.WorkflowPlan
	first   uint64 // number of virtual user 0 in the whole workflow
	over    int64  // nothing new starts after that
	quota   quota
	stopped bool // the time is over, or the run was cancelled
	held    bool // no user begins that need not
	pauses  bool // users think, or keep a pace

	users   []user
	left    []int32            // users that have left since the last call of Left
	busy    uint64             // iterations in progress
	ready   queue.Queue[start] // closed: users whose next iteration starts at once
	pausing heap               // users that think or keep a pace

	closed activeUsers // of a closed workflow
	open   *arrivals   // of an open one, else nil
	draw   uint64      // of random numbers: of the seed and the workflow
	mix    load.Mix

	figures Figures
}

// quota bounds how many iterations this process begins.
type quota struct {
	once    bool   // one of each virtual user
	limited bool   // by the plan
	left    uint64 // of these
	each    uint64 // of one virtual user; 0: they share them
}

// used reports that a limit has no iteration left.
func (q *quota) used() bool { return q.limited && q.left == 0 }

// spent reports that a user has no iteration left of its own.
func (q *quota) spent(u *user) bool { return q.each > 0 && u.iterations >= q.each }

// Figures count what has begun, and what has not.
type Figures struct {
	Active  uint64   // closed: users that have begun and not left; open: iterations in progress
	Begun   uint64   // iterations
	Waited  uint64   // those that were due while no user was free
	Lost    uint64   // iterations that were due and never began
	Missed  uint64   // those that were due before this process joined the schedule
	Dropped []uint64 // lost iterations by the step with which they would have begun
	Held    uint64   // begins of users that a hold put off: closed: most at once; open: iterations that got no new user
}

// user is one virtual user.
type user struct {
	begun      int64  // when its last iteration was due
	next       int64  // waiting: when its next iteration is due; free: since when
	iterations uint64 // number of iterations that it has begun
	state      userState
	leaving    bool // after its iteration
}

type userState uint8

const (
	userAway userState = iota // it has not begun, or has left
	userFree                  // of an open workflow
	userWaiting
	userBusy
)

// Iteration is one that begins now.
type Iteration struct {
	VU     int32
	Step   int16  // the weighted step that it takes; -1: none
	Number uint64 // of its user, from 1
	Due    int64  // its intended start
	Could  int64  // from then on only this process delayed it
}

// New returns the schedule of a workflow's load.
func New(cfg Config) *Iterations {
	plan := *cfg.Plan
	plan.VUs = max(plan.VUs, cfg.FirstVU+cfg.VUs)
	if len(plan.Stages) == 0 {
		plan.Duration = cfg.Duration
	}
	cfg.Plan = &plan
	d := &Iterations{
		plan: &plan, first: cfg.FirstVU, over: Never,
		users: make([]user, cfg.VUs), figures: Figures{Dropped: make([]uint64, len(plan.Steps))},
		pauses: plan.Think > 0 || plan.ThinkMax > 0 || plan.Pace > 0,
		draw:   node.MixString(node.Mix(cfg.Seed, 2), plan.Name), mix: load.NewMix(&plan),
	}
	if cfg.Duration > 0 {
		d.over = int64(cfg.Duration)
	}
	d.quota.limited, d.quota.each = plan.Iterations > 0, plan.UserIterations
	d.quota.once = cfg.Duration == 0 && !d.quota.limited
	d.quota.left = load.NewSpread(plan.VUs).Share(plan.Iterations, cfg.FirstVU, cfg.VUs)
	if load.Open(&plan) {
		d.open = newArrivals(&plan, &cfg, d.users)
		return d
	}
	d.closed = newActiveUsers(&cfg)
	return d
}

// Open reports whether iterations begin as arrivals are due, not when users are free.
func (d *Iterations) Open() bool { return d.open != nil }

// Figures returns the counts so far. Dropped is the schedule's own.
func (d *Iterations) Figures() Figures { return d.figures }

// Left returns the users that have left since its last call. The slice is valid until the next
// call that changes anything.
func (d *Iterations) Left() []int32 {
	all := d.left
	d.left = d.left[:0]
	return all
}

// Next returns an iteration that begins now. False means that none begins before the next call
// of Ended, or the instant that Wake returns.
func (d *Iterations) Next(now int64) (Iteration, bool) {
	if d.quota.used() {
		d.Stop(now)
	}
	if d.stopped {
		return Iteration{}, false
	}
	if d.open != nil {
		return d.arrive(now)
	}
	if now >= d.over {
		d.Stop(now)
		return Iteration{}, false
	}
	if d.holds() {
		d.noteHeld(now)
	}
	for !d.holds() && d.closed.up < d.closed.wanted || d.closed.up > d.closed.wanted || d.closed.change <= now {
		vu, due, ok := d.recruit(now)
		if !ok {
			break
		}
		if d.quota.spent(&d.users[vu]) {
			continue
		}
		d.figures.Active++
		if d.plan.Jitter == 0 {
			return d.begin(vu, due, due)
		}
		u := &d.users[vu]
		u.state, u.next = userWaiting, due+int64(d.random(drawJitter, vu, u.iterations)%uint64(d.plan.Jitter))
		d.pausing.push(start{due: u.next, vu: vu})
	}
	for d.pausing.nextDue() <= now {
		if s := d.pausing.pop(); d.waits(s) {
			return d.begin(s.vu, s.due, s.due)
		}
	}
	for d.ready.Len() > 0 {
		if s := d.ready.Pop(); d.waits(s) {
			return d.begin(s.vu, s.due, s.due)
		}
	}
	return Iteration{}, false
}

// Spent reports that no iteration will ever begin.
func (d *Iterations) Spent() bool { return d.stopped || d.quota.used() }

// waits reports whether a queue entry of a user is still valid.
func (d *Iterations) waits(s start) bool {
	u := &d.users[s.vu]
	return u.state == userWaiting && u.next == s.due
}

// begin starts an iteration of a user.
func (d *Iterations) begin(vu int32, due, could int64) (Iteration, bool) {
	if d.quota.limited {
		d.quota.left--
	}
	u := &d.users[vu]
	u.state, u.begun = userBusy, due
	u.iterations++
	d.busy++
	d.figures.Begun++
	p := Iteration{VU: vu, Step: -1, Number: u.iterations, Due: due, Could: could}
	if !d.mix.Empty() {
		p.Step = d.pick(vu, u.iterations)
	}
	return p, true
}

// Purposes of random numbers.
const (
	drawMix = iota
	drawThink
	drawJitter
)

// random is a function of the seed, the user and its iteration, equal in every process.
func (d *Iterations) random(purpose uint64, vu int32, number uint64) uint64 {
	return node.Mix(node.Mix(d.draw+purpose, d.first+uint64(vu)), number)
}

func (d *Iterations) pick(vu int32, number uint64) int16 {
	return int16(d.mix.Pick(d.random(drawMix, vu, number)))
}

// pause returns when a user may begin again that ends an iteration now.
func (d *Iterations) pause(vu int32, now int64) int64 {
	u := &d.users[vu]
	think := int64(d.plan.Think)
	if spread := int64(d.plan.ThinkMax) - think; spread > 0 {
		think += int64(d.random(drawThink, vu, u.iterations) % uint64(spread+1))
	}
	return max(now+think, u.begun+int64(d.plan.Pace))
}

// Ended takes the end of a user's iteration.
func (d *Iterations) Ended(vu int32, now int64) {
	u := &d.users[vu]
	d.busy--
	at := now
	if d.pauses {
		at = d.pause(vu, now)
	}
	switch {
	case d.open != nil:
		d.open.freed(d, vu, at, now)
	case u.leaving || d.stopped || now >= d.over || d.quota.once || d.quota.used() || d.quota.spent(u):
		d.leaves(vu)
	default:
		u.state, u.next = userWaiting, at
		if at > now {
			d.pausing.push(start{due: at, vu: vu})
		} else {
			d.ready.Push(start{due: at, vu: vu})
		}
	}
}

func (d *Iterations) leaves(vu int32) {
	u := &d.users[vu]
	u.state, u.leaving = userAway, false
	if d.open == nil {
		d.figures.Active--
	}
	d.left = append(d.left, vu)
}

// Stop ends all waiting: nothing begins after that.
func (d *Iterations) Stop(now int64) {
	if d.stopped {
		return
	}
	d.stopped = true
	if d.open != nil {
		d.open.stop(d, now)
	}
	for vu := range d.users {
		if s := d.users[vu].state; s == userWaiting || s == userFree {
			d.leaves(int32(vu))
		}
	}
	d.ready, d.pausing = queue.Queue[start]{}, nil
}

// Abandon stops like Stop, for a caller that also gives up what is in progress.
func (d *Iterations) Abandon(now int64) {
	d.Stop(now)
	d.figures.Active, d.busy = 0, 0
}

// Done reports that no iteration is in progress and none will be.
func (d *Iterations) Done() bool {
	return d.busy == 0 && (d.Spent() || d.quota.once && d.closed.exhausted() && len(d.pausing) == 0)
}

// Wake returns when to call Next again, if nothing ends before.
func (d *Iterations) Wake() int64 {
	switch {
	case d.stopped:
		return Never
	case d.open != nil:
		return min(d.over, d.pausing.nextDue(), d.open.wake())
	case d.ready.Len() > 0:
		return 0
	}
	if d.holds() {
		return min(d.over, d.pausing.nextDue(), d.closed.change)
	}
	return min(d.over, d.pausing.nextDue(), d.closed.wake())
}
