package engine

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"hyperscale/core/workflow"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
	opened "hyperscale/core/workflow/session"
	"hyperscale/runtime/engine/coroutine"
	"hyperscale/runtime/engine/pool"
	"hyperscale/runtime/engine/rpc"
	"hyperscale/runtime/engine/talk"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/sse"
)

// sessions are what functions have opened. A session of a step's function ends with its iteration at
// the latest, one of a function beside the steps with its user.
type sessions struct {
	*parts
	open      map[int32][]*session // by user
	idle      []*seat
	dirty     []*session // the loop has something to do for them
	forgotten uint64     // by the functions that opened them
	undone    undone
}

// seat is a place for one session at a time. Its slot is never given back.
type seat struct {
	slot  pool.RequestSlot
	index int32
}

// session is one of them. A function's calls leave what they need in its fields, and the loop does
// that on its own stack.
type session struct {
	l        *parts
	seat     *seat // nil: it is over
	exchange exchange
	vu       int32
	owner    int  // of its account
	beside   bool // a function beside the steps opened it
	isOpen   bool
	talk     *talk.Session // nil: a stream, or a call
	call     *rpc.Session  // nil: it is none
	inbox    *talk.Inbox
	errand
	waiters
	answer *workflow.Response // of the whole; nil: it goes on
}

// opening is a session that a function waits for.
type opening struct{ opened *session }

// errand is what the loop must do for a session.
type errand struct {
	listed bool   // among the dirty ones
	late   bool   // a function has waited for too long
	leaves uint16 // the code of the goodbye; 0: none
}

// waiters are the functions that wait for a session.
type waiters struct{ opener, reader, writer, closer *call }

var (
	_ workflow.Session = (*session)(nil)
	_ talk.Waiter      = (*session)(nil)
)

// OpenSession opens one.
func (c client) OpenSession(r *request.Request, as *workflow.As) (workflow.Session, error) {
	co := c.l.functions.current
	if why := c.l.functions.refusal(co); why != "" {
		return &session{l: c.l, inbox: new(talk.Inbox), answer: &workflow.Response{Kind: string(http1.KindCancelled), Error: why}}, nil
	}
	if len(c.l.sessions.open[co.vu]) >= opened.Most {
		return nil, language.Faultf("this virtual user has %d open sessions, which is the most", opened.Most).Do("close() one before, or keep one in vu.vars and use it again")
	}
	var o opening
	co.request, co.as, co.opening = r, as, &o
	co.co.Block(coroutine.WantAnswer)
	s := o.opened
	if s.answer == nil && !s.isOpen { // the function's time is over
		s.opener, s.late = nil, true
		s.soil()
	}
	s.ended(co)
	return s, nil
}

// begin opens the session that a coroutine waits for.
func (ss *sessions) begin(co *call) {
	r, as := co.request, co.as
	o := co.opening
	co.request, co.as, co.opening = nil, nil, nil
	s := &session{l: ss.parts, vu: co.vu, owner: co.owner(), beside: co.until > 0, inbox: new(talk.Inbox)}
	o.opened = s
	p, err := ss.requests.prepare(r)
	var greeting talk.Greeting
	switch {
	case err != nil:
	case r.Redis != nil:
		greeting = p.talk.Greeting
	case r.AMQP != nil:
		greeting = p.talk.Consumes()
	case r.NATS != nil:
		greeting, err = ss.g.messages.NewSubscribed(r, ss.cfg.Workflow)
	case r.MQTT != nil:
		greeting, err = ss.g.messages.NewTopics(r, ss.cfg.Workflow, ss.functions.named(co.vu))
	case r.Socket != nil:
		greeting, err = ss.g.messages.NewSocket(r.Socket, ss.cfg.Workflow.HTTP.MaxBody)
	}
	if err != nil {
		s.answer = &workflow.Response{Kind: string(http1.KindScript), Error: fmt.Sprint(err)}
		ss.functions.wake(co)
		return
	}
	s.seat, s.opener = ss.sit(), co
	ss.open[co.vu] = append(ss.open[co.vu], s)
	n, x := &s.seat.slot, &s.exchange
	n.VU, n.Step, n.Due, n.Account = co.vu, co.step, ss.Clock.Now-co.late, ss.account(s.owner, r, as)
	co.late = 0
	timeout := ss.cfg.Timeout
	if r.Timeout > 0 {
		timeout = r.Timeout
	}
	n.Deadline, n.Call, n.Host = ss.Clock.Now+int64(timeout), &p.call, p.host
	ss.requests.x[s.seat.index] = x
	it := ss.cfg.Trace.Of(co.vu)
	x.begin(r, n.Due, r.Stream != nil || r.GRPC != nil || it != nil || ss.requests.debug != nil, false)
	x.as, x.session, x.sample = as, s, sample{of: it, due: n.Due}
	n.Tap, n.Status, n.Counted = nil, 0, false
	n.Serial++
	if greeting != nil {
		s.talk = ss.requests.talks.Open(greeting, s, n.Account, n.Due, !ss.cfg.Workflow.HeadsUnread)
		s.inbox, n.Talk = &s.talk.Inbox, s.talk
	} else if ss.requests.stream(n, x, n.Due); r.GRPC != nil {
		ss.requests.calls.begin(&ss.requests, n, x, false)
		s.call = x.rpc.Open(s.inbox.Full, s.message)
	}
	if r.Socket != nil {
		n.Host = ss.Dialer.TalkHost(&p.call, talk.SocketHost("session "+pool.Key(&p.call), p.call.Scheme == "https"))
	}
	co.pause, co.co.Want = DurationMax, coroutine.WantSleep
	ss.functions.rest(co)
	ss.requests.Send(s.seat.index)
}

