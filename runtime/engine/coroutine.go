package engine

import (
	"iter"
	"time"

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

	lane  lane // of its requests, and the alarm of its sleep
	index int32
	want  want
	job   job
	hook  workflow.Hook
	vu    int32
	step  int
	due   int64 // of the step
	late  int64 // its first request is sent so much later
	until int64 // of a function beside the steps: it may run so long; 0: of a step
	began int64 // its slice
	pass  pass  // that waits for a vu_setup

	request *workflow.Request // to be sent
	pause   time.Duration     // to be slept
	answer  *workflow.Response
	times   times // of the answer
	out     workflow.Outcome
	take    bool

	secure *secure
	conn   ticket // of secure
	err    error
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
	alive  int              // not idle
	turns  fifo[*coroutine] // ready
	slices fifo[*coroutine] // ready, and for long
}

func (w *crowd) ready() bool { return w.turns.len() > 0 || w.slices.len() > 0 }

// take returns a coroutine that has nothing to do.
func (w *crowd) take(l *loop) *coroutine {
	w.alive++
	if n := len(w.idle); n > 0 {
		co := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return co
	}
	co := &coroutine{index: int32(len(l.lanes) + len(w.all))}
	co.lane.step, co.lane.conn = none, none
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		for {
			l.work(co)
			co.want = wantNothing
			if !yield(struct{}{}) {
				return
			}
		}
	})
	w.all = append(w.all, co)
	return co
}

// close ends all coroutines; none has anything to do.
func (w *crowd) close() {
	for _, co := range w.all {
		co.stop()
	}
}

// block suspends the coroutine that calls it.
func (co *coroutine) block(w want) {
	co.want = w
	co.yield(struct{}{})
}

// work does the job of a coroutine, in it.
func (l *loop) work(co *coroutine) {
	switch co.job {
	case jobCall:
		co.out = l.script[co.vu].Call(co.step)
	case jobWhen:
		co.take, co.out = l.script[co.vu].When(co.step)
	case jobHook:
		co.out = l.script[co.vu].Run(co.hook)
	case jobShake:
		co.err = co.secure.tls.Handshake()
	}
}

// spawn makes a coroutine ready that runs a function.
func (l *loop) spawn(j job, vu int32, step int, due int64) *coroutine {
	co := l.coroutines.take(l)
	co.job, co.vu, co.step, co.due = j, vu, step, due
	co.late, co.until = 0, 0
	if j == jobCall {
		co.late = max(0, l.now-due)
	}
	l.scriptOf(vu)
	l.wake(co)
	return co
}

// wake makes a coroutine ready.
func (l *loop) wake(co *coroutine) {
	co.want = wantTurn
	l.coroutines.turns.push(co)
}

// runReady runs those who are ready, in order. One that has used its slice runs again
// when all others had their turn.
func (l *loop) runReady() {
	w := &l.coroutines
	began := l.now
	for n := w.turns.len(); n > 0 && l.now-began < readyMax; n-- {
		if co := w.turns.pop(); l.mayRun(co) {
			l.resume(co)
		} else {
			w.slices.push(co)
		}
	}
	l.runShakes()
	l.readMore()
	if w.slices.len() > 0 {
		if co := w.slices.pop(); l.mayRun(co) {
			l.resume(co)
		} else {
			w.slices.push(co)
		}
	}
}

// mayRun tells whether no other function of the same virtual user is suspended in the
// middle of its code: those alternate only where they wait.
func (l *loop) mayRun(co *coroutine) bool {
	holder := l.users[co.vu].holder
	return holder == nil || holder == co
}

// resume runs a coroutine until it wants something, and does that.
func (l *loop) resume(co *coroutine) {
	co.began = l.now
	if co.job != jobShake {
		l.users[co.vu].holder = nil
	}
	l.current = co
	co.next()
	l.current = nil
	l.tick()
	switch co.want {
	case wantNothing:
		l.ended(co)
	case wantSlice:
		l.users[co.vu].holder = co
		l.coroutines.slices.push(co)
	case wantAnswer:
		l.ask(co)
	case wantSleep:
		l.rest(co)
	case wantRead:
		l.suspended(co)
	}
}

// ended takes what a coroutine has done.
func (l *loop) ended(co *coroutine) {
	l.coroutines.alive--
	switch co.job {
	case jobCall:
		l.called(co)
	case jobWhen:
		l.decided(co)
	case jobHook:
		l.hooked(co)
	case jobShake:
		l.shaken(co.secure, co.conn, co.err)
		co.secure, co.err = nil, nil
	}
	co.job = jobNone
	l.coroutines.idle = append(l.coroutines.idle, co)
}
