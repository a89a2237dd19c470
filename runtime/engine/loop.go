package engine

import (
	"context"
	"fmt"
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/epoll"
)

const (
	eventsMax = 256 // of one wait
	batchMax  = 128 // starts between two waits: others must not starve
)

// loop runs a workflow on one goroutine, and the coroutines that it resumes itself: none
// of it is locked.
type loop struct {
	parts
	events    []epoll.Event
	hooks     int   // functions beside the steps that have not begun
	asked     int64 // when Config.Over was last asked
	reporter  *measure.Reporter
	reporting int64 // when figures are next reported
}

// parts are what a loop turns: each of them reaches the others.
type parts struct {
	*pool.Connections
	cfg        *Config
	g          *graph
	gen        measure.Generator
	course     course
	iterations iterations
	users      users
	requests   requests
	functions  functions
}

// course is how far a run is.
type course struct {
	*parts
	running bool  // the clock runs: iterations begin
	over    int64 // nothing new starts from then on
	hard    int64 // what is in flight then is cancelled
	fault   error // why the run was cancelled, if it was our own doing
}

func newLoop(cfg Config, g *graph) (*loop, error) {
	dealt, err := newRows(cfg)
	if err != nil {
		return nil, err
	}
	conns, err := pool.NewConnections(pool.Options{
		Workflow: cfg.Workflow, FirstVU: cfg.FirstVU, VUs: cfg.VUs, Slots: cfg.VUs * uint64(g.slots), Seed: cfg.Seed, Hosts: g.hosts, Names: g.names,
	})
	if err != nil {
		return nil, err
	}
	l := &loop{events: make([]epoll.Event, eventsMax), reporter: measure.NewReporter(cfg.Progress), asked: -int64(overEvery), reporting: pool.Never}
	l.Connections, l.cfg, l.g = conns, &cfg, g
	p := &l.parts
	conns.Requests = &p.requests
	p.course = course{parts: p, over: pool.Never, hard: pool.Never}
	p.iterations = iterations{parts: p, schedule: schedule.New(loadOf(cfg)), rows: dealt}
	p.users = users{parts: p, users: make([]user, cfg.VUs+1), states: make([]stepState, (cfg.VUs+1)*uint64(len(g.steps)))}
	p.requests = newRequests(p)
	p.functions = functions{parts: p, scripts: func(id uint64, c workflow.Client) script { return cfg.Workflow.NewVU(id, cfg.Seed, c) }}
	if g.scripted {
		p.functions.script = make([]script, cfg.VUs+1)
	}
	return l, nil
}

// play runs the workflow from its setup to its teardown, and leaves nothing behind.
func (l *loop) play(ctx context.Context) (*message.ExecResult, error) {
	defer l.close()
	l.Dialer.Resolver.Open(ctx, l.Sockets.Poller, l.g.names)
	watched := make(chan struct{})
	stopWatching := context.AfterFunc(ctx, func() {
		defer close(watched)
		l.Halt.Cancelled.Store(true)
		_ = l.Sockets.Poller.Wake() // it cannot fail while the poller is open
	})
	defer func() {
		if !stopWatching() {
			<-watched // it may be about to use the poller
		}
	}()
	err := l.run()
	if err != nil {
		return nil, fmt.Errorf("run workflow %q: %w", l.g.name, err)
	}
	ended := time.Duration(l.Clock.Now)
	l.gen.Finish(ended)
	gen := l.gen // what comes now is not measured
	if err := l.cleanUp(); err != nil {
		l.functions.log(err.Error())
	}
	l.tellResumed()
	out := measure.Judge(l.snapshot(&gen, ended), l.Halt.Cancelled.Load())
	if l.functions.script != nil && l.functions.script[l.functions.own()] != nil {
		out.Provided = l.functions.script[l.functions.own()].Provided()
	}
	if l.course.fault != nil {
		out.State, out.Error, out.Provided = message.WorkflowFailed, l.course.fault.Error(), nil
	}
	return out, nil
}

func (l *loop) close() {
	for at := range l.Sockets.Conns.N {
		l.Sockets.HangUp(at)
	}
	l.Coroutines.Close()
	l.Dialer.Resolver.Close()
	l.iterations.rows.forget()
	_ = l.Sockets.Poller.Close() // nothing is left in it
	l.reporter.Close()
}

// run does what is measured, and before it the setup.
func (l *loop) run() error {
	l.Clock.Tick()
	if err := l.setUp(); err != nil {
		return err
	}
	if err := l.firstRows(); err != nil {
		return err
	}
	l.begins()
	for !l.iterations.schedule.Done() {
		if l.stops() {
			break
		}
		l.startDue()
		if err := l.turn(min(l.reporting, l.course.hard)); err != nil {
			return err
		}
		l.housekeep()
		if l.Clock.Now >= l.course.hard {
			break
		}
	}
	l.course.running = false
	l.giveUp()
	l.iterations.schedule.Abandon(l.Clock.Tick())
	l.iterations.hangUpLeft()
	return nil
}

