package engine

import (
	"iter"
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow"
)

// coroutine runs what may wait in the middle: a function of a workflow, a TLS handshake.
// It is made, resumed and ended by the loop's goroutine alone, so that only one of them
// all ever runs. What it wants done it leaves in its fields, for the loop to do on its
// own stack: that of a coroutine that waits is to stay small.
type coroutine struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool

	lane     lane // of its requests, and the alarm of its sleep
	exchange exchange
	index    int32
	want     want
	task
	late  int64 // its first request is sent so much later
	began int64 // its shard

	request *workflow.Request  // to be sent
	pause   time.Duration      // to be slept
	answer  *workflow.Response // its times are those of exchange
	take    bool

	secure *secure
	conn   ticket // of secure
	err    error
}

// task is what a coroutine does.
type task struct {
	due    int64 // of the step
	until  int64 // of a function beside the steps: it may run so long; 0: of a step
	vu     int32
	step   int16
	taken  int16 // the weighted step of the iteration that waits for a vu_setup
	job    job
	hook   workflow.Hook
	begins bool // an iteration waits for it
}

// turn is a coroutine that is ready, or a task that has none yet.
type turn struct {
	co *coroutine
	task
}

type job uint8

const (
	jobNone  job = iota
	jobCall      // a step's function
	jobWhen      // a step's condition
	jobHook      // a function beside the steps
	jobShake     // a TLS handshake
)

// want is why a coroutine does not run.
type want uint8

const (
	wantNothing want = iota // it has ended its job
	wantTurn                // it is ready
	wantSlice               // it is ready, but has had its time
	wantAnswer
	wantSleep
	wantRead
)

// sliceMax is how long a function may run before others get their turn, to about the
// interpreter's slice more.
const sliceMax = int64(500 * time.Microsecond)

// readyMax is how long functions run before the loop looks at its connections.
const readyMax = int64(2 * time.Millisecond)

// crowd are the coroutines of a loop.
type crowd struct {
	all    []*coroutine
	idle   []*coroutine
	bare   []*coroutine      // idle, and without a stack
	alive  int               // tasks that have not ended
	turns  queue.Queue[turn] // in order
	slices queue.Queue[turn] // for whom others come first: they have run for long, or wait for one that has
	onward queue.Queue[task] // that the coroutine which runs has brought about: it may go on with them
}

func (w *crowd) ready() bool { return w.turns.Len() > 0 || w.slices.Len() > 0 }

// take returns a coroutine that has nothing to do.
func (w *crowd) take(l *loop) *coroutine {
	if n := len(w.idle); n > 0 {
		co := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return co
	}
	if n := len(w.bare); n > 0 {
		co := w.bare[n-1]
		w.bare = w.bare[:n-1]
		l.enliven(co)
		return co
	}
	co := &coroutine{index: int32(len(l.lanes) + len(w.all))}
	co.lane.step, co.lane.conn, co.lane.home.index = none, none, none
	w.all = append(w.all, co)
	l.enliven(co)
	return co
}

// enliven gives a coroutine its stack.
func (l *loop) enliven(co *coroutine) {
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		for goOn := true; goOn; goOn = yield(struct{}{}) {
			l.work(co)
		}
	})
}

// idleStacks are kept for the next task. More are not: the collector copies stacks that are
// hardly used to smaller ones, and while it does so both are there.
const idleStacks = 1024

// release takes a coroutine back that has done its task.
func (w *crowd) release(co *coroutine) {
	if len(w.idle) >= idleStacks {
		co.stop()
		co.next, co.stop, co.yield = nil, nil, nil
		w.bare = append(w.bare, co)
		return
	}
	w.idle = append(w.idle, co)
}

// close ends all coroutines; none has anything to do.
func (w *crowd) close() {
	for _, co := range w.all {
		if co.stop != nil {
			co.stop()
		}
	}
}

// block suspends the coroutine that calls it.
func (co *coroutine) block(w want) {
	co.want = w
	co.yield(struct{}{})
}

// work does the task of a coroutine, in it, and then what that has brought about: most
// iterations need no more than one coroutine, suspended once for each request.
func (l *loop) work(co *coroutine) {
	for {
		out := l.perform(co)
		l.clock.Tick()
		l.ended(co, out)
		if co.job == jobShake || !l.goesOn(co) {
			co.job, co.want = jobNone, wantNothing
			return
		}
	}
}

