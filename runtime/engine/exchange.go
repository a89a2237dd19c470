package engine

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/protocol/http1"
)

// exchange is what a lane keeps of a request whose answer is wanted or that may be sent
// elsewhere: redirects are followed here, and whole responses are looked at.
type exchange struct {
	request   *workflow.Request
	co        *coroutine       // a function that waits for the answer; nil: a request step
	call      *http1.Call      // as sent last
	collector *http1.Collector // from the first byte of a response to its last
	answer    *answer          // that came whole and was wanted
	detail    string
	kind      http1.Kind // empty: a whole answer
	times     measure.Times
	status    int16
	redirects int16 // how many may be followed
	followed  int16
	two       bool // it was sent over HTTP/2
	keep      bool // the answer's head is wanted,
	whole     bool // and its body
	size      int64
}

// answer is a response with what it is read from.
type answer struct {
	workflow.Response
	head http1.Head
}

func (x *exchange) begin(r *workflow.Request, due int64, head, body bool) {
	*x = exchange{request: r, redirects: int16(r.Redirects), keep: head || body, whole: body}
	x.times.Begin(due)
}

// exchange returns one for a request step.
func (l *loop) exchange() *exchange {
	if n := len(l.exchanges); n > 0 {
		x := l.exchanges[n-1]
		l.exchanges = l.exchanges[:n-1]
		return x
	}
	return new(exchange)
}

// collects tells whether the head and body of what comes are to be looked at.
func (x *exchange) collects() bool { return x.keep || x.redirects > 0 }

func (x *exchange) latency() time.Duration { return time.Duration(x.times.Latency()) }

// response is what functions get.
func (x *exchange) response() *workflow.Response {
	var r *workflow.Response
	if x.answer != nil {
		r = &x.answer.Response
	} else {
		r = new(workflow.Response)
	}
	r.Status, r.Size, r.Latency, r.Kind, r.Error = int(x.status), x.size, x.latency(), string(x.kind), x.detail
	return r
}

// answered takes a whole response, and follows it where it redirects.
func (l *loop) answered(index int32, now int64) {
	n := l.lane(index)
	x := n.x
	x.status, x.size = int16(n.status), n.size
	n.AddTo(&x.times, now)
	x.times.Enter(message.PhaseBlocked, now) // ended, or on its way to where it is sent
	x.call, x.two = n.call, n.framed != nil
	location, redirected := "", false
	if c := x.collector; c != nil {
		if x.redirects > 0 && isRedirect(int(x.status)) {
			location, redirected = c.Header("Location")
		}
		if x.keep {
			x.answer = new(answer)
			x.answer.head, x.answer.Body = c.Copy()
			x.answer.Fields = &x.answer.head
			l.decoding(x.answer)
		}
		l.release(x)
	}
	l.debug.hop(x)
	if !redirected {
		l.settle(index)
		return
	}
	err := error(errTooMany)
	var call http1.Call
	if x.followed < x.redirects {
		x.followed++
		call, err = x.follow(location)
	}
	if err != nil {
		x.kind, x.detail = http1.KindRedirect, err.Error()
		l.settle(index)
		return
	}
	n.call, n.host = &call, l.host(&call)
	x.status, x.answer = 0, nil
	l.send(index)
}

// failed takes the end of a request without a whole response.
func (l *loop) failed(index int32, kind http1.Kind, detail string, now int64) {
	n := l.lane(index)
	x := n.x
	l.release(x)
	n.AddTo(&x.times, now)
	x.times.Enter(message.PhaseBlocked, now)
	x.call, x.two, x.kind, x.detail = n.call, n.framed != nil, kind, detail
	l.debug.hop(x)
	l.settle(index)
}

// settle gives an exchange that has ended to who waits for it.
func (l *loop) settle(index int32) {
	n := l.lane(index)
	x := n.x
	step := n.step
	n.x, n.step = nil, none
	if co := x.co; co != nil {
		co.answer = x.response()
		x.request, x.co, x.call, x.answer, x.detail = nil, nil, nil, nil, "" // what is idle keeps nothing alive
		l.wake(co)
		return
	}
	good := false
	switch {
	case x.kind == http1.KindNone:
		r := &l.values.view
		r.Status, r.Size, r.Latency, r.Fields, r.Body = int(x.status), x.size, x.latency(), nil, nil
		if x.answer != nil {
			r.Fields, r.Body = &x.answer.head, x.answer.Body
		}
		kind, why := http1.KindNone, ""
		if good, kind, why = l.judge(n.vu, step, r, &x.times); why != "" {
			x.kind, x.detail = kind, why
		}
	case x.kind == http1.KindCancelled && !n.counted: // it has not started
	case x.kind == http1.KindCancelled:
		n.account.Cancelled++
	case measure.TimedOut(string(x.kind)):
		n.account.Late(x.kind, &x.times)
	default:
		n.account.Broken(string(x.kind), x.detail, time.Duration(x.times.Mark))
	}
	s := &l.g.steps[step]
	l.debug.step(s.plan.Name, good, x)
	if s.needed && good {
		l.scriptOf(n.vu).SetResponse(int(step), x.response())
	}
	*x = exchange{}
	l.exchanges = append(l.exchanges, x)
	l.finish(n.vu, step, stateOf(good))
}

// collector returns one for a response that has begun to come: waiting costs no memory.
func (l *loop) collector() *http1.Collector {
	if n := len(l.collectors); n > 0 {
		c := l.collectors[n-1]
		l.collectors = l.collectors[:n-1]
		c.HeadOnly = false
		return c
	}
	return &http1.Collector{Limit: l.common.BodyMax}
}

// release gives the collector back.
func (l *loop) release(x *exchange) {
	if x.collector != nil {
		l.collectors = append(l.collectors, x.collector)
		x.collector = nil
	}
}
