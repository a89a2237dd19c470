package engine

import (
	"cmp"
	"slices"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/cookie"
	"hyperscale/runtime/protocol/digest"
	"hyperscale/runtime/protocol/http1"
)

// requests produces the bytes of the slots' requests, and passes their answers on.
type requests struct {
	*parts
	accounts   []measure.Account // by step
	names      measure.Names     // of functions' requests
	x          []*exchange       // by slot; nil: only the status of its answer matters
	exchanges  []*exchange       // unused ones
	collectors []*http1.Collector
	values     values
	jars       map[int32]*cookie.Jar    // by user, of users with cookies
	cookies    []byte                   // the Cookie field under construction
	dressed    map[int32]*http1.Call    // by slot, of requests that were rewritten
	wallets    map[int32]*digest.Wallet // by user, of users that were challenged
	proof      []byte                   // the Authorization field under construction
	memory     *memory                  // of functions' requests; nil: there are no functions
	debug      *printer                 // nil: off
	streams    []*stream                // unused ones
	calls      calls
	talks      talk.Stock
	carriage
}

// carriage has the exchanges that carry others.
type carriage struct{ carriers, idle []*carrier }

func newRequests(p *parts) requests {
	r := requests{
		parts: p, accounts: newAccounts(p.g, p.cfg.Workflow.Plan, p.cfg.Mask), names: newNames(p.g, p.cfg.Workflow.Plan, p.cfg.Mask),
		x: make([]*exchange, len(p.Slots.Own)), values: newValues(*p.cfg), talks: talk.NewStock(&p.Clock, nil), jars: map[int32]*cookie.Jar{}, dressed: map[int32]*http1.Call{}, wallets: map[int32]*digest.Wallet{},
	}
	if p.g.scripted {
		r.memory = newMemory()
	}
	if p.cfg.Debug != nil {
		r.debug = &printer{p.cfg.Debug, p.cfg.Mask}
		r.talks = talk.NewStock(&p.Clock, r.debug.message)
		p.Wire.Watch(r.debug)
	}
	return r
}

// start dispatches the request of a request step.
func (q *requests) start(vu int32, step int, due int64) {
	s := &q.g.steps[step]
	index := vu*int32(q.g.slots) + int32(s.slot)
	n := &q.Slots.Own[index]
	n.VU, n.Step, n.Account, n.Due = vu, int16(step), &q.accounts[step], due
	n.Deadline, n.Call, n.Host = q.Clock.Now+int64(s.timeout), s.call, s.host
	it := q.cfg.Trace.Of(vu)
	n.Tap = nil
	events, talks, calls := s.request.Stream != nil, s.talk != nil, s.request.GRPC != nil
	if calls || it != nil || s.needed || s.request.Redirects > 0 || s.request.Digest() || s.request.Retry != nil || events || talks || q.debug != nil {
		x := q.exchange()
		q.x[index] = x
		x.begin(s.request, due, s.keeps.head || it != nil || events || q.debug != nil, s.keeps.body || q.debug != nil && !events)
		x.sample = sample{of: it, due: due}
		if q.stream(n, x, due); calls {
			q.calls.begin(q, n, x, s.reads.code)
		}
		if talks {
			x.talk = q.talks.Begin(s.talk, n.Account, q.values.of(vu), due, x.keeps.body).As(q.functions.named(vu))
			n.Talk, x.codes = x.talk, s.reads.code
		}
	}
	n.Serial++
	n.Counted = false
	if x := q.x[index]; x != nil && n.Call.Template != nil && (!calls || it != nil || q.debug != nil) {
		x.request = s.request.Filled(q.values.of(vu))
		n.Call = q.filledCall(n)
	}
	q.Send(index)
}

// Send dispatches one request of a slot: the first one, or that of a redirect.
func (q *requests) Send(index int32) {
	n := q.Slots.At(index)
	n.Sent, n.Refused, n.In, n.Conn, n.Framed = 0, 0, 0, pool.None, nil
	n.Instants = measure.Instants{}
	if n.Tap != nil {
		n.Status = 0
		if x := q.x[index]; x.rpc != nil {
			x.rpc.Again()
		} else {
			x.stream.again()
		}
	}
	if n.Call.Template != nil {
		if err := q.fill(index); err != nil {
			q.Slots.Breaks(index, err)
			return
		}
	}
	x := q.x[index]
	proves := x != nil && x.request.Digest()
	if proves {
		x.undress(n)
	}
	if (proves || len(q.jars) > 0 || q.Tunnels.Proxy != nil) && (n.Call.Template != nil || n.Call.HeadLen > 0) { // it is HTTP
		q.dress(index)
	}
	if x != nil && x.talk != nil {
		err := route(n, x.talk, q.parts)
		if err == error(talk.ErrParks) {
			parking{q}.parks(index)
			return
		}
		if err != nil {
			q.Slots.Breaks(index, err)
			return
		}
		if x.carries != nil {
			n.Deadline = x.talk.Carries(func(int32) {})
		}
	}
	q.Wire.Dispatch(index)
}

