package engine

import (
	"bytes"
	"strconv"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/rpc"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/trace"
)

// exchange is what a slot holds of a request whose answer is inspected or that may be
// redirected: it follows redirects and collects whole responses.
type exchange struct {
	request   *request.Request
	co        *call            // the function that waits for the answer; nil: a request step
	as        *workflow.As     // of a function's request; nil: its status judges it
	call      *http1.Call      // as last sent
	collector *http1.Collector // while a response arrives
	answer    *answer          // a complete answer that is wanted
	detail    string
	kind      http1.Kind // empty: a complete answer
	times     measure.Times
	status    int16
	redirects int16 // how many to follow at most
	followed  int16
	again     int16  // how often it was sent again
	rests     bool   // until it is sent again
	two       bool   // it was sent over HTTP/2
	keeps     wanted // of the answer; with the body also the head
	size      int64
	proof     proof // of digest authentication
	sample    sample
	live
}

// live is what an exchange reads while it comes.
type live struct {
	stream *stream        // nil: its answer is no stream of events
	talk   *talk.Exchange // nil: it exchanges no messages
	rpc    *rpc.Reading   // nil: it calls no method

	session *session // that it opens, and is until it is over; nil: it is a request alone
	carries *carrier // of what others gather; nil: it is one of its own

	told  string // the code of an exchange's answer
	codes bool   // expect judges it, and whether it is an error
}

// answer is a response and the data that its reader needs.
type answer struct {
	workflow.Response
	head http1.Head
}

func (x *exchange) begin(r *request.Request, due int64, head, body bool) {
	*x = exchange{request: r, redirects: int16(r.Redirects), keeps: wanted{head: head || body, body: body}}
	x.times.Begin(due)
}

// exchange returns an exchange for a request step.
func (q *requests) exchange() *exchange {
	if n := len(q.exchanges); n > 0 {
		x := q.exchanges[n-1]
		q.exchanges = q.exchanges[:n-1]
		return x
	}
	return new(exchange)
}

// collects reports whether to collect the head and body of the response.
func (x *exchange) collects() bool {
	return x.rpc != nil || x.keeps.head || x.redirects > 0 || x.request.Digest()
}

func (x *exchange) latency() time.Duration { return time.Duration(x.times.Latency()) }

// response returns the response for functions.
func (x *exchange) response() *workflow.Response {
	var r *workflow.Response
	if x.answer != nil {
		r = &x.answer.Response
	} else {
		r = new(workflow.Response)
	}
	r.Status, r.Size, r.Latency, r.Kind, r.Error = int(x.status), x.size, x.latency(), string(x.kind), x.detail
	r.Code = x.code()
	return r
}

// answered takes a complete response, and follows a redirect.
func (q *requests) answered(index int32, now int64) {
	n := q.Slots.At(index)
	x := q.x[index]
	x.status, x.size = int16(n.Status), n.Size
	x.times.Talked = n.Talk != nil
	n.AddTo(&x.times, now)
	x.times.Enter(message.PhaseBlocked, now) // it has ended, or waits for its next connection
	x.call, x.two = n.Call, n.Framed != nil
	if x.talk != nil && elsewhere(x.talk, q.parts) {
		q.Send(index)
		return
	}
	location, redirected := "", false
	again, err := q.challenged(n, x)
	x.called(n)
	if c := x.collector; c != nil {
		if x.redirects > 0 && isRedirect(int(x.status)) {
			location, redirected = c.Header("Location")
		}
		if x.keeps.head {
			x.answer = new(answer)
			x.answer.head, x.answer.Body = c.Copy()
			x.answer.Fields = &x.answer.head
			q.decoding(x)
		}
		q.release(x)
	}
	if x.talk != nil && x.keeps.head {
		x.answer = new(answer)
		x.answer.Body, x.answer.Fields = bytes.Clone(x.talk.Last()), &x.answer.head
		if head := x.talk.Head(); head != nil {
			x.answer.Fields = head
		}
	}
	q.debug.hop(x)
	q.record(n, x, now)
	switch {
	case again:
		n.Account.Challenge(int(x.status))
		x.status, x.answer = 0, nil
		x.sample.follows(trace.Challenge)
		q.Send(index)
		return
	case err != nil:
		n.Account.Challenge(int(x.status))
		x.kind, x.detail = http1.KindChallenge, err.Error()
		q.settle(index)
		return
	case !redirected:
		q.settle(index)
		return
	}
	n.Account.Hop(int(x.status))
	err = errTooMany
	var call http1.Call
	if x.followed < x.redirects {
		x.followed++
		call, err = x.follow(location)
	}
	if err != nil {
		x.kind, x.detail = http1.KindRedirect, err.Error()
		q.settle(index)
		return
	}
	n.Call, n.Host = &call, q.Dialer.Host(&call)
	x.status, x.answer, x.proof = 0, nil, proof{}
	x.sample.follows(trace.Redirect)
	q.Send(index)
}

