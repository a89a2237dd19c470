package engine

import (
	"runtime"
	"time"

	"hyperscale/core/stats"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/program"
	"hyperscale/runtime/epoll"
)

const (
	eventsMax = 256 // of one wait
	batchMax  = 128 // starts between two waits, so that connections do not starve
)

// loop runs a workflow on one goroutine, with the coroutines that it resumes itself, so it
// needs no locks.
type loop struct {
	parts
	events    []epoll.Event
	hooks     int   // functions beside the steps that have not begun
	asked     int64 // when it last called Config.Over
	reporter  *measure.Reporter
	breath    breath
	reporting int64          // when it reports figures next
	programs  *program.Fleet // nil: the run has no custom program
}

// breath is when a loop last let other goroutines run. A loop that never does is interrupted by a signal each 10 ms,
// and before each the scheduler's monitor wakes some fifty times: that cost 3 to 9 % of the processor on a busy machine.
type breath struct{ at int64 }

// breathEvery is half of the time after which the scheduler interrupts a goroutine. Less only costs more often.
const breathEvery = 5 * time.Millisecond

func (b *breath) take(now int64) {
	if now-b.at >= int64(breathEvery) {
		b.at = now
		runtime.Gosched()
	}
}

// parts are the parts of a loop: each reaches the others.
type parts struct {
	*pool.Connections
	cfg        *Config
	g          *graph
	gen        measure.Generator
	activity   stats.Activity
	course     course
	iterations iterations
	users      users
	requests   requests
	functions  functions
	counters   counters
	gates      gates
	sessions   sessions
}

// course is the progress of a run.
type course struct {
	*parts
	running bool          // the clock runs: iterations begin
	joined  int64         // when it joined a workflow that had run before
	late    time.Duration // the workflow's time when the load began anew
	over    int64         // nothing new starts after that
	hard    int64         // what is in flight then is cancelled
	fault   error         // why the engine itself cancelled the run
}

// turn does what is ready, and waits for more until then.
func (l *loop) turn(until int64) error {
	if l.cfg.Turned != nil {
		l.cfg.Turned()
		until = min(until, l.Clock.Now+int64(progressEvery))
	}
	failed := l.programs != nil && l.programs.Fault() != nil
	if l.drain(); failed && l.course.fault == nil { // its calls have failed by now
		l.course.fault = l.programs.Fault()
		l.Halt.Cancelled.Store(true)
	}
	l.counters.serve()
	l.gates.serve()
	l.functions.runReady()
	l.Pools.SettlePools()
	l.Wire.FlushQueued()
	l.Wire.Stir()
	n, err := l.wait(until)
	if err != nil {
		return err
	}
	l.breath.take(l.Clock.Now)
	if n > 0 && l.stops() {
		return nil
	}
	began := l.Clock.Now
	for i := range n {
		l.Sockets.Handle(&l.events[i])
		l.drain()
		l.functions.runTurns(began) // right after the event that they wait for
		l.Wire.FlushQueued()
		l.Pools.SettlePools()
	}
	for id, ok := l.Slots.Wheel.Expire(l.Clock.Now); ok; id, ok = l.Slots.Wheel.Expire(l.Clock.Now) {
		l.Wire.Expire(id)
	}
	l.Wire.Beat()
	l.Pools.SettlePools()
	return nil
}

// stops checks whether the run must stop: after every wait, which may have been long if this
// process was stopped, but seldom enough to cost nothing.
func (l *loop) stops() bool {
	if l.cfg.Over != nil && l.Clock.Now-l.asked >= int64(overEvery) {
		l.asked = l.Clock.Now
		if l.cfg.Over() {
			l.Halt.Cancelled.Store(true)
		}
	}
	return l.Halt.Cancelled.Load()
}

// wait first polls without blocking, so that only real idle time counts as idle.
func (l *loop) wait(until int64) (int, error) {
	n, err := l.Sockets.Poller.Wait(l.events, 0)
	if n > 0 || err != nil {
		l.Clock.Tick()
		return n, err
	}
	l.Clock.Tick()
	timeout := l.timeout(until)
	if timeout <= 0 || !l.Wire.Calm() {
		return 0, nil
	}
	before := l.Clock.Tick() // what goroutines did in Calm is no idle time
	switch {
	case l.Wire.Accompanied():
		n, err = l.Sockets.Poller.Rest(l.events, timeout)
	case l.cfg.Alone:
		n, err = l.Sockets.Poller.Doze(l.events, timeout)
	default:
		n, err = l.Sockets.Poller.Block(l.events, timeout)
	}
	l.gen.Idle += time.Duration(l.Clock.Tick() - before)
	return n, err
}

// timeout returns how long nothing is due.
func (l *loop) timeout(until int64) time.Duration {
	if len(l.Slots.Broken) > 0 || l.functions.turns.any() || l.Handshakes.Ready.Len() > 0 || len(l.Sockets.Unread) > 0 || l.settled() {
		return 0
	}
	if l.course.running { // what has just run may have ended iterations
		until = min(until, l.iterations.nextStart())
	}
	left := time.Duration(l.gates.due(until) - l.Clock.Now)
	if timer := l.Slots.Wheel.Timeout(l.Clock.Now); timer >= 0 {
		left = min(left, timer)
	}
	if beat := l.Wire.NextBeat(); beat >= 0 {
		left = min(left, beat)
	}
	// The end of a second is judged on time even if nothing happens.
	return min(left, time.Second)
}

// settled reports that nothing is in flight and nothing will be.
func (l *loop) settled() bool {
	if l.course.running {
		return l.iterations.schedule.Done()
	}
	return l.hooks == 0 && l.Coroutines.Alive == 0
}

// startDue begins the iterations that are due.
func (l *loop) startDue() {
	if l.cfg.Throttled != nil {
		l.iterations.schedule.Hold(l.cfg.Throttled(), l.Clock.Now)
	}
	for range batchMax {
		p, ok := l.iterations.nextIteration()
		if !ok {
			break
		}
		l.users.begin(p)
		l.Wire.FlushQueued()
		l.Clock.Tick()
	}
}

// drain ends what broke and starts what is ready, each once: what follows waits for the next
// turn.
func (l *loop) drain() {
	l.Wire.FlushQueued()
	l.failBroken()
	if !l.course.running {
		return
	}
	for range batchMax {
		p, ok := l.iterations.nextIteration()
		if !ok {
			break
		}
		l.users.begin(p)
		l.Wire.FlushQueued()
	}
}

// failBroken ends the requests that have failed up to now.
func (l *loop) failBroken() {
	n := len(l.Slots.Broken)
	for i := range n {
		l.Wire.Fail(l.Slots.Broken[i].Slot, l.Slots.Broken[i].Err)
	}
	l.Slots.Broken = append(l.Slots.Broken[:0], l.Slots.Broken[n:]...)
}

func (l *loop) housekeep() {
	d := l.iterations.schedule.Figures()
	l.activity.Turn(time.Duration(l.Clock.Now), d.Active, d.Begun, d.Lost)
	l.gen.Turn(time.Duration(l.Clock.Now))
	if l.Clock.Now >= l.reporting {
		l.reporting = l.Clock.Now + int64(progressEvery)
		l.reporter.Report(l.snapshot(&l.gen, time.Duration(l.Clock.Now)))
	}
}
