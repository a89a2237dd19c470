package engine

import (
	"fmt"
	"time"

	"hyperscale/core/load/schedule"
	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/feed"
	"hyperscale/core/workflow/request"
	opened "hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/coroutine"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/protocol/http1"
)

// script holds the functions of a workflow for one virtual user.
type script interface {
	Begin()
	SetRow(from *feed.Reader, row uint64)
	SetResponse(step int, r *workflow.Response)
	Call(step int) workflow.Outcome
	When(step int) (bool, workflow.Outcome)
	Run(workflow.Hook) workflow.Outcome
	Share(workflow.Shared)
	Shared() workflow.Shared
	SetVar(i int, value []byte)
	Give(workflow.Given)
	Provided() []message.Provided
}

var _ script = (*workflow.VU)(nil)

// scripted creates the script of one virtual user.
type scripted func(id uint64, c workflow.Client) script

// scriptOf creates a user's script when it first needs one.
func (f *functions) scriptOf(vu int32) script {
	if f.script[vu] == nil {
		f.script[vu] = f.scripts(f.number(vu), client{f.parts})
		f.script[vu].Share(f.shared)
		f.script[vu].Give(f.given)
	}
	return f.script[vu]
}

// number returns a user's number in the whole workflow.
func (f *functions) number(vu int32) uint64 {
	if vu == f.own() {
		return f.cfg.FirstVU
	}
	return f.cfg.FirstVU + uint64(vu)
}

// named returns what tells a user's connections apart from those of others.
func (f *functions) named(vu int32) uint64 {
	if vu == f.own() {
		return f.number(vu) | talk.Beside
	}
	return f.number(vu)
}

// own is the user that setup and teardown run as.
func (f *functions) own() int32 { return int32(len(f.users.users) - 1) }

// functions run the code in a workflow's file.
type functions struct {
	*parts
	scripts   scripted
	script    []script // by user, the last one is the workflow's own; nil: not created yet
	shared    workflow.Shared
	given     workflow.Given
	turns     turns
	calls     []*call // by slot, behind those of request steps
	idleCalls []*call
	current   *call    // the running call; nil: none runs
	logs      []string // what vu.log wrote
	told      []string // what the engine tells: it has room of its own
}

// client serves the running function. Its methods run in coroutines, and do as little there as
// possible.
type client struct{ l *parts }

var _ workflow.Client = client{}

// Do sends a request.
func (c client) Do(r *request.Request, as *workflow.As) *workflow.Response {
	co := c.l.functions.current
	if why := c.l.functions.refusal(co); why != "" {
		return &workflow.Response{Kind: string(http1.KindCancelled), Error: why}
	}
	var pin *pool.Pin
	if as != nil && as.Transaction != nil {
		if pin = c.l.sessions.pin(co, as.Transaction); pin == nil {
			return &workflow.Response{Kind: string(http1.KindScript), Error: fmt.Sprintf("this virtual user has %d open transactions, which is the most: commit or roll one back", opened.Most)}
		}
	}
	co.request, co.as, co.slot.Pin = r, as, pin
	co.co.Block(coroutine.WantAnswer)
	if pin != nil {
		c.l.Pins.Answered(co.vu, pin)
	}
	return co.answer
}

// Known returns a cached request.
func (c client) Known(method, url string) *request.Request { return c.l.requests.known(method, url) }

// Sleep ends early when the run is cancelled or long over.
func (c client) Sleep(d time.Duration) {
	co := c.l.functions.current
	if co.pause = d; d > 0 && c.l.functions.refusal(co) == "" {
		co.co.Block(coroutine.WantSleep)
	}
}

// Next waits for a value of a counter.
func (c client) Next(at int) (uint64, bool) {
	return c.l.counters.next(at, c.l.functions.current)
}

// Wait waits at a barrier.
func (c client) Wait(at int) bool { return c.l.gates.wait(at, c.l.functions.current) }

// Yield lets others run if the function has run for long enough.
func (c client) Yield() {
	if co := c.l.functions.current; c.l.Clock.Tick()-co.co.Began >= sliceMax {
		co.co.Block(coroutine.WantSlice)
	}
}

// Stopped ends functions between two of their steps.
func (c client) Stopped() bool { return c.l.functions.refusal(c.l.functions.current) != "" }

