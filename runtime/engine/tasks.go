package engine

import (
	"slices"
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/coroutine"
	"hyperscale/runtime/engine/pool"
)

// call is a running function of a workflow, and its requests. It leaves what it needs in its
// fields, and the loop does that on its own stack: the stack of a waiting coroutine must stay
// small.
type call struct {
	l        *parts
	co       *coroutine.Coroutine // nil: it is idle
	slot     pool.RequestSlot     // of its requests, and the alarm of its sleep
	exchange exchange
	index    int32 // of its slot
	task
	late int64 // the delay of its first request

	request *request.Request   // to send
	as      *workflow.As       // its name, and what a good answer is like; nil: by its path and status
	pause   time.Duration      // to sleep
	answer  *workflow.Response // its times are those of exchange
	take    bool
	given   uint64 // value of the counter that it waited for
	got     bool   // there was one
	met     bool   // the barrier at which it waited let it pass

	opening *opening // nil: request is one alone
}

var _ coroutine.Body = (*call)(nil)

// owner is the place of the call's step among the owners of names, or of its hook.
func (c *call) owner() int {
	if c.until == 0 {
		return int(c.step)
	}
	return len(c.l.g.steps) + slices.Index(hooks(), c.hook)
}

// task is what a call must do.
type task struct {
	due    int64 // of the step
	until  int64 // bound of a function beside the steps; 0: of a step
	vu     int32
	step   int16
	taken  int16 // the weighted step of the iteration that waits for a vu_setup
	job    job
	hook   workflow.Hook
	begins bool // an iteration waits for it
}

// turn is a call that is ready, or a task that has no call yet.
type turn struct {
	co *call
	task
}

type job uint8

const (
	jobNone job = iota
	jobCall     // a step's function
	jobWhen     // a step's condition
	jobHook     // a function beside the steps
)

// sliceMax is how long a function may run before others get their turn, plus about the
// interpreter's slice.
const sliceMax = int64(500 * time.Microsecond)

// readyMax is how long functions run before the loop checks its connections.
const readyMax = int64(2 * time.Millisecond)

// turns are the calls that may run, in order.
type turns struct {
	ready  queue.Queue[turn]
	sliced queue.Queue[turn] // others run first: these have run for long, or wait for one that has
	onward queue.Queue[task] // caused by the running call, which may continue with them
}

func (w *turns) any() bool { return w.ready.Len() > 0 || w.sliced.Len() > 0 }

// callOf returns a call for a task.
func (f *functions) callOf() *call {
	if n := len(f.idleCalls); n > 0 {
		c := f.idleCalls[n-1]
		f.idleCalls = f.idleCalls[:n-1]
		return c
	}
	c := &call{l: f.parts}
	c.index = f.Slots.More(&c.slot)
	f.requests.x = append(f.requests.x, nil)
	f.calls = append(f.calls, c)
	return c
}

// Run does the task of a call in its coroutine, and then the tasks that follow from it. Most
// iterations need only one coroutine, suspended once for each request.
func (c *call) Run() {
	for {
		out := c.l.functions.perform(c)
		c.l.Clock.Tick()
		c.l.functions.ended(c, out)
		if !c.l.functions.goesOn(c) {
			c.job = jobNone
			return
		}
	}
}

// perform runs the function of a task.
func (f *functions) perform(co *call) (out workflow.Outcome) {
	switch co.job {
	case jobCall:
		return f.script[co.vu].Call(int(co.step))
	case jobWhen:
		co.take, out = f.script[co.vu].When(int(co.step))
	case jobHook:
		return f.script[co.vu].Run(co.hook)
	}
	return out
}

// goesOn gives a call another task if it has time left.
func (f *functions) goesOn(co *call) bool {
	w := &f.turns
	if f.Clock.Now-co.co.Began >= sliceMax {
		return false
	}
	if w.onward.Len() == 0 && f.course.running {
		if p, ok := f.iterations.nextIteration(); ok {
			f.users.begin(p)
		}
	}
	if w.onward.Len() == 0 || !f.mayRun(w.onward.First().vu, co) {
		return false
	}
	f.assign(co, w.onward.Pop())
	return true
}

// assign gives a call its task.
func (f *functions) assign(co *call, t task) {
	co.task, co.late = t, 0
	if t.job == jobCall {
		co.late = max(0, f.Clock.Now-t.due)
	}
}

// spawn makes a function ready to run.
func (f *functions) spawn(t task) {
	f.Coroutines.Alive++
	f.scriptOf(t.vu)
	if f.current != nil {
		f.turns.onward.Push(t)
	} else {
		f.turns.ready.Push(turn{task: t})
	}
}

// wake makes a call ready.
func (f *functions) wake(co *call) {
	co.co.Want = coroutine.WantTurn
	f.turns.ready.Push(turn{co: co})
}

// runReady runs the ready calls in order. One that has used its slice runs again after all
// others had their turn.
func (f *functions) runReady() {
	f.runTurns(f.Clock.Now)
	f.Handshakes.RunReady()
	f.Sockets.ReadMore()
	if f.turns.sliced.Len() > 0 {
		f.run1(f.turns.sliced.Pop())
	}
}

// runTurns runs the calls that are ready now, until they have run for long enough.
func (f *functions) runTurns(began int64) {
	w := &f.turns
	for n := w.ready.Len(); n > 0 && f.Clock.Now-began < readyMax; n-- {
		f.run1(w.ready.Pop())
	}
}

// run1 runs one call, if no other function of the same virtual user is suspended in the middle
// of its code: those alternate only where they wait.
func (f *functions) run1(t turn) {
	switch {
	case t.co != nil && f.mayRun(t.co.vu, t.co):
		f.resume(t.co)
	case t.co == nil && f.mayRun(t.vu, nil):
		co := f.callOf()
		co.co = f.Coroutines.Take(co)
		f.assign(co, t.task)
		f.resume(co)
	default:
		f.turns.sliced.Push(t)
	}
}

func (f *functions) mayRun(vu int32, co *call) bool {
	holder := f.users.users[vu].holder
	return holder == nil || holder == co
}

// resume runs a call until it needs something, and does that.
func (f *functions) resume(co *call) {
	co.co.Began = f.Clock.Now
	f.users.users[co.vu].holder = nil
	f.current = co
	want := f.Coroutines.Resume(co.co)
	f.current = nil
	w := &f.turns
	for w.onward.Len() > 0 {
		w.ready.Push(turn{task: w.onward.Pop()})
	}
	switch want {
	case coroutine.WantNothing:
		co.co = nil
		f.idleCalls = append(f.idleCalls, co)
	case coroutine.WantSlice:
		f.users.users[co.vu].holder = co
		w.sliced.Push(turn{co: co})
	case coroutine.WantAnswer:
		f.Clock.Tick()
		f.ask(co)
	case coroutine.WantSleep:
		f.Clock.Tick()
		f.rest(co)
	}
	f.sessions.serve()
}

// ended takes the result of a call.
func (f *functions) ended(co *call, out workflow.Outcome) {
	f.Coroutines.Alive--
	switch co.job {
	case jobCall:
		f.called(co, out)
	case jobWhen:
		f.decided(co, out)
	case jobHook:
		f.hooked(co, out)
	}
}