// sit returns a free seat.
func (ss *sessions) sit() *seat {
	if last := len(ss.idle) - 1; last >= 0 {
		at := ss.idle[last]
		ss.idle = ss.idle[:last]
		return at
	}
	at := new(seat)
	at.index = ss.Slots.More(&at.slot)
	ss.requests.x = append(ss.requests.x, nil)
	ss.functions.calls = append(ss.functions.calls, nil) // by slot
	return at
}

// soil lists a session: the loop looks at it behind the function that runs.
func (s *session) soil() {
	if s.seat != nil && !s.listed {
		s.listed = true
		s.l.sessions.dirty = append(s.l.sessions.dirty, s)
	}
}

// serve does what functions have left in their sessions.
func (ss *sessions) serve() {
	for i := 0; i < len(ss.dirty); i++ {
		s := ss.dirty[i]
		if s.listed = false; s.seat != nil && !s.late && s.leaves == 0 && s.talk != nil {
			ss.Wire.Flush(s.seat.index)
		}
		if s.seat != nil && s.inbox.Roomy() {
			ss.Wire.ReadOn(s.seat.index)
		}
		switch {
		case s.seat == nil:
		case s.late:
			ss.Wire.Fail(s.seat.index, errStuck)
		case s.leaves != 0:
			s.leave()
		}
	}
	clear(ss.dirty)
	ss.dirty = ss.dirty[:0]
}

// errStuck: what a session must send found no room for a whole timeout.
var errStuck = &http1.Error{Kind: http1.KindWriteTimeout, Detail: "the other side took nothing in time"}

// leave says goodbye. A stream has none: it is closed.
func (s *session) leave() {
	n, index := &s.seat.slot, s.seat.index
	if s.talk == nil && s.call == nil {
		s.l.Wire.Enough(index)
		return
	}
	n.Deadline = min(n.Deadline, s.l.Clock.Now+int64(s.l.cfg.Timeout))
	s.l.Slots.Alarm(index, n.Deadline)
	leaves := s.leaves
	if s.leaves = 0; s.call != nil {
		s.inbox.Shut()
		s.closeSend()
		return
	}
	s.talk.Leave(leaves)
	s.l.Wire.ReadOn(index)
	s.l.Wire.Flush(index)
}

// Opened implements talk.Waiter: from now on nothing bounds the session but its user.
func (s *session) Opened() {
	if s.isOpen = true; s.call == nil || s.exchange.request.Timeout == 0 {
		s.seat.slot.Deadline = pool.Never // else it is that of the whole call
	}
	s.wake(&s.opener)
}

// Came implements talk.Waiter.
func (s *session) Came() { s.wake(&s.reader) }

// Took implements talk.Waiter.
func (s *session) Took() {
	if s.writer != nil && !s.talk.Crowded() {
		s.wake(&s.writer)
	}
}

// event takes an event of a stream, which came then.
func (s *session) event(e *sse.Event, latency int64) {
	s.inbox.Put(opened.Message{Data: bytes.Clone(e.Data), Type: string(e.Type), ID: string(e.ID), Latency: time.Duration(latency)})
	s.wake(&s.reader)
}

// message takes a message of a call.
func (s *session) message(m opened.Message) {
	s.l.requests.debug.message("< ", m.Data)
	s.inbox.Put(m)
	s.wake(&s.reader)
}

func (s *session) wake(waiter **call) {
	if co := *waiter; co != nil && co.co != nil && co.co.Want == coroutine.WantSleep {
		s.l.functions.unpark(co)
	}
	*waiter = nil
}

