package engine

import (
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/stats"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/feed"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/http1"
)

// script is the part of a virtual user that a workflow's functions live in.
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

// scripted makes the script of one virtual user.
type scripted func(id uint64, c workflow.Client) script

// scriptOf makes the script of a user when it first needs one.
func (l *loop) scriptOf(vu int32) script {
	if l.script[vu] == nil {
		l.script[vu] = l.scripts(l.number(vu), client{l})
		l.script[vu].Share(l.shared)
		l.script[vu].Give(l.given)
	}
	return l.script[vu]
}

// number is what a user is called in the whole workflow.
func (l *loop) number(vu int32) uint64 {
	if vu == l.own() {
		return l.cfg.FirstVU
	}
	return l.cfg.FirstVU + uint64(vu)
}

// own is the user that setup and teardown run as.
func (l *loop) own() int32 { return int32(len(l.users) - 1) }

// client is what functions ask: whoever runs is the one that asks. Its methods run in
// coroutines and do no more than they must there.
type client struct{ l *loop }

var _ workflow.Client = client{}

// Do sends a request.
func (c client) Do(r *workflow.Request) *workflow.Response {
	co := c.l.current
	if why := c.l.refusal(co); why != "" {
		return &workflow.Response{Kind: string(http1.KindCancelled), Error: why}
	}
	co.request = r
	co.block(wantAnswer)
	return co.answer
}

// Known remembers a request.
func (c client) Known(method, url string) *workflow.Request { return c.l.known(method, url) }

// Sleep is cut short when the run is cancelled or long over.
func (c client) Sleep(d time.Duration) {
	co := c.l.current
	if co.pause = d; d > 0 && c.l.refusal(co) == "" {
		co.block(wantSleep)
	}
}

// Yield lets others run if the function has run for long enough.
func (c client) Yield() {
	if co := c.l.current; c.l.clock.Tick()-co.began >= sliceMax {
		co.block(wantSlice)
	}
}

// Stopped ends functions between two of their steps.
func (c client) Stopped() bool { return c.l.refusal(c.l.current) != "" }

// Now is the time of the run's clock, which no change of the machine's own moves.
func (c client) Now() time.Time { return c.l.clock.Base.Add(time.Since(c.l.clock.Base)) }

// Log keeps a line for the result.
func (c client) Log(text string) {
	c.l.log(fmt.Sprintf("vu %d: %s", c.l.number(c.l.current.vu), text))
}

// refusal is why a function gets nothing more; empty: it does.
func (l *loop) refusal(co *coroutine) string {
	switch {
	case l.cancelled.Load():
		return "the run was cancelled"
	case l.cut || l.clock.Now >= l.end(co):
		return "the run is over"
	}
	return ""
}

// end is when a function gets no more time.
func (l *loop) end(co *coroutine) int64 {
	if co.until > 0 {
		return co.until
	}
	return l.hard
}

const logLineMax = 1 << 10 // bytes of a line that vu.log wrote

func (l *loop) log(line string) {
	if len(line) > logLineMax {
		line = line[:logLineMax]
	}
	l.debug.printf("%s\n", line)
	if len(l.logs) < stats.LogsMax {
		l.logs = append(l.logs, line)
	}
}

// ask sends the request that a coroutine waits for.
func (l *loop) ask(co *coroutine) {
	r := co.request
	co.request = nil
	p, err := l.prepare(r)
	if err != nil {
		co.answer = &workflow.Response{Kind: string(http1.KindScript), Error: err.Error()}
		co.exchange.times = measure.Times{}
		l.wake(co)
		return
	}
	n := &co.lane
	n.vu, n.step, n.account, n.due = co.vu, co.step, &l.aside, l.clock.Now-co.late
	if co.until == 0 {
		n.account = &l.accounts[co.step]
	}
	co.late = 0
	timeout := l.cfg.Timeout
	if r.Timeout > 0 {
		timeout = r.Timeout
	}
	n.deadline, n.call, n.host = l.clock.Now+int64(timeout), &p.call, p.host
	n.x = &co.exchange
	w := l.cfg.Workflow
	n.x.begin(r, n.due, !w.HeadsUnread || l.debug != nil, !w.BodiesUnread || r.GraphQL || l.debug != nil)
	n.x.co = co
	n.serial++
	n.counted = true // as its step is
	l.send(co.index)
}

// rest lets a coroutine sleep.
func (l *loop) rest(co *coroutine) {
	n := &co.lane
	n.step, n.deadline = co.step, min(l.clock.Now+int64(min(co.pause, DurationMax)), l.end(co))
	n.conn = none
	l.alarm(co.index, n.deadline)
}

// wakes wakes the coroutine of a lane that has slept.
func (l *loop) wakes(index int32) bool {
	co := l.coroutines.all[int(index)-len(l.lanes)]
	if co.want != wantSleep {
		return false
	}
	co.lane.step = none
	l.wake(co)
	return true
}

// called takes the end of a step's function.
func (l *loop) called(co *coroutine, out workflow.Outcome) {
	t := &co.exchange.times
	if out.Response == nil || out.Response != co.answer {
		t = nil
	}
	out = cause(out, co.answer)
	co.answer = nil // what is idle keeps nothing alive
	l.accounts[co.step].Outcome(out, t, time.Duration(l.clock.Now))
	l.debug.outcome(l.g.steps[co.step].plan.Name, out)
	l.finish(co.vu, co.step, stateOf(out.OK))
}

// decided takes the end of a step's condition.
func (l *loop) decided(co *coroutine, out workflow.Outcome) {
	co.answer = nil
	name := l.g.steps[co.step].plan.Name
	switch {
	case !out.OK:
		a := &l.accounts[co.step]
		a.Start(time.Duration(l.clock.Now))
		a.Outcome(out, nil, time.Duration(l.clock.Now))
		l.debug.outcome(name, out)
		l.finish(co.vu, co.step, stepBad)
	case !co.take:
		l.debug.printf("step %s: not taken, its when is False\n\n", name)
		l.finish(co.vu, co.step, stepUntaken)
	case l.cut || l.cancelled.Load():
		l.finish(co.vu, co.step, stepUntaken)
	default:
		l.launch(co.vu, int(co.step), co.due)
	}
}

// cause puts the reason of a failure in the place of its symptoms.
func cause(out workflow.Outcome, last *workflow.Response) workflow.Outcome {
	// A function that goes on with an answer that never came stumbles over its absence.
	if out.Kind == string(http1.KindScript) && last != nil && last.Kind != "" {
		out.Kind, out.Detail = last.Kind, last.Error
	}
	return out
}