// route sends an exchange where its keys are.
func route(n *pool.RequestSlot, x *talk.Exchange, l *parts) error {
	to, err := x.Route()
	if to == nil || err != nil {
		return err
	}
	if to.At == nil {
		to.At = l.Dialer.TalkHost(&to.Call, to.Host)
	}
	n.Host = to.At
	return nil
}

// Answered takes a complete response over any protocol.
func (q *requests) Answered(index int32, now int64) {
	n := q.Slots.At(index)
	q.forgetRest(index)
	if x := q.x[index]; x != nil && x.carries != nil {
		parking{q}.ends(index, http1.KindNone, "")
		return
	}
	if q.x[index] != nil {
		q.answered(index, now)
		return
	}
	var t measure.Times
	t.Begin(n.Due)
	n.AddTo(&t, now)
	r := &q.values.view
	r.Status, r.Size, r.Latency, r.Fields, r.Body = int(n.Status), n.Size, time.Duration(t.Latency()), nil, nil
	if c := n.Parser.Collector(); c != nil {
		r.Fields, r.Body = c, c.Body
	}
	good, _, _ := q.judge(n.VU, n.Step, r, &t)
	q.reclaim(n)
	step := n.Step
	n.Step = pool.None
	q.users.finish(n.VU, step, stateOf(good))
}

// Failed ends a request without a complete answer, and its step.
func (q *requests) Failed(index int32, kind http1.Kind, example string, now int64) {
	n := q.Slots.At(index)
	q.forgetRest(index)
	if x := q.x[index]; x != nil && x.rests { // what has failed is counted
		q.rested(index, false)
		return
	}
	if x := q.x[index]; x != nil && x.carries != nil {
		parking{q}.ends(index, kind, example)
		return
	}
	if q.x[index] != nil {
		q.failed(index, kind, example, now)
		return
	}
	q.reclaim(n)
	switch {
	case kind == http1.KindCancelled && n.Counted:
		n.Account.Cancelled++
	case kind == http1.KindCancelled: // it has not started
	case measure.TimedOut(string(kind)):
		var t measure.Times
		t.Begin(n.Due)
		n.AddTo(&t, now)
		n.Account.Late(kind, &t)
	default:
		n.Account.Broken(string(kind), example, time.Duration(now))
	}
	step := n.Step
	n.Step = pool.None
	q.users.finish(n.VU, step, stepBad)
}

// Collector returns the collector for an answer that begins to arrive; nil: nothing reads it.
func (q *requests) Collector(index int32) *http1.Collector {
	if x := q.x[index]; x != nil {
		if x.collector == nil && x.collects() {
			x.collector = q.collector()
			if x.rpc != nil {
				x.rpc.Begins(x.collector)
			}
			x.collector.HeadOnly, x.collector.Tap, x.collector.Trailing = !x.keeps.body, q.Slots.At(index).Tap, x.rpc != nil
		}
		return x.collector
	}
	s := &q.g.steps[q.Slots.At(index).Step]
	if !s.reads.head && !s.reads.body {
		return nil
	}
	n := q.Slots.At(index)
	if n.Parser.Collector() == nil {
		c := q.collector()
		c.HeadOnly = !s.reads.body
		n.Parser.Collect(c)
	}
	return n.Parser.Collector()
}

// Wakes wakes the function of a slot after its sleep, or sends the request that waits to be sent
// again.
func (q *requests) Wakes(index int32) bool {
	if (parking{q}).unparks(index) {
		return true
	}
	if x := q.x[index]; x != nil && x.stream != nil && x.stream.over() {
		q.Wire.Enough(index)
		return true
	}
	if int(index) >= len(q.Slots.Own) {
		return q.functions.wakes(index)
	}
	if x := q.x[index]; x == nil || !x.rests {
		return false
	}
	q.rested(index, !q.course.isOver())
	return true
}

// Framed returns the slot's request in the form of the run's protocol. That of a step is built
// once, unless it contains values.
func (q *requests) Framed(index int32) *codec.Operation {
	n := q.Slots.At(index)
	if n.Call.Open {
		q.x[index].session.Opened()
	}
	if s := &q.g.steps[n.Step]; s.call != nil && n.Call == s.call && s.call.Template == nil {
		if s.framed == nil {
			s.framed = new(codec.Operation)
			q.ProtocolOf(n.Host).Compile(s.framed, s.call)
		}
		n.Framed = s.framed
		return n.Framed
	}
	if n.Own == nil {
		n.Own = new(pool.OwnOperation)
	}
	n.Framed = &n.Own.Operation
	q.Outgoing(index)
	q.ProtocolOf(n.Host).Compile(&n.Own.Operation, q.undressed(n))
	// The body is sent in pieces, and its buffer is reused meanwhile.
	n.Own.Copy = append(n.Own.Copy[:0], n.Own.Body...)
	n.Own.Inserts = slices.Clone(n.Own.Inserts)
	n.Own.Body = n.Own.Copy
	return n.Framed
}

