package engine

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
)

// lane is a place for one request at a time, and the request that is under way there:
// of a virtual user's request steps, of which some share one, or of a coroutine. An
// alarm of the wheel carries its index.
type lane struct {
	parser  http1.Parser
	call    *http1.Call // what is sent
	host    *host       // where to
	x       *exchange   // of a request whose answer is wanted, or that may be sent elsewhere; else nil
	account *measure.Account
	due     int64 // intended start of the request
	measure.Instants
	deadline int64
	alarm    int64       // when the wheel fires for it; 0: not armed
	patience int64       // while it waits in a pool: what is left of its time when its turn comes
	pool     *pool       // where it waits; nil: it does not
	reserved *pool       // for which it makes a connection
	framed   *http2.Call // call, as last sent over HTTP/2
	own      *ownCall    // memory for that
	size     int64       // of the answer's body
	home     ticket      // the connection that its last stream was on
	sent     int         // bytes of the request
	stream   uint32      // over HTTP/2
	conn     int32       // none: it has no connection
	vu       int32
	serial   uint32 // of the request: what speaks of another one is void
	status   uint16 // of the answer
	refused  uint16 // errno of a write that an answer may still explain; 0: none
	step     int16  // none: no request under way
	first    uint8  // index of the host's address that was tried first
	tried    uint8  // addresses of the host that took no connection
	counted  bool   // its step knows that it has started
	broke    bool   // it stands in loop.broken: nothing else may end the request
}

// lane finds one by its index.
func (l *loop) lane(index int32) *lane {
	if int(index) < len(l.lanes) {
		return &l.lanes[index]
	}
	return &l.coroutines.all[int(index)-len(l.lanes)].lane
}

// start puts a request step's request on its way.
func (l *loop) start(vu int32, step int, due int64) {
	s := &l.g.steps[step]
	index := vu*int32(l.g.lanes) + int32(s.lane)
	n := &l.lanes[index]
	n.vu, n.step, n.account, n.due = vu, int16(step), &l.accounts[step], due
	n.deadline, n.call, n.host, n.x = l.clock.Now+int64(s.timeout), s.call, s.host, nil
	if s.needed || s.request.Redirects > 0 || l.debug != nil {
		n.x = l.exchange()
		n.x.begin(s.request, due, s.keepsHead || l.debug != nil, s.keepsBody || l.debug != nil)
	}
	n.serial++
	n.counted = false
	if n.x != nil && n.call.Template != nil {
		n.x.request = s.request.Filled(l.values.of(vu))
		n.call = l.filledCall(n)
	}
	l.send(index)
}

// count counts a request that is put on its way.
func (l *loop) count(n *lane) {
	if !n.counted {
		n.counted = true
		n.account.Start(time.Duration(l.clock.Now))
	}
}

// send puts one request of a lane on the wire: the first, or where a redirect leads.
func (l *loop) send(index int32) {
	n := l.lane(index)
	n.sent, n.refused, n.conn, n.framed = 0, 0, none, nil
	n.Instants = measure.Instants{}
	if n.call.Template != nil {
		if err := l.fill(index); err != nil {
			l.breaks(index, err)
			return
		}
	}
	if len(l.jars) > 0 || l.proxy != nil {
		l.dress(index)
	}
	if l.pooled(n.host) {
		l.join(index)
		return
	}
	l.setOut(index)
	l.parses(n)
	if at := l.pick(n.vu, n.host); at >= 0 {
		c := l.conns.at(at)
		c.lane, c.used, n.conn = index, true, at
		l.write(index)
		return
	}
	l.connect(index)
}

// alarm makes the wheel fire for the lane. A deadline only moves the alarm when it
// comes first: one that rings too early is set again, which is far rarer than a request.
func (l *loop) alarm(index int32, at int64) {
	if n := l.lane(index); n.alarm == 0 || n.alarm > at {
		n.alarm = at
		l.wheel.Set(index, at)
	}
}