// elsewhere reports that an exchange has only learnt where it must go. What has left its cluster loses its
// connections.
func elsewhere(x *talk.Exchange, l *parts) bool {
	for _, h := range x.Gone() {
		l.Pools.Retire(h)
	}
	return x.Elsewhere()
}

// failed ends a request without a complete response.
func (q *requests) failed(index int32, kind http1.Kind, detail string, now int64) {
	n := q.Slots.At(index)
	x := q.x[index]
	q.release(x)
	n.AddTo(&x.times, now)
	x.times.Enter(message.PhaseBlocked, now)
	if x.talk != nil && x.talk.Astray(kind) {
		q.Send(index)
		return
	}
	x.call, x.two, x.kind, x.detail = n.Call, n.Framed != nil, kind, detail
	if n.Talk != nil && string(kind) == measure.StatusKind(n.Parser.Status()) {
		x.status = int16(n.Parser.Status()) // of a server that does not upgrade
	}
	q.debug.hop(x)
	q.record(n, x, now)
	q.settle(index)
}

// settle passes an ended exchange to the step or function that waits for it.
func (q *requests) settle(index int32) {
	n := q.Slots.At(index)
	x := q.x[index]
	step := n.Step
	q.x[index], n.Step = nil, pool.None
	amiss, what := x.amiss()
	q.unstream(n, x)
	talked := x.untalk(n, &q.talks)
	parking{q}.handsOver()
	if s := x.session; s != nil {
		s.over(n, amiss, what)
		q.calls.end(n, x)
		return
	}
	if co := x.co; co != nil {
		co.answer = x.response()
		if amiss != http1.KindNone {
			co.answer.Judged, co.answer.Wrong, co.answer.Why = true, string(amiss), what
			if talked || x.rpc != nil {
				co.answer.Error = what // the server told it
			}
		}
		x.account(n, co.answer)
		if q.passesOn(co.owner()) {
			n.Account.PassOn(&q.accounts[co.step])
		}
		q.calls.end(n, x)
		x.request, x.co, x.as, x.call, x.answer, x.detail, x.proof = nil, nil, nil, nil, nil, "", proof{} // an idle exchange keeps nothing alive
		q.functions.wake(co)
		return
	}
	good := false
	switch {
	case amiss != http1.KindNone:
		x.kind, x.detail = amiss, what
		n.Account.Expected(int(x.status), &x.times, amiss, what)
	case x.kind == http1.KindNone:
		r := &q.values.view
		r.Status, r.Size, r.Latency, r.Fields, r.Body, r.Code = int(x.status), x.size, x.latency(), nil, nil, x.code()
		if x.answer != nil {
			r.Fields, r.Body = x.answer.Fields, x.answer.Body
		}
		kind, why := http1.KindNone, ""
		if good, kind, why = q.judge(n.VU, step, r, &x.times); why != "" {
			x.kind, x.detail = kind, why
		}
	case x.kind == http1.KindCancelled && !n.Counted: // it has not started
	case x.kind == http1.KindCancelled:
		n.Account.Cancelled++
	case measure.TimedOut(string(x.kind)):
		n.Account.Late(x.kind, &x.times)
	default:
		n.Account.Broken(string(x.kind), x.detail, time.Duration(x.times.Mark))
	}
	s := &q.g.steps[step]
	q.debug.step(s.plan.Name, good, x)
	if !good && q.repeats(index, step, x) {
		return
	}
	if s.needed && good {
		q.functions.scriptOf(n.VU).SetResponse(int(step), x.response())
	}
	q.calls.end(n, x)
	*x = exchange{}
	q.exchanges = append(q.exchanges, x)
	q.users.finish(n.VU, step, stateOf(good))
}

