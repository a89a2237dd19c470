package engine

import (
	"time"

	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/http1"
)

var _ workflow.Client = (*virtual)(nil)

// unlocked lets the virtual user's other steps run while one blocks.
func (v *virtual) unlocked(block func(step int)) {
	step := v.step
	v.mu.Unlock()
	block(step)
	v.mu.Lock()
	v.step = step
}

// Do is called by a function, which holds the lock.
func (v *virtual) Do(r *workflow.Request) *workflow.Response {
	var answer *workflow.Response
	late := v.late[v.step]
	v.late[v.step] = 0
	v.unlocked(func(step int) {
		var t times
		answer, t = v.do(step, r, late)
		v.serve(step, answer, t)
	})
	return answer
}

// serve remembers the answer, so that its times are known if it is returned.
func (v *virtual) serve(step int, answer *workflow.Response, t times) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.served == nil {
		v.served = make([]served, len(v.states))
	}
	v.served[step] = served{answer, t}
}

// do sends a request, that late.
func (v *virtual) do(step int, r *workflow.Request, late time.Duration) (*workflow.Response, times) {
	now := v.r.now()
	switch {
	case v.r.isCancelled():
		return &workflow.Response{Kind: string(http1.KindCancelled), Error: "the run was cancelled"}, times{}
	case now >= v.end():
		return &workflow.Response{Kind: string(http1.KindCancelled), Error: "the run is over"}, times{}
	}
	call, err := compile(r)
	if err != nil {
		return &workflow.Response{Kind: string(http1.KindScript), Error: err.Error()}, times{}
	}
	timeout := v.r.cfg.Timeout
	if r.Timeout > 0 {
		timeout = r.Timeout
	}
	x := exchange{request: r, call: &call, deadline: now + timeout, redirects: r.Redirects, keep: true}
	x.times.begin(int64(now - late))
	v.exchange(&x)
	if v.until > 0 {
		return x.response(), x.times // beside the steps: it counts nowhere
	}
	v.r.account(step, func(a *account) {
		a.bytesIn += x.bytesIn
		a.bytesOut += x.bytesOut
	})
	return x.response(), x.times
}

// Sleep is cut short when the run is cancelled or long over.
func (v *virtual) Sleep(d time.Duration) {
	v.unlocked(func(int) {
		now := v.r.now()
		v.r.sleepUntil(min(now+min(d, DurationMax), v.end()))
	})
}

// Now is the time of the run's clock, which no change of the machine's own moves.
func (v *virtual) Now() time.Time { return v.r.base.Add(v.r.now()) }

// Log keeps a line for the result.
func (v *virtual) Log(text string) { v.r.log(v.id, text) }

// Stopped ends functions between two of their steps.
func (v *virtual) Stopped() bool { return v.r.isCancelled() || v.r.now() >= v.end() }

// end is when the function that runs gets no more time.
func (v *virtual) end() time.Duration {
	if v.until > 0 {
		return v.until
	}
	return v.r.hard
}