// over takes the end of a session.
func (s *session) over(n *pool.RequestSlot, kind http1.Kind, why string) {
	x := &s.exchange
	s.answer = x.response()
	if s.talk != nil {
		s.answer.Headers = s.talk.Head()
	}
	if kind != http1.KindNone {
		s.answer.Judged, s.answer.Wrong, s.answer.Why = true, string(kind), why
	}
	x.account(n, s.answer)
	if s.l.requests.passesOn(s.owner) {
		n.Account.PassOn(&s.l.requests.accounts[s.owner])
	}
	all := s.l.sessions.open[s.vu]
	if i := slices.Index(all, s); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if s.l.sessions.open[s.vu] = all; len(all) == 0 {
		delete(s.l.sessions.open, s.vu)
	}
	n.Talk = nil
	if s.talk != nil {
		s.talk.Part()
	}
	s.l.sessions.idle = append(s.l.sessions.idle, s.seat)
	s.seat, x.session = nil, nil
	for _, waiter := range []**call{&s.opener, &s.reader, &s.writer, &s.closer} {
		s.wake(waiter)
	}
}

// ended gives a function the response of a session that is over.
func (s *session) ended(co *call) {
	if s.answer != nil {
		co.answer, co.exchange.times = s.answer, s.exchange.times
	}
}

// Send implements opened.Link, as the methods below do.
func (s *session) Send(data []byte, binary bool) (bool, error) {
	co := s.l.functions.current
	if s.call != nil && s.answer == nil {
		return s.tell(co, data)
	}
	if s.answer != nil || s.talk == nil {
		s.ended(co)
		return false, nil
	}
	queued, err := s.talk.Tell(data, binary)
	if err != nil {
		return false, language.Faultf("send: %v", err).In("data")
	}
	return s.waits(co, "send", queued)
}

// Settle implements opened.Link.
func (s *session) Settle(m *opened.Message, as opened.Settlement) (bool, error) {
	co := s.l.functions.current
	if s.answer != nil || s.talk == nil {
		s.ended(co)
		return false, nil
	}
	queued, err := s.talk.Settle(m, as)
	if err != nil {
		return false, language.Faultf("%v", err)
	}
	return s.waits(co, "settle", queued)
}

// waits has what is queued sent, and waits while too much is not.
func (s *session) waits(co *call, what string, queued bool) (bool, error) {
	f := &s.l.functions
	s.soil()
	if !s.talk.Crowded() {
		return queued, nil
	}
	if s.writer != nil {
		return queued, language.Faultf("%s: another function of this virtual user waits to send", what).Do("open a session for each of them")
	}
	until := s.l.Clock.Now + int64(s.l.cfg.Timeout)
	for s.answer == nil && s.talk.Crowded() && f.refusal(co) == "" {
		left := until - s.l.Clock.Tick()
		if s.late = left <= 0; s.late {
			s.soil()
			left = int64(DurationMax)
		}
		s.writer = co
		f.parkFor(co, time.Duration(left))
		s.writer = nil
	}
	s.ended(co)
	return queued && s.answer == nil, nil
}

// tell sends a message of a call.
func (s *session) tell(co *call, data []byte) (bool, error) {
	if s.call.Closed() {
		if s.call.Last() {
			return false, language.Faultf("send: the method takes one message").In("data").Do("write it once; receive() gives what the server streams")
		}
		return false, nil
	}
	b, err := s.call.Encode(data)
	if err != nil {
		return false, language.Faultf("send: %v", err).In("data")
	}
	waiting, taken := s.l.Wire.Append(s.seat.index, b, s.seat.slot.Account.Messages().Sent())
	if !taken {
		return false, nil
	}
	s.l.requests.debug.message("> ", data)
	if s.call.Said(); s.call.Last() {
		s.closeSend()
	}
	for until := s.l.Clock.Now + int64(s.l.cfg.Timeout); waiting > unsentMost && s.answer == nil && s.l.functions.refusal(co) == ""; {
		if s.l.Clock.Tick() > until && !s.late {
			s.late = true
			s.soil()
		}
		s.l.functions.parkFor(co, unsentEvery)
		if s.answer == nil {
			waiting, _ = s.l.Wire.Append(s.seat.index, nil, nil)
		}
	}
	s.ended(co)
	return s.answer == nil, nil
}

const (
	unsentMost  = 64 << 10 // bytes of a call that its sender need not wait for
	unsentEvery = time.Millisecond
)

// CloseSend says that a function sends nothing more.
func (s *session) CloseSend() error {
	if s.answer == nil {
		s.closeSend()
	}
	return nil
}

func (s *session) closeSend() {
	if s.call != nil && s.call.Close() {
		s.l.Wire.End(s.seat.index)
	}
}

// Receive returns the oldest message, which it may have to wait for.
func (s *session) Receive(timeout time.Duration) (opened.Message, error) {
	if s.reader != nil {
		return opened.Message{}, errTwo("receive")
	}
	var m opened.Message
	why := s.await(timeout, func() (ok bool) {
		if m, ok = s.inbox.Take(); !ok && s.talk != nil && s.answer == nil && s.talk.Ask() {
			s.soil()
		}
		return ok
	})
	if m.Error = why; why == "" && s.inbox.Roomy() {
		s.soil() // the loop may read on
	}
	return m, nil
}