// account returns that of a session: without a name it is that of its kind and path.
func (ss *sessions) account(owner int, r *request.Request, as *workflow.As) *measure.Account {
	group, name, method, url := "", "", "SSE", r.URL
	if as != nil {
		group, name = as.Group, as.Name
	}
	switch {
	case r.GRPC != nil:
		method = r.Method
	case r.Redis != nil, r.NATS != nil, r.MQTT != nil, r.AMQP != nil:
		name, method = cmp.Or(name, r.Method), r.Method // it has no path
	case r.Socket != nil:
		method, url = "WebSocket", "ws"+r.URL[len("http"):]
	}
	return ss.requests.names.Account(owner, group, name, method, url)
}

// parking has the exchanges that wait for their turn: in a group, or for one that carries them.
type parking struct{ *requests }

// parks lets an exchange wait for its turn: it has started, and its time runs.
func (t parking) parks(index int32) {
	n := t.Slots.At(index)
	if n.Deadline = t.x[index].talk.Parks(index, n.Deadline); n.Deadline != pool.Never {
		t.Slots.SetOut(index)
	}
	for _, x := range t.talks.Carriers() {
		t.begins(x)
	}
	t.handsOver()
}

// unparks sends an exchange that waits, or ends it. False: the slot's does not wait.
func (t parking) unparks(index int32) bool {
	x := t.x[index]
	if x == nil || x.talk == nil {
		return false
	}
	deadline, is := x.talk.Parked()
	if !is {
		return false
	}
	x.talk.Unparks()
	n := t.Slots.At(index)
	n.Deadline = deadline
	switch kind, detail, landed := x.talk.Landed(); {
	case landed && kind != http1.KindNone:
		t.Wire.Fail(index, &http1.Error{Kind: kind, Detail: detail})
	case landed:
		n.Status, n.Size = x.talk.Status(), int64(len(x.talk.Last()))
		n.Serial++ // tickets of it are void
		t.Answered(index, t.Clock.Now)
	case deadline <= t.Clock.Now:
		t.Wire.Fail(index, x.talk.Overdue())
	default:
		t.Send(index)
	}
	return true
}

// handsOver sends the exchanges whose turn has come. A run that is cut sends none: they end with it. Those that
// another one has carried have their outcomes, also then.
func (t parking) handsOver() {
	for _, index := range t.talks.Turns() {
		if stops := t.Halt.Cut || t.Halt.Cancelled.Load(); !stops || t.landed(index) {
			t.unparks(index)
		}
	}
}

func (t parking) landed(index int32) bool {
	x := t.x[index]
	if x == nil || x.talk == nil {
		return false
	}
	_, _, is := x.talk.Landed()
	return is
}

// carrier is the slot of an exchange that carries what others gather. It is no step's: no figure counts it.
type carrier struct {
	slot     pool.RequestSlot
	index    int32
	account  measure.Account // its bytes, until it ends
	exchange exchange
}

// begins sends an exchange that carries others.
func (t parking) begins(x *talk.Exchange) {
	var c *carrier
	if last := len(t.idle) - 1; last >= 0 {
		c, t.idle = t.idle[last], t.idle[:last]
	} else {
		c = new(carrier)
		c.index = t.Slots.More(&c.slot)
		t.x = append(t.x, nil)
		t.functions.calls = append(t.functions.calls, nil) // by slot
		t.carriers = append(t.carriers, c)
	}
	n := &c.slot
	n.VU, n.Step, n.Account, n.Due, n.Deadline = t.functions.own(), 0, &c.account, t.Clock.Now, pool.Never
	n.Call, n.Talk, n.Counted = x.Shown(), x, true
	n.Serial++
	c.exchange = exchange{request: new(request.Request), live: live{talk: x, carries: c}}
	t.x[c.index] = &c.exchange
	t.Send(c.index)
}

// ends takes the outcome of a carrier: those that it carried have it, and the times of its connection. Its bytes
// are those of the first one's step.
func (t parking) ends(index int32, kind http1.Kind, detail string) {
	x := t.x[index]
	c, of := x.carries, x.talk
	n := &c.slot
	if kind != http1.KindNone {
		of.Astray(kind)
	}
	_ = of.Carries(func(slot int32) { t.Slots.At(slot).Instants = n.Instants })
	of.Lands(kind, detail)
	a := of.Pays()
	a.BytesIn, a.BytesOut = a.BytesIn+c.account.BytesIn, a.BytesOut+c.account.BytesOut
	c.account.BytesIn, c.account.BytesOut = 0, 0
	t.talks.End(of)
	n.Talk, n.Step, n.Call = nil, pool.None, nil
	t.x[index], c.exchange = nil, exchange{}
	t.idle = append(t.idle, c)
	t.handsOver()
}

// cut ends the carriers: those that they carry have ended.
func (t parking) cut() {
	for _, c := range t.carriers {
		if c.slot.Step != pool.None {
			t.Wire.Fail(c.index, pool.ErrCancelled)
		}
	}
}