// begins starts the clock. Nothing is in flight then.
func (l *loop) begins() {
	l.Clock = measure.Clock{Base: time.Now()}
	l.Slots.Quiet()
	//lint:orderfree each host by itself
	for _, h := range l.Dialer.Hosts {
		h.ResolvedAt(0)
	}
	l.course.running = true
	l.gen, l.asked = measure.Generator{}, -int64(overEvery)
	if l.cfg.Duration > 0 {
		l.course.over, l.course.hard = int64(l.cfg.Duration), int64(l.cfg.Duration+gracefulStop(*l.cfg))
	}
	if l.reporter != nil {
		l.reporting = int64(progressEvery)
	}
	if l.cfg.Started != nil {
		l.cfg.Started()
	}
	l.Clock.Tick()
}

// turn does what is ready, and waits for more until then.
func (l *loop) turn(until int64) error {
	l.drain()
	l.functions.runReady()
	l.Pools.SettlePools()
	n, err := l.wait(until)
	if err != nil {
		return err
	}
	if n > 0 && l.stops() {
		return nil
	}
	began := l.Clock.Now
	for i := range n {
		l.Sockets.Handle(&l.events[i])
		l.drain()
		l.functions.runTurns(began) // while what they wait for is at hand
		l.Pools.SettlePools()
	}
	for id, ok := l.Slots.Wheel.Expire(l.Clock.Now); ok; id, ok = l.Slots.Wheel.Expire(l.Clock.Now) {
		l.Wire.Expire(id)
	}
	l.Pools.SettlePools()
	return nil
}

// stops asks whether the run may go on: after every wait, which may have been long
// if this process was stopped, but not so often that it costs.
func (l *loop) stops() bool {
	if l.cfg.Over != nil && l.Clock.Now-l.asked >= int64(overEvery) {
		l.asked = l.Clock.Now
		if l.cfg.Over() {
			l.Halt.Cancelled.Store(true)
		}
	}
	return l.Halt.Cancelled.Load()
}

// wait first asks without blocking, so that only true idleness counts as idle.
func (l *loop) wait(until int64) (int, error) {
	n, err := l.Sockets.Poller.Wait(l.events, 0)
	if n > 0 || err != nil {
		l.Clock.Tick()
		return n, err
	}
	before := l.Clock.Tick()
	timeout := l.timeout(until)
	if timeout <= 0 {
		return 0, nil
	}
	if l.cfg.Alone {
		n, err = l.Sockets.Poller.Doze(l.events, timeout)
	} else {
		n, err = l.Sockets.Poller.Block(l.events, timeout)
	}
	l.gen.Idle += time.Duration(l.Clock.Tick() - before)
	return n, err
}

// timeout is how long nothing is due.
func (l *loop) timeout(until int64) time.Duration {
	if len(l.Slots.Broken) > 0 || l.functions.turns.any() || l.Handshakes.Ready.Len() > 0 || len(l.Sockets.Unread) > 0 || l.settled() {
		return 0
	}
	if l.course.running { // what has just run may have ended iterations
		until = min(until, l.iterations.nextStart())
	}
	left := time.Duration(until - l.Clock.Now)
	if timer := l.Slots.Wheel.Timeout(l.Clock.Now); timer >= 0 {
		left = min(left, timer)
	}
	// The end of a second is judged on time also when nothing happens.
	return min(left, time.Second)
}

// settled tells that nothing is under way and nothing will be.
func (l *loop) settled() bool {
	if l.course.running {
		return l.iterations.schedule.Done()
	}
	return l.hooks == 0 && l.Coroutines.Alive == 0
}

// startDue begins the iterations whose time has come.
func (l *loop) startDue() {
	for range batchMax {
		p, ok := l.iterations.nextIteration()
		if !ok {
			break
		}
		l.users.begin(p)
		l.Clock.Tick()
	}
}

// hangUpLeft closes the connections of the users who have left, unless their teardown may
// want them.
func (b *iterations) hangUpLeft() {
	left := b.schedule.Left()
	if len(left) == 0 || b.cfg.Workflow.Has(workflow.HookVUTeardown) {
		return
	}
	for _, vu := range left {
		b.Sockets.HangUpAll(vu)
	}
}

// nextStart is when the next iteration may begin.
func (b *iterations) nextStart() int64 {
	if b.awaitsRow {
		return b.course.over // unless rows come, which wakes the loop
	}
	return b.schedule.Wake()
}

// drain ends what broke and starts what is ready, each once: what that brings about
// waits for the next turn.
func (l *loop) drain() {
	if n := len(l.Slots.Broken); n > 0 {
		for i := range n {
			l.Wire.Fail(l.Slots.Broken[i].Slot, l.Slots.Broken[i].Err)
		}
		l.Slots.Broken = append(l.Slots.Broken[:0], l.Slots.Broken[n:]...)
	}
	if !l.course.running {
		return
	}
	for range batchMax {
		p, ok := l.iterations.nextIteration()
		if !ok {
			break
		}
		l.users.begin(p)
	}
}

func (l *loop) housekeep() {
	l.gen.Turn(time.Duration(l.Clock.Now))
	if l.Clock.Now >= l.reporting {
		l.reporting = l.Clock.Now + int64(progressEvery)
		l.reporter.Report(l.snapshot(&l.gen, time.Duration(l.Clock.Now)))
	}
}

// tellResumed says in the result how many connections took up a session.
func (l *loop) tellResumed() {
	if l.cfg.Workflow.HTTP.TLS.Resume && l.Handshakes.Secured > 0 {
		l.functions.log(fmt.Sprintf("tls: %d of %d connections resumed a session", l.Handshakes.Resumed, l.Handshakes.Secured))
	}
}
