package engine

import (
	"time"

	"hyperscale/core/load"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// drive says which virtual user begins which iteration, and when. It reads no clock and sends
// nothing: the loop asks it for what is to begin and tells it what has ended. Instants are
// nanoseconds since the run's base. Virtual users are numbered from 0 in this process.
type drive struct {
	plan    *message.WorkflowPlan
	first   uint64 // number of virtual user 0 in the whole workflow
	over    int64  // nothing new starts from then on
	once    bool   // one iteration of each virtual user
	limited bool   // by iterations
	left    uint64 // of them
	stopped bool   // over has come, or the run was cancelled
	pauses  bool   // users think, or keep a pace

	users   []driven
	active  uint64      // closed: users that have begun and not left; open: iterations under way
	busy    uint64      // iterations under way
	ready   fifo[start] // closed: users whose next iteration starts at once
	pausing schedule    // users who think or keep a pace

	crew crew      // of a closed workflow
	open *arrivals // of an open one, else nil
	draw uint64    // of random numbers: of the seed and the workflow
	mix  load.Mix

	begun   uint64         // iterations
	waited  uint64         // of those, the ones that were due while nobody was free
	lost    uint64         // iterations that were due and never began
	dropped []uint64       // the same by step of their beginning
	leave   func(vu int32) // a user has left; may be nil
}

// driven is what drive knows of one virtual user.
type driven struct {
	begun      int64  // when its last iteration was due
	next       int64  // waiting: when its next iteration is due; free: since when
	iterations uint64 // that it has begun
	state      driveState
	leaving    bool // behind its iteration
}

type driveState uint8

const (
	userAway driveState = iota // not begun, or left
	userFree                   // of an open workflow
	userWaiting
	userBusy
)

// iteration is one that begins now.
type iteration struct {
	vu     int32
	step   int16  // the weighted step that it takes; -1: there are none
	number uint64 // of its user, from 1
	due    int64  // its intended start
	could  int64  // from when on only this process was in its way
}

// newDrive reads the load of a workflow. The first starts of a closed one are spacing
// apart.
func newDrive(cfg Config, spacing time.Duration) *drive {
	plan := *cfg.Workflow.Plan
	plan.Steps = nil
	for _, s := range cfg.Workflow.Steps {
		plan.Steps = append(plan.Steps, *s.Plan)
	}
	plan.VUs = max(plan.VUs, cfg.FirstVU+cfg.VUs)
	if len(plan.Stages) == 0 {
		plan.Duration = cfg.Duration
	}
	d := &drive{
		plan: &plan, first: cfg.FirstVU, over: never, limited: plan.Iterations > 0,
		users: make([]driven, cfg.VUs), dropped: make([]uint64, len(plan.Steps)),
		pauses: plan.Think > 0 || plan.ThinkMax > 0 || plan.Pace > 0,
		draw:   node.MixString(node.Mix(cfg.Seed, 2), plan.Name), mix: load.NewMix(&plan),
	}
	if cfg.Duration > 0 {
		d.over = int64(cfg.Duration)
	}
	d.once = cfg.Duration == 0 && !d.limited
	d.left = load.NewSpread(plan.VUs).Share(plan.Iterations, cfg.FirstVU, cfg.VUs)
	if load.Open(&plan) {
		d.open = newArrivals(&plan, cfg, d.users)
		return d
	}
	d.crew = newCrew(&plan, cfg, int64(spacing))
	return d
}

// next returns an iteration that begins now. False means that none does before another call of
// ended, or the instant that wake tells.
func (d *drive) next(now int64) (iteration, bool) {
	if d.limited && d.left == 0 {
		d.stop(now)
	}
	if d.stopped {
		return iteration{}, false
	}
	if d.open != nil {
		return d.arrive(now)
	}
	if now >= d.over {
		d.stop(now)
		return iteration{}, false
	}
	if d.crew.up != d.crew.wanted || d.crew.change <= now {
		if vu, due, ok := d.recruit(now); ok {
			d.active++
			return d.begin(vu, due, due)
		}
	}
	for d.pausing.nextDue() <= now {
		if s := d.pausing.pop(); d.waits(s) {
			return d.begin(s.vu, s.due, s.due)
		}
	}
	for d.ready.len() > 0 {
		if s := d.ready.pop(); d.waits(s) {
			return d.begin(s.vu, s.due, s.due)
		}
	}
	return iteration{}, false
}

// spent says that no iteration begins any more, whatever the time is.
func (d *drive) spent() bool { return d.stopped || d.limited && d.left == 0 }

// waits tells whether what a queue says of a user still holds.
func (d *drive) waits(s start) bool {
	u := &d.users[s.vu]
	return u.state == userWaiting && u.next == s.due
}

// begin puts a user to work.
func (d *drive) begin(vu int32, due, could int64) (iteration, bool) {
	if d.limited {
		d.left--
	}
	u := &d.users[vu]
	u.state, u.begun = userBusy, due
	u.iterations++
	d.busy++
	d.begun++
	p := iteration{vu: vu, step: -1, number: u.iterations, due: due, could: could}
	if !d.mix.Empty() {
		p.step = d.pick(vu, u.iterations)
	}
	return p, true
}

// Purposes of random numbers.
const (
	drawMix = iota
	drawThink
)

// random is a function of the seed, the user and its iteration: it is the same in every process.
func (d *drive) random(purpose uint64, vu int32, number uint64) uint64 {
	return node.Mix(node.Mix(d.draw+purpose, d.first+uint64(vu)), number)
}

func (d *drive) pick(vu int32, number uint64) int16 {
	return int16(d.mix.Pick(d.random(drawMix, vu, number)))
}

// pause is when a user may begin again that has ended an iteration now.
func (d *drive) pause(vu int32, now int64) int64 {
	u := &d.users[vu]
	think := int64(d.plan.Think)
	if spread := int64(d.plan.ThinkMax) - think; spread > 0 {
		think += int64(d.random(drawThink, vu, u.iterations) % uint64(spread+1))
	}
	return max(now+think, u.begun+int64(d.plan.Pace))
}

// ended takes the end of a user's iteration.
func (d *drive) ended(vu int32, now int64) {
	u := &d.users[vu]
	d.busy--
	at := now
	if d.pauses {
		at = d.pause(vu, now)
	}
	switch {
	case d.open != nil:
		d.open.freed(d, vu, at, now)
	case u.leaving || d.stopped || now >= d.over || d.once || d.limited && d.left == 0:
		d.leaves(vu)
	default:
		u.state, u.next = userWaiting, at
		if at > now {
			d.pausing.push(start{due: at, vu: vu})
		} else {
			d.ready.push(start{due: at, vu: vu})
		}
	}
}

func (d *drive) leaves(vu int32) {
	u := &d.users[vu]
	u.state, u.leaving = userAway, false
	if d.open == nil {
		d.active--
	}
	if d.leave != nil {
		d.leave(vu)
	}
}

// stop ends all those who wait: from now on nothing begins.
func (d *drive) stop(now int64) {
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
	d.ready, d.pausing = fifo[start]{}, nil
}

// abandon is the stop of who gives up what is under way too.
func (d *drive) abandon(now int64) {
	d.stop(now)
	d.active, d.busy = 0, 0
}

// done tells that no iteration is under way and none will be.
func (d *drive) done() bool {
	return d.busy == 0 && (d.spent() || d.once && d.crew.exhausted())
}

// wake is when next has to be asked again, if nothing ends before.
func (d *drive) wake() int64 {
	switch {
	case d.stopped:
		return never
	case d.open != nil:
		return min(d.over, d.pausing.nextDue(), d.open.wake())
	case d.ready.len() > 0:
		return 0
	}
	return min(d.over, d.pausing.nextDue(), d.crew.wake())
}