// write sends what the kernel takes of the rest of the request.
func (l *loop) write(index int32) {
	n := l.lane(index)
	c := l.conns.at(n.conn)
	if n.Wrote == 0 {
		n.Wrote = max(l.clock.Now, 1)
	}
	if c.secure != nil {
		l.writeSecure(index)
		return
	}
	bytes := l.outgoing(index)
	took, errno := epoll.Write(int(c.fd), bytes[n.sent:])
	n.sent += took
	n.account.BytesOut += uint64(took)
	switch {
	case errno == 0 && n.sent == len(bytes):
		l.wroteAll(n, c)
	case errno == 0 || errno == syscall.EAGAIN:
		l.keepRest(index, bytes)
		l.watch(n.conn, true)
	default:
		l.unwritten(index, errno)
	}
}

// longRequest is a length whose copying takes a time of its own.
const longRequest = 16 << 10

// wroteAll takes note that the kernel has all of the request.
func (l *loop) wroteAll(n *lane, c *conn) {
	n.account.Sent++
	n.Written = n.Wrote
	if c.blocked || n.sent > longRequest {
		n.Written = l.clock.Tick()
		l.watch(n.conn, false)
	}
}

// breaks notes that a request failed while it was started or written.
func (l *loop) breaks(index int32, err error) {
	l.lane(index).broke = true
	l.broken = append(l.broken, breakage{index, err})
}

// unwritten takes a refused write. The server may have answered before it closed: then
// that answer is read by the event that is sure to come, and written no more.
func (l *loop) unwritten(index int32, err error) {
	n := l.lane(index)
	var errno syscall.Errno
	if n.sent > 0 && errors.As(err, &errno) {
		n.refused = uint16(errno)
		l.watch(n.conn, false)
		return
	}
	l.breaks(index, fmt.Errorf("write the request: %w", err))
}

// feed takes what the server sent, no bytes for the end of the stream. It tells whether
// the connection is to be read no more.
func (l *loop) feed(index int32, b []byte) bool {
	n := l.lane(index)
	n.account.BytesIn += uint64(len(b))
	var done bool
	var err error
	switch {
	case len(b) > 0:
		if n.x != nil && n.x.collector == nil && n.x.collects() {
			n.x.collector = l.collector()
			n.x.collector.HeadOnly = !n.x.whole
			n.parser.Collect(n.x.collector)
		} else if n.x == nil {
			l.collect(n)
		}
		_, done, err = n.parser.Feed(b)
		if l.common.Len() > 0 {
			l.setCookies(n)
		}
	case n.refused != 0 && !n.parser.Started():
		err = fmt.Errorf("write the request: %w", syscall.Errno(n.refused)) // an end by itself says less
	default:
		done, err = n.parser.FinishEOF()
	}
	switch {
	case err != nil:
		l.fail(index, err)
		return true
	case done:
		l.complete(index)
		return true
	}
	if n.Heard == 0 {
		n.Heard = l.clock.Tick()
	}
	return false
}

// complete takes a whole response.
func (l *loop) complete(index int32) {
	n := l.lane(index)
	now := l.clock.Tick()
	if n.Heard == 0 {
		n.Heard = now
	}
	at := n.conn
	n.conn, n.status, n.size = none, uint16(n.parser.Status()), n.parser.BytesBody()
	l.forgetRest(index)
	if n.parser.Reusable() && !n.call.Close && n.Written != 0 {
		l.keep(at)
	} else {
		l.hangUp(at)
	}
	l.whole(index, now)
}

// whole takes a whole response, whichever way it came.
func (l *loop) whole(index int32, now int64) {
	n := l.lane(index)
	if n.x != nil {
		l.answered(index, now)
		return
	}
	var t measure.Times
	t.Begin(n.due)
	n.AddTo(&t, now)
	r := &l.values.view
	r.Status, r.Size, r.Latency, r.Fields, r.Body = int(n.status), n.size, time.Duration(t.Latency()), nil, nil
	if c := n.parser.Collector(); c != nil {
		r.Fields, r.Body = c, c.Body
	}
	good, _, _ := l.judge(n.vu, n.step, r, &t)
	l.reclaim(n)
	step := n.step
	n.step = none
	l.finish(n.vu, step, stateOf(good))
}

