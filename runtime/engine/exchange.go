package engine

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/runtime/protocol/http1"
)

// exchange is what a lane keeps of a request whose answer is wanted or that may be sent
// elsewhere: redirects are followed here, and whole responses are looked at.
type exchange struct {
	request   *workflow.Request
	co        *coroutine // a function that waits for the answer; nil: a request step
	times     times
	redirects int // how many may be followed
	followed  int
	keep      bool // the answer's head and body are wanted
	collector *http1.Collector

	call    *http1.Call // as sent last
	status  int
	kind    http1.Kind // empty: a whole answer
	detail  string
	headers []workflow.Pair
	body    []byte
}

func newExchange(r *workflow.Request, due int64, keep bool) *exchange {
	x := &exchange{request: r, redirects: r.Redirects, keep: keep}
	x.times.begin(due)
	return x
}

// collects tells whether the head and body of what comes are to be kept.
func (x *exchange) collects() bool { return x.keep || x.redirects > 0 }

func (x *exchange) latency() time.Duration { return time.Duration(x.times.latency()) }

func (x *exchange) response() *workflow.Response {
	return &workflow.Response{
		Status: x.status, Headers: x.headers, Body: x.body, Latency: x.latency(),
		Kind: string(x.kind), Error: x.detail,
	}
}

// answered takes a whole response, and follows it where it redirects.
func (l *loop) answered(index int32, now int64) {
	n := l.lane(index)
	x := n.x
	x.status = n.parser.Status()
	l.collected(x)
	n.times(&x.times, now)
	x.times.enter(message.PhaseBlocked, now) // ended, or on its way to where it is sent
	x.call = n.call
	l.debug.hop(x)
	location, found := "", false
	if x.redirects > 0 && isRedirect(x.status) {
		location, found = header(x.headers, "Location")
	}
	if !found {
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
	x.status, x.headers, x.body = 0, nil, nil
	l.send(index)
}

// failed takes the end of a request without a whole response.
func (l *loop) failed(index int32, kind http1.Kind, detail string, now int64) {
	n := l.lane(index)
	x := n.x
	if x.collector != nil {
		l.collectors = append(l.collectors, x.collector)
		x.collector = nil
	}
	n.times(&x.times, now)
	x.times.enter(message.PhaseBlocked, now)
	x.call, x.kind, x.detail = n.call, kind, detail
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
		co.answer, co.times = x.response(), x.times
		l.wake(co)
		return
	}
	good := false
	switch {
	case x.kind == http1.KindNone:
		good = n.account.answered(x.status, &x.times)
	case x.kind == http1.KindCancelled:
		n.account.cancelled++
	case timedOut(string(x.kind)):
		n.account.late(x.kind, &x.times)
	default:
		n.account.broken(string(x.kind), x.detail, time.Duration(x.times.mark))
	}
	s := &l.g.steps[step]
	l.debug.step(s.plan.Name, good, x)
	if s.needed && good {
		l.scriptOf(n.vu).SetResponse(int(step), x.response())
	}
	l.finish(n.vu, step, stateOf(good))
}

// collector returns one for a response that has begun to come: waiting costs no memory.
func (l *loop) collector() *http1.Collector {
	if n := len(l.collectors); n > 0 {
		c := l.collectors[n-1]
		l.collectors = l.collectors[:n-1]
		return c
	}
	return &http1.Collector{Limit: l.common.BodyMax}
}

// collected copies what was collected: the collector goes to the next.
func (l *loop) collected(x *exchange) {
	c := x.collector
	if c == nil {
		return
	}
	x.collector = nil
	x.headers = make([]workflow.Pair, c.Len())
	for i := range x.headers {
		name, value := c.At(i)
		x.headers[i] = workflow.Pair{Name: string(name), Value: string(value)}
	}
	x.body = slices.Clone(c.Body)
	l.collectors = append(l.collectors, c)
}