// Now returns the time of the run's clock, which no change of the machine's clock affects.
func (c client) Now() time.Time { return c.l.Clock.Base.Add(time.Since(c.l.Clock.Base)) }

// Log keeps a line for the result.
func (c client) Log(text string) {
	c.l.functions.log(fmt.Sprintf("vu %d: %s", c.l.functions.number(c.l.functions.current.vu), text))
}

// refusal returns why a function gets nothing more; empty: it does.
func (f *functions) refusal(co *call) string {
	switch {
	case f.Halt.Cancelled.Load():
		return "the run was cancelled"
	case f.Halt.Cut || f.Clock.Now >= f.end(co):
		return "the run is over"
	}
	return ""
}

// end returns when a function's time is over.
func (f *functions) end(co *call) int64 {
	if co.until > 0 {
		return co.until
	}
	return f.course.hard
}

const logLineMax = 1 << 10 // bytes of a line that vu.log wrote

// log keeps a line that the file wrote.
func (f *functions) log(line string) { f.logs = f.keep(f.logs, line) }

// tell keeps a line of the engine, for which a file that logs leaves room.
func (f *functions) tell(line string) { f.told = f.keep(f.told, line) }

// keep prints a line, and appends it while there is room.
func (f *functions) keep(all []string, line string) []string {
	if len(all) == stats.LogsMax && f.requests.debug == nil {
		return all
	}
	if line = f.cfg.Mask.Line(line); len(line) > logLineMax { // it hides what a cut would tear apart
		line = line[:logLineMax]
	}
	f.requests.debug.printf("%s\n", line)
	if len(all) < stats.LogsMax {
		all = append(all, line)
	}
	return all
}

// ask sends the request that a coroutine waits for.
func (f *functions) ask(co *call) {
	if co.opening != nil {
		f.sessions.begin(co)
		return
	}
	r, as := co.request, co.as
	co.request, co.as = nil, nil
	p, err := f.requests.prepare(r)
	if err != nil {
		co.answer = &workflow.Response{Kind: string(http1.KindScript), Error: err.Error()}
		co.exchange.times = measure.Times{}
		f.wake(co)
		return
	}
	n := &co.slot
	n.VU, n.Step, n.Account, n.Due = co.vu, co.step, f.requests.account(co, r, as, p), f.Clock.Now-co.late
	if co.late = 0; as != nil && as.Again {
		n.Account.Retried++
	}
	timeout := f.cfg.Timeout
	if r.Timeout > 0 {
		timeout = r.Timeout
	}
	n.Deadline, n.Call, n.Host = f.Clock.Now+int64(timeout), &p.call, p.host
	x := &co.exchange
	f.requests.x[co.index] = x
	w := f.cfg.Workflow
	it := f.cfg.Trace.Of(co.vu)
	head, body := !w.HeadsUnread || f.requests.debug != nil || it != nil, !w.BodiesUnread || f.requests.debug != nil && r.Stream == nil
	if as != nil {
		h, b := as.Reads()
		head, body = head || h, body || b
	}
	before := x.sample
	x.begin(r, n.Due, head || r.Stream != nil, body)
	x.co, x.as, x.sample = co, as, sample{of: it, due: n.Due}
	if as != nil && as.Again {
		x.sample.repeats(before)
	}
	n.Serial++
	n.Counted = false
	f.requests.stream(n, x, n.Due)
	if r.GRPC != nil {
		f.requests.calls.begin(&f.requests, n, x, as != nil && workflow.JudgesCode(as.Expect))
	}
	if p.talk != nil {
		x.talk = f.requests.talks.Begin(p.talk, n.Account, nil, n.Due, x.keeps.body).As(f.named(co.vu))
		n.Talk, x.codes = x.talk, as != nil && workflow.JudgesCode(as.Expect)
	}
	f.requests.Send(co.index)
}

// rest suspends a coroutine for its sleep.
func (f *functions) rest(co *call) {
	n := &co.slot
	n.Step, n.Deadline = co.step, min(f.Clock.Now+int64(min(co.pause, DurationMax)), f.end(co))
	n.Conn = pool.None
	f.Slots.Alarm(co.index, n.Deadline)
}

// park suspends the running call until unpark, at most until the end of its time.
func (f *functions) park(co *call) { f.parkFor(co, DurationMax) }

// parkFor is park with a bound.
func (f *functions) parkFor(co *call, d time.Duration) {
	co.pause = d
	co.co.Block(coroutine.WantSleep)
}

