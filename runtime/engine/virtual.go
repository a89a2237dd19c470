package engine

import (
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/http1"
)

// virtual is one virtual user of the general path.
type virtual struct {
	r        *general
	id       uint64
	index    int32
	prepared bool          // its vu_setup has run, or was tried
	forgets  bool          // its connections are closed behind each pass
	until    time.Duration // a function beside the steps runs, and may so long; 0: none does

	mu     sync.Mutex // held while the script runs, given up while it blocks
	script script
	step   int             // whose function runs
	served []served        // by step: the last answer that its function got
	late   []time.Duration // by step: how late its function began, until it has sent its first request

	states []stepState
	ends   chan end // of steps that run side by side

	linksMu sync.Mutex
	idle    []*link
}

type served struct {
	response *workflow.Response
	times    times
}

type stepState uint8

const (
	stepWaiting stepState = iota
	stepRunning
	stepGood
	stepBad     // failed, or skipped
	stepUntaken // this pass goes without it
)

type end struct {
	step  int
	state stepState
}

func newVirtual(r *general, id uint64, scripts scripted) *virtual {
	v := &virtual{r: r, id: id, states: make([]stepState, len(r.g.steps)), late: make([]time.Duration, len(r.g.steps)), ends: make(chan end, len(r.g.steps))}
	v.script = scripts(id, v)
	v.forgets = r.cfg.Workflow.Plan.Session == message.SessionNone
	return v
}

// pass runs the graph once. A step that is alone runs on this goroutine.
func (v *virtual) pass(p pass) {
	v.mu.Lock()
	v.script.Begin()
	v.mu.Unlock()
	clear(v.states)
	for i := range v.states {
		if p.step >= 0 && v.r.g.steps[i].plan.Weight > 0 && i != int(p.step) {
			v.states[i] = stepUntaken
		}
	}
	due, running := time.Duration(p.due), 0
	for ready := v.ready(true); ; ready = v.ready(false) {
		if running == 0 && len(ready) == 1 {
			v.states[ready[0]] = v.run(ready[0], due)
			due = v.r.now()
			continue
		}
		for _, i := range ready {
			running++
			intended := due // the next round moves due while these run
			go func() { v.ends <- end{i, v.run(i, intended)} }()
		}
		if running == 0 {
			return
		}
		e := <-v.ends
		v.states[e.step] = e.state
		running--
		due = v.r.now()
	}
}

// ready marks and returns the steps that wait for nothing any more, and skips those
// behind a failure. Steps come after what they wait for: one look at each is enough.
func (v *virtual) ready(first bool) []int {
	var ready []int
	for i := range v.states {
		if v.states[i] != stepWaiting {
			continue
		}
		switch v.behind(i) {
		case stepBad:
			v.states[i] = stepBad
			v.r.account(i, func(a *account) { a.skipped++ })
			v.r.debug.printf("step %s: skipped, a step before it failed\n\n", v.r.g.steps[i].plan.Name)
		case stepUntaken:
			v.states[i] = stepUntaken
		case stepGood:
			if v.mayStart(i, first) {
				v.states[i] = stepRunning
				ready = append(ready, i)
			}
		}
	}
	return ready
}

// behind is the state of all steps together that a step waits for.
func (v *virtual) behind(i int) stepState {
	state := stepGood
	for _, before := range v.r.g.steps[i].plan.After {
		switch s := v.states[before]; s {
		case stepWaiting, stepRunning:
			return stepWaiting
		case stepBad, stepUntaken:
			state = max(state, s)
		}
	}
	return state
}

// mayStart lets checks and metrics look at the last answers when the time is over, and a
// pass that has begun send its first requests: what began it knew the time.
func (v *virtual) mayStart(i int, first bool) bool {
	switch v.r.g.steps[i].plan.Kind {
	case message.StepCheck, message.StepMetric:
		return !v.r.isCancelled()
	}
	return first && !v.r.isCancelled() || !v.r.isOver()
}