// Ping returns how long the answer to a ping takes.
func (s *session) Ping(timeout time.Duration) (opened.Message, error) {
	if s.reader != nil {
		return opened.Message{}, errTwo("ping")
	}
	if s.answer == nil && s.talk != nil && s.talk.Ping() {
		s.soil()
	}
	var m opened.Message
	m.Error = s.await(timeout, func() bool {
		if s.talk != nil {
			m.Latency = s.talk.Pong()
		}
		return m.Latency > 0
	})
	return m, nil
}

func errTwo(what string) error {
	return language.Faultf("%s: another function of this virtual user waits for what comes", what).Do("open a session for each of them")
}

// await suspends the running function until something holds, and returns why it does not.
func (s *session) await(timeout time.Duration, holds func() bool) string {
	f := &s.l.functions
	co := f.current
	if timeout == 0 {
		timeout = s.l.cfg.Timeout
	}
	for until := s.l.Clock.Tick() + int64(timeout); ; {
		left := until - s.l.Clock.Tick()
		switch {
		case holds():
			return ""
		case s.answer != nil:
			s.ended(co)
			return opened.Closed
		case f.refusal(co) != "":
			return opened.Closed
		case left <= 0:
			return opened.Timeout
		}
		s.reader = co
		f.parkFor(co, time.Duration(left))
		s.reader = nil
	}
}

// Goodbye says it, and waits until the session is over.
func (s *session) Goodbye(code uint16) error {
	f := &s.l.functions
	co := f.current
	if s.answer == nil && s.closer != nil {
		return language.Faultf("close: another function of this virtual user closes the session")
	}
	if s.answer == nil {
		s.leaves = code
		s.soil()
	}
	for s.answer == nil && f.refusal(co) == "" {
		s.closer = co
		f.park(co)
		s.closer = nil
	}
	s.ended(co)
	return nil
}

// pin returns what keeps the connection of a transaction; nil: its user has too many.
func (ss *sessions) pin(co *call, t *opened.Transaction) *pool.Pin {
	if p, ok := t.Hold.(*pool.Pin); ok {
		return p
	}
	p := ss.Pins.Begin(co.vu, co.until > 0, opened.Most)
	if p != nil {
		t.Hold = p
	}
	return p
}

// finish ends the sessions and transactions of a user: all, or those of its steps' functions.
func (ss *sessions) finish(vu int32, all bool) {
	if ended := ss.Pins.Finish(vu, all); ss.Halt.Cut || ss.Halt.Cancelled.Load() {
		ss.undone.stopped += ended
	} else {
		ss.undone.forgotten += ended
	}
	for _, s := range slices.Clone(ss.open[vu]) {
		switch {
		case s.seat == nil || s.beside && !all:
		case !s.isOpen || ss.Halt.Cancelled.Load():
			ss.Wire.Fail(s.seat.index, pool.ErrCancelled)
		default:
			if !s.beside {
				ss.forgotten++
			}
			if s.call == nil {
				ss.Wire.Enough(s.seat.index)
			} else {
				ss.Wire.Fail(s.seat.index, pool.ErrCancelled) // how it would have ended is not known
			}
		}
	}
}

// cancelAll ends what a run that is over has in flight. A user's vu_teardown may close what it keeps.
func (ss *sessions) cancelAll() {
	for vu := range int32(len(ss.users.users)) {
		for _, s := range slices.Clone(ss.open[vu]) {
			if s.seat != nil && (!s.beside || !s.isOpen || ss.Halt.Cancelled.Load()) {
				ss.Wire.Fail(s.seat.index, pool.ErrCancelled)
			}
		}
	}
}

// end ends all sessions.
func (ss *sessions) end() {
	for vu := range int32(len(ss.users.users)) {
		ss.finish(vu, true)
	}
	if ss.forgotten > 0 {
		ss.functions.tell(fmt.Sprintf("%d sessions were still open at the end of their iterations, and were closed: call close(), or open them in vu_setup", ss.forgotten))
	}
	ss.undone.tell(ss.functions.log)
}

// shift moves the instants of sessions and transactions to a clock that began so much later.
func (ss *sessions) shift(by int64) {
	ss.Pins.Shift(by)
	for vu := range int32(len(ss.users.users)) {
		for _, s := range ss.open[vu] {
			s.exchange.times.Shift(by)
			if s.seat.slot.Due -= by; s.talk != nil {
				s.talk.Shift(by)
			}
			if s.call != nil {
				s.call.Shift(by)
			}
			s.seat.slot.Instants.Shift(by)
			if x := s.exchange.stream; x != nil {
				x.due, x.last, x.began = x.due-by, x.last-by, x.began-by
			}
		}
	}
}