// unpark wakes a parked call. Its alarm fires for nothing.
func (f *functions) unpark(co *call) {
	co.slot.Step = pool.None
	f.wake(co)
}

// wakes wakes the coroutine of a slot after its sleep.
func (f *functions) wakes(index int32) bool {
	co := f.calls[int(index)-len(f.Slots.Own)]
	if co == nil || co.co.Want != coroutine.WantSleep { // a session's slot has none
		return false
	}
	co.slot.Step = pool.None
	f.wake(co)
	return true
}

// called takes the result of a step's function.
func (f *functions) called(co *call, out workflow.Outcome) {
	t := &co.exchange.times
	if out.Response == nil || out.Response != co.answer {
		t = nil
	}
	out = f.folded(cause(out, co.answer))
	co.answer = nil // an idle call keeps nothing alive
	f.requests.accounts[co.step].Outcome(out, t, time.Duration(f.Clock.Now))
	f.requests.debug.outcome(f.g.steps[co.step].plan.Name, out)
	f.users.finish(co.vu, co.step, stateOf(out.OK))
}

// decided takes the result of a step's condition.
func (f *functions) decided(co *call, out workflow.Outcome) {
	co.answer = nil
	name := f.g.steps[co.step].plan.Name
	switch {
	case !out.OK:
		a := &f.requests.accounts[co.step]
		a.Start(time.Duration(f.Clock.Now))
		a.Outcome(out, nil, time.Duration(f.Clock.Now))
		f.requests.debug.outcome(name, out)
		f.users.finish(co.vu, co.step, stepBad)
	case !co.take:
		f.requests.debug.printf("step %s: not taken, its when is False\n\n", name)
		f.users.finish(co.vu, co.step, stepUntaken)
	case f.Halt.Cut || f.Halt.Cancelled.Load():
		f.users.finish(co.vu, co.step, stepUntaken)
	default:
		f.users.launch(co.vu, int(co.step), co.due)
	}
}

// folded makes one kind of failures that differ in their numbers alone. It hides secrets first:
// folding would tear them apart.
func (f *functions) folded(out workflow.Outcome) workflow.Outcome {
	if out.Quotes {
		out.Kind, out.Quotes = stats.FoldText(f.cfg.Mask.Values(out.Kind)), false
	}
	return out
}

// cause replaces the symptoms of a failure with its reason.
func cause(out workflow.Outcome, last *workflow.Response) workflow.Outcome {
	// A function that uses a missing answer fails because it is missing.
	if (out.Kind == string(http1.KindScript) || out.Quotes) && last != nil && last.Kind != "" {
		out.Kind, out.Detail = last.Kind, last.Error
	}
	return out
}

// beside returns the task of a function beside the steps.
func (f *functions) beside(h workflow.Hook, vu int32) task {
	return task{job: jobHook, hook: h, vu: vu, due: f.Clock.Now, until: f.Clock.Now + int64(hookMax)}
}

// hooked takes the result of such a function. After a vu_setup before an iteration that
// iteration begins: its preparation is not measured.
func (f *functions) hooked(co *call, out workflow.Outcome) {
	co.answer = nil
	spent := co.hook == workflow.HookVUSetup && out.Kind == string(http1.KindCancelled) // a counter has ended the workflow
	if !out.OK && !spent {
		err := fmt.Errorf("%s of virtual user %d: %s", co.hook, f.number(co.vu), out.Detail)
		switch co.hook {
		case workflow.HookProvide:
			if f.course.fault == nil && !f.Halt.Cancelled.Load() {
				f.course.fault = err // others wait for it
			}
		case workflow.HookSetup, workflow.HookVUSetup: // without it the run measures nothing
			if f.course.fault == nil && !f.Halt.Cut && !f.Halt.Cancelled.Load() {
				f.course.fault = err
			}
			f.Halt.Cancelled.Store(true)
		default:
			f.log(err.Error())
		}
	}
	switch {
	case !co.begins:
	case !out.OK || f.Halt.Cut || f.Halt.Cancelled.Load():
		f.iterations.schedule.Ended(co.vu, f.Clock.Now)
		f.iterations.hangUpLeft()
	default:
		f.users.begin(schedule.Iteration{VU: co.vu, Step: co.taken, Due: f.Clock.Now, Could: f.Clock.Now})
	}
}