// run runs one step and tells how it ended.
func (v *virtual) run(i int, due time.Duration) stepState {
	if v.r.cfg.Workflow.Steps[i].Conditional() {
		take, out := v.when(i)
		if !out.OK {
			v.r.account(i, func(a *account) { a.start(v.r.now()); a.outcome(out, nil, v.r.now()) })
			v.r.debug.outcome(v.r.g.steps[i].plan.Name, out)
			return stepBad
		}
		if !take {
			v.r.debug.printf("step %s: not taken, its when is False\n\n", v.r.g.steps[i].plan.Name)
			return stepUntaken
		}
	}
	v.r.account(i, func(a *account) { a.start(v.r.now()) })
	good := false
	if v.r.g.steps[i].call != nil {
		good = v.request(i, due)
	} else {
		good = v.function(i, due)
	}
	if good {
		return stepGood
	}
	return stepBad
}

func (v *virtual) when(i int) (bool, workflow.Outcome) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.step, v.late[i] = i, 0
	return v.script.When(i)
}

// request runs a request step.
func (v *virtual) request(i int, due time.Duration) bool {
	s := &v.r.g.steps[i]
	x := exchange{
		request: s.request, call: s.call, deadline: v.r.now() + s.timeout,
		redirects: s.request.Redirects, keep: s.needed || v.r.debug != nil,
	}
	x.times.begin(int64(due))
	v.exchange(&x)
	good := false
	v.r.account(i, func(a *account) {
		a.bytesIn += x.bytesIn
		a.bytesOut += x.bytesOut
		switch {
		case x.kind == http1.KindNone:
			good = a.answered(x.status, &x.times)
		case x.kind == http1.KindCancelled:
			a.cancelled++
		case timedOut(string(x.kind)):
			a.late(x.kind, &x.times)
		default:
			a.broken(string(x.kind), x.detail, v.r.now())
		}
	})
	v.r.debug.step(s.plan.Name, good, &x)
	if s.needed && good {
		v.mu.Lock()
		v.script.SetResponse(i, x.response())
		v.mu.Unlock()
	}
	return good
}

// function runs a step that is a function.
func (v *virtual) function(i int, due time.Duration) bool {
	late := max(0, v.r.now()-due)
	v.mu.Lock()
	v.step = i
	v.late[i] = late
	out := v.script.Call(i)
	var last served
	if i < len(v.served) {
		last, v.served[i] = v.served[i], served{} // it must not keep the answer alive
	}
	v.mu.Unlock()
	t := &last.times
	if out.Response == nil || out.Response != last.response {
		t = nil
	}
	out = v.r.cause(out, last.response)
	v.r.account(i, func(a *account) { a.outcome(out, t, v.r.now()) })
	v.r.debug.outcome(v.r.g.steps[i].plan.Name, out)
	return out.OK
}

// cause puts the reason of a failure in the place of its symptoms.
func (r *general) cause(out workflow.Outcome, last *workflow.Response) workflow.Outcome {
	// A function that goes on with an answer that never came stumbles over its absence.
	if out.Kind == string(http1.KindScript) && last != nil && last.Kind != "" {
		out.Kind, out.Detail = last.Kind, last.Error
	}
	return out
}

// outcome counts what a function returned. Its times are nil if they are not those of the
// answer that it was last given: then only the latency is known.
func (a *account) outcome(out workflow.Outcome, t *times, now time.Duration) {
	r := out.Response
	if t == nil && r != nil {
		t = &times{due: int64(now - r.Latency), mark: int64(now)}
	}
	w := a.window(now)
	if r != nil && r.Kind == "" && r.Status > 0 && a.step.plan.Kind == message.StepFunction {
		a.statuses[r.Status%statuses]++
		a.record(t)
		w.Record(uint64(t.latency()))
		if out.Kind == string(http1.KindStatus) {
			out.Kind = statusKind(r.Status)
		}
	}
	if out.HasValue {
		a.metric.Record(uint64(max(0, out.Value)))
	}
	switch {
	case out.OK:
		a.ok++
		w.OK++
	case out.Kind == string(http1.KindCancelled):
		a.cancelled++
	case !timedOut(out.Kind):
		a.broken(out.Kind, out.Detail, now)
	case r != nil:
		a.late(http1.Kind(out.Kind), t)
	default: // no request of it did: there is no latency
		a.timedOut++
		w.TimedOut++
		a.fault(out.Kind, out.Detail)
	}
}

// close gives up the connections.
func (v *virtual) close() {
	for _, k := range v.idle {
		v.r.closeLink(k)
	}
	v.idle = nil
}