// untalk ends the exchange's dialogue, if it has one.
func (x *exchange) untalk(n *pool.RequestSlot, talks *talk.Stock) (talked bool) {
	if x.talk == nil {
		return false
	}
	x.told = x.talk.Code()
	talks.End(x.talk)
	x.talk, n.Talk = nil, nil
	return true
}

// account counts a function's request under its name.
func (x *exchange) account(n *pool.RequestSlot, r *workflow.Response) {
	a := n.Account
	switch {
	case x.kind == http1.KindNone:
		if x.as != nil && r.Wrong == "" { // what the server told stays
			x.as.Judge(r)
		}
		switch {
		case r.Good():
			a.Judged(r.Status, &x.times, "", "")
		case r.Judged && r.Wrong != string(http1.KindStatus):
			a.Judged(r.Status, &x.times, r.Wrong, r.Why)
		default:
			a.Judged(r.Status, &x.times, measure.StatusKind(r.Status), "answered "+strconv.Itoa(r.Status))
		}
	case x.kind == http1.KindCancelled && !n.Counted: // it has not started
	case x.kind == http1.KindCancelled:
		a.Cancelled++
	case measure.TimedOut(string(x.kind)):
		a.Late(x.kind, &x.times)
	default:
		a.Broken(string(x.kind), x.detail, time.Duration(x.times.Mark))
	}
}

// collector returns a collector for a response that begins to arrive: a waiting request needs
// no memory for it.
func (q *requests) collector() *http1.Collector {
	if n := len(q.collectors); n > 0 {
		c := q.collectors[n-1]
		q.collectors = q.collectors[:n-1]
		c.HeadOnly, c.Trailing = false, false
		return c
	}
	return &http1.Collector{Limit: q.Slots.Common.BodyMax}
}

// release returns the collector.
func (q *requests) release(x *exchange) {
	if x.collector != nil {
		x.collector.Tap = nil
		q.collectors = append(q.collectors, x.collector)
		x.collector = nil
	}
}

// repeats sends a step's request again if its retry says so; false: its failure is final. Each
// time is a request of its own: the failed one is counted.
func (q *requests) repeats(index int32, step int16, x *exchange) bool {
	r := q.g.steps[step].request.Retry
	if r == nil || int(x.again) >= r.Times || q.course.isOver() || !r.Again(x.retryKind(), int(x.status)) {
		return false
	}
	n := q.Slots.At(index)
	n.Step, n.Conn = step, pool.None
	q.calls.end(n, x)
	*x = exchange{again: x.again + 1, rests: true, sample: x.sample}
	q.x[index] = x
	if r.Wait == 0 {
		q.rested(index, true)
		return true
	}
	n.Deadline = min(q.Clock.Now+int64(r.Wait), q.course.over)
	q.Slots.Alarm(index, n.Deadline)
	return true
}

// retryKind is the kind of a failure for retry; empty: its status alone is.
func (x *exchange) retryKind() string {
	if x.status >= 300 && string(x.kind) == measure.StatusKind(int(x.status)) {
		return ""
	}
	return string(x.kind)
}

// rested sends a request again, or ends its step.
func (q *requests) rested(index int32, again bool) {
	n, x := q.Slots.At(index), q.x[index]
	step, times, before := n.Step, x.again, x.sample
	q.x[index], n.Step = nil, pool.None
	*x = exchange{}
	q.exchanges = append(q.exchanges, x)
	if !again {
		q.users.finish(n.VU, step, stepBad)
		return
	}
	q.accounts[step].Retried++
	q.start(n.VU, int(step), q.Clock.Now)
	q.x[index].again = times
	q.x[index].sample.repeats(before)
}