// perform calls what a task is about.
func (l *loop) perform(co *coroutine) (out workflow.Outcome) {
	switch co.job {
	case jobCall:
		return l.script[co.vu].Call(int(co.step))
	case jobWhen:
		co.take, out = l.script[co.vu].When(int(co.step))
	case jobHook:
		return l.script[co.vu].Run(co.hook)
	case jobShake:
		co.err = co.secure.tls.Handshake()
	}
	return out
}

// goesOn gives a coroutine another task, if it has time left.
func (l *loop) goesOn(co *coroutine) bool {
	w := &l.coroutines
	if l.clock.Now-co.began >= sliceMax {
		return false
	}
	if w.onward.Len() == 0 && l.running {
		if p, ok := l.nextIteration(); ok {
			l.begin(p)
		}
	}
	if w.onward.Len() == 0 || !l.mayRun(w.onward.First().vu, co) {
		return false
	}
	l.assign(co, w.onward.Pop())
	return true
}

// assign gives a coroutine its task.
func (l *loop) assign(co *coroutine, t task) {
	co.task, co.late = t, 0
	if t.job == jobCall {
		co.late = max(0, l.clock.Now-t.due)
	}
}

// spawn makes a function ready to run.
func (l *loop) spawn(t task) {
	w := &l.coroutines
	w.alive++
	l.scriptOf(t.vu)
	if l.current != nil {
		w.onward.Push(t)
	} else {
		w.turns.Push(turn{task: t})
	}
}

// wake makes a coroutine ready.
func (l *loop) wake(co *coroutine) {
	co.want = wantTurn
	l.coroutines.turns.Push(turn{co: co})
}

// runReady runs those who are ready, in order. One that has used its shard runs again
// when all others had their turn.
func (l *loop) runReady() {
	w := &l.coroutines
	l.runTurns(l.clock.Now)
	l.runShakes()
	l.readMore()
	if w.slices.Len() > 0 {
		l.run1(w.slices.Pop())
	}
}

// runTurns runs those who are ready now, unless others have run for long enough since then.
func (l *loop) runTurns(began int64) {
	w := &l.coroutines
	for n := w.turns.Len(); n > 0 && l.clock.Now-began < readyMax; n-- {
		l.run1(w.turns.Pop())
	}
}

// run1 runs one, if no other function of the same virtual user is suspended in the middle
// of its code: those alternate only where they wait.
func (l *loop) run1(t turn) {
	w := &l.coroutines
	switch {
	case t.co != nil && l.mayRun(t.co.vu, t.co):
		l.resume(t.co)
	case t.co == nil && l.mayRun(t.vu, nil):
		co := w.take(l)
		l.assign(co, t.task)
		l.resume(co)
	default:
		w.slices.Push(t)
	}
}

func (l *loop) mayRun(vu int32, co *coroutine) bool {
	holder := l.users[vu].holder
	return holder == nil || holder == co
}

// resume runs a coroutine until it wants something, and does that.
func (l *loop) resume(co *coroutine) {
	co.began = l.clock.Now
	if co.job != jobShake {
		l.users[co.vu].holder = nil
	}
	before := l.current // only a handshake, which its connection's end makes end, is resumed by another coroutine
	l.current = co
	co.next()
	l.current = before
	w := &l.coroutines
	for before == nil && w.onward.Len() > 0 {
		w.turns.Push(turn{task: w.onward.Pop()})
	}
	switch co.want {
	case wantNothing:
		w.release(co)
		return
	case wantSlice:
		l.users[co.vu].holder = co
		w.slices.Push(turn{co: co})
	case wantAnswer:
		l.clock.Tick()
		l.ask(co)
	case wantSleep:
		l.clock.Tick()
		l.rest(co)
	case wantRead:
		l.suspended(co)
	}
}

// ended takes what a coroutine has done.
func (l *loop) ended(co *coroutine, out workflow.Outcome) {
	l.coroutines.alive--
	switch co.job {
	case jobCall:
		l.called(co, out)
	case jobWhen:
		l.decided(co, out)
	case jobHook:
		l.hooked(co, out)
	case jobShake:
		l.shaken(co.secure, co.conn, co.err)
		co.secure, co.err = nil, nil
	}
}