// fail takes the end of a request without a whole answer.
func (l *loop) fail(index int32, err error) {
	n := l.lane(index)
	now := l.clock.Tick()
	kind := l.kind(n, err)
	example := detail(err)
	if kind == http1.KindClosed && n.conn >= 0 && !l.conns.at(n.conn).used && !n.host.secure {
		example += ": does the server speak https:// on this port?" // it says nothing to who does not
	}
	if n.conn >= 0 {
		if l.conns.at(n.conn).multi != nil {
			l.part(n, measure.TimedOut(string(kind)))
		} else {
			l.hangUp(n.conn)
		}
		n.conn = none
	}
	if n.pool != nil {
		l.owe(n.pool)
		n.pool = nil
	}
	if kind != http1.KindCancelled {
		l.count(n)
	}
	if p := n.reserved; p != nil {
		n.reserved = nil
		defer l.bereft(p, err)
	}
	n.broke = false
	n.serial++ // nobody may come back to it
	l.forgetRest(index)
	if n.x != nil {
		l.failed(index, kind, example, now)
		return
	}
	l.reclaim(n)
	switch {
	case kind == http1.KindCancelled && n.counted:
		n.account.Cancelled++
	case kind == http1.KindCancelled: // it has not started
	case measure.TimedOut(string(kind)):
		var t measure.Times
		t.Begin(n.due)
		n.AddTo(&t, now)
		n.account.Late(kind, &t)
	default:
		n.account.Broken(string(kind), example, time.Duration(now))
	}
	step := n.step
	n.step = none
	l.finish(n.vu, step, stepBad)
}

// kind names a failure. That a server closed a connection between two requests looks like
// a reset or like an end, by chance: both are told as closed. So is an end under TLS
// before anything was there to be cut.
func (l *loop) kind(n *lane, err error) http1.Kind {
	kind := http1.KindOf(err)
	switch {
	case n.conn < 0 || n.parser.Started():
	case kind == http1.KindReset && l.conns.at(n.conn).used, kind == http1.KindTruncated:
		return http1.KindClosed
	}
	return kind
}

var (
	errLate      = &http1.Error{Kind: http1.KindTimeout, Detail: "its time ran out"}
	errCancelled = &http1.Error{Kind: http1.KindCancelled, Detail: "the run was cancelled"}
)

// expire takes an alarm of the wheel.
func (l *loop) expire(index int32) {
	n := l.lane(index)
	n.alarm = 0
	if n.step == none || n.broke || n.deadline == never {
		return
	}
	connecting := n.conn >= 0 && l.conns.at(n.conn).state == connConnecting
	if n.deadline > l.clock.Now {
		if !connecting || n.untried() == 1 {
			l.alarm(index, n.deadline)
			return
		}
		l.hangUp(n.conn)
		n.conn = none
		n.tried++
		l.dial(index)
		return
	}
	if int(index) >= len(l.lanes) && l.wakes(index) {
		return
	}
	err := *errLate
	switch {
	case n.pool != nil:
		l.inVain(index)
		return
	case n.conn >= 0 && l.conns.at(n.conn).multi != nil:
		if l.conns.at(n.conn).multi.Sending(n.stream) {
			err.Kind = http1.KindWriteTimeout
		}
	case n.Named != 0 && n.Dialled == 0:
		err = http1.Error{Kind: http1.KindDNS, Detail: fmt.Sprintf("resolve host %q: its time ran out", n.host.name)}
	case n.conn < 0 || l.conns.at(n.conn).state != connOpen:
		err.Kind = http1.KindConnectTimeout
	case n.Written == 0:
		err.Kind = http1.KindWriteTimeout
	}
	l.fail(index, &err)
}

// detail is what people are told of an error whose kind is told beside it.
func detail(err error) string {
	var known *http1.Error
	if errors.As(err, &known) {
		return known.Detail
	}
	return err.Error()
}
