package pool

import (
	"errors"
	"fmt"
	"syscall"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// wire carries the requests of slots, one at a time on each connection, and ends failed ones of
// any protocol.
type wire struct{ *Connections }

// write sends as much of the rest of the request as the kernel takes.
func (w *wire) write(index int32) {
	n := w.Slots.At(index)
	c := w.Sockets.Conns.At(n.Conn)
	if n.Wrote == 0 {
		n.Wrote = max(w.Clock.Now, 1)
	}
	if c.secure != nil {
		w.writeSecure(index)
		return
	}
	m := w.Requests.Outgoing(index)
	all := m.Len()
	for {
		some := m.From(n.Sent)
		took, errno := epoll.Write(int(c.fd), some)
		n.Sent += took
		n.Account.BytesOut += uint64(took)
		switch {
		case errno == 0 && n.Sent == all:
			w.wroteAll(n, c)
		case errno == 0 && took == len(some): // an insert follows, or the bytes behind one
			continue
		case errno == 0 || errno == syscall.EAGAIN:
			w.Requests.KeepRest(index, m)
			w.Sockets.watch(n.Conn, true)
		default:
			w.unwritten(index, errno)
		}
		return
	}
}

// longRequest is a length whose copying takes noticeable time.
const longRequest = 16 << 10

// wroteAll notes that the kernel has the whole request.
func (w *wire) wroteAll(n *RequestSlot, c *conn) {
	n.Account.Sent++
	n.Written = n.Wrote
	if c.blocked || n.Sent > longRequest {
		n.Written = w.Clock.Tick()
		w.Sockets.watch(n.Conn, false)
	}
}

// unwritten handles a failed write. The server may have answered before it closed: then the
// event that follows reads that answer, and nothing more is written.
func (w *wire) unwritten(index int32, err error) {
	n := w.Slots.At(index)
	var errno syscall.Errno
	if n.Sent > 0 && errors.As(err, &errno) {
		n.Refused = uint16(errno)
		w.Sockets.watch(n.Conn, false)
		return
	}
	w.Slots.Breaks(index, fmt.Errorf("write the request: %w", err))
}

// feed takes what the server sent, no bytes for the end of the stream. It reports whether to
// stop reading the connection.
func (w *wire) feed(index int32, b []byte) bool {
	n := w.Slots.At(index)
	n.Account.BytesIn += uint64(len(b))
	n.In += int64(len(b))
	var done bool
	var err error
	switch {
	case len(b) > 0:
		if c := w.Requests.Collector(index); c != nil && c != n.Parser.Collector() {
			n.Parser.Collect(c)
		}
		_, done, err = n.Parser.Feed(b)
		if w.Slots.Common.Len() > 0 {
			w.Requests.SetCookies(n)
		}
	case n.Refused != 0 && !n.Parser.Started():
		err = fmt.Errorf("write the request: %w", syscall.Errno(n.Refused)) // a bare end would say less
	default:
		done, err = n.Parser.FinishEOF()
	}
	if n.Tap != nil && len(b) > 0 && !done && n.Tap.Look() {
		w.Enough(index)
		return true
	}
	switch {
	case err != nil:
		w.Fail(index, err)
		return true
	case done:
		w.complete(index)
		return true
	}
	if n.Heard == 0 {
		n.Heard = w.Clock.Tick()
	}
	return false
}

// Enough ends a request whose answer has come as far as its tap reads it. What follows on the
// connection belongs to no request: HTTP/1.1 closes it, HTTP/2 resets the stream.
func (w *wire) Enough(index int32) {
	n := w.Slots.At(index)
	now := w.Clock.Tick()
	if n.Heard == 0 {
		n.Heard = now
	}
	if w.Sockets.Conns.At(n.Conn).multi != nil {
		w.streams.part(n, false)
	} else {
		n.Status, n.Size = uint16(n.Parser.Status()), n.Parser.BytesBody()
		w.Sockets.HangUp(n.Conn)
	}
	n.Conn = None
	n.Serial++ // tickets of it are void
	w.Requests.Answered(index, now)
}

// complete takes a complete response.
func (w *wire) complete(index int32) {
	n := w.Slots.At(index)
	now := w.Clock.Tick()
	if n.Heard == 0 {
		n.Heard = now
	}
	at := n.Conn
	n.Conn, n.Status, n.Size = None, uint16(n.Parser.Status()), n.Parser.BytesBody()
	if n.Parser.Reusable() && !n.Call.Close && n.Written != 0 {
		w.Sockets.keep(at)
	} else {
		w.Sockets.HangUp(at)
	}
	w.Requests.Answered(index, now)
}

// Fail ends a request without a complete answer.
func (w *wire) Fail(index int32, err error) {
	n := w.Slots.At(index)
	now := w.Clock.Tick()
	kind := w.kind(n, err)
	example := detail(err)
	if kind == http1.KindClosed && n.Conn >= 0 && !w.Sockets.Conns.At(n.Conn).used && !n.Host.Secure && w.Sockets.Conns.At(n.Conn).web() {
		example += ": does the server speak https:// on this port?" // a hint for users who do not know the message
	}
	if n.Conn >= 0 {
		switch {
		case w.Sockets.Conns.At(n.Conn).multi != nil:
			w.streams.part(n, measure.TimedOut(string(kind)))
		case isLost(err):
			w.Sockets.giveUp(n.Conn)
		case w.talks.outlives(n, kind):
			w.talks.goesOn(n.Conn)
		default:
			w.talks.cancels(n, kind)
			w.Sockets.HangUp(n.Conn)
		}
		n.Conn = None
	}
	if n.Called != (Called{}) {
		w.Aside.Drop(n)
	}
	if n.pool != nil {
		w.Pools.owe(n.pool)
		n.pool = nil
	}
	if kind != http1.KindCancelled {
		w.Slots.count(n)
	}
	if p := n.reserved; p != nil {
		n.reserved = nil
		defer w.Pools.bereft(p, err, n.patience)
	}
	n.broke = false
	n.Serial++ // tickets of it are void
	w.Requests.Failed(index, kind, example, now)
}

// kind classifies a failure. A server's close between two requests looks like a reset or like
// an end, by chance: both are reported as closed. So is an end under TLS before any byte of an
// answer.
func (w *wire) kind(n *RequestSlot, err error) http1.Kind {
	kind := http1.KindOf(err)
	switch {
	case n.Conn < 0 || n.Parser.Started() || w.Sockets.Conns.At(n.Conn).upgraded() || w.Sockets.Conns.At(n.Conn).greets():
	case kind == http1.KindReset && w.Sockets.Conns.At(n.Conn).used, kind == http1.KindTruncated:
		return http1.KindClosed
	}
	return kind
}

var (
	errLate      = &http1.Error{Kind: http1.KindTimeout, Detail: "its time ran out"}
	ErrCancelled = &http1.Error{Kind: http1.KindCancelled, Detail: "the run was cancelled"}
)

// Expire handles an alarm of the wheel.
func (w *wire) Expire(index int32) {
	n := w.Slots.At(index)
	n.alarm = 0
	if n.Step == None || n.broke || n.Deadline == Never {
		return
	}
	connecting := n.Conn >= 0 && w.Sockets.Conns.At(n.Conn).State == ConnConnecting
	if n.Deadline > w.Clock.Now {
		if !connecting || n.untried() == 1 {
			w.Slots.Alarm(index, n.Deadline)
			return
		}
		w.Sockets.HangUp(n.Conn)
		n.Conn = None
		n.tried++
		w.Dialer.dial(index)
		return
	}
	if w.Requests.Wakes(index) {
		return
	}
	if lost := w.talks.lost(n); lost != nil {
		w.Fail(index, lost)
		return
	}
	err := *errLate
	late := w.branches.late(n)
	switch {
	case late != nil:
		err = *late
	case n.pool != nil:
		w.Pools.inVain(index)
		return
	case n.Called.Process > 0:
		err.Kind = w.Aside.Late(n)
	case n.Conn >= 0 && w.Sockets.Conns.At(n.Conn).multi != nil:
		if w.Sockets.Conns.At(n.Conn).multi.Sending(n.stream.id) {
			err.Kind = http1.KindWriteTimeout
		}
	case n.Named != 0 && n.Dialled == 0:
		err = http1.Error{Kind: http1.KindDNS, Detail: fmt.Sprintf("resolve host %q: its time ran out", n.Host.Name)}
	case n.Conn < 0 || w.Sockets.Conns.At(n.Conn).State != connOpen || w.Sockets.Conns.At(n.Conn).greets():
		err.Kind = http1.KindConnectTimeout
	case n.Written == 0:
		err.Kind = http1.KindWriteTimeout
	}
	w.Fail(index, &err)
}

// Dispatch gives a request a connection: one that its user keeps, one of its pool, or a new
// one.
func (w *wire) Dispatch(index int32) {
	n := w.Slots.At(index)
	pinned := n.Pin != nil && n.Pin.given
	if !pinned && w.Pools.pooled(n.Host) {
		w.Pools.join(index)
		return
	}
	if n.Host.carries == carriesPrograms {
		w.Slots.parses(n)
		w.Aside.Begin(index)
		return
	}
	w.Slots.setOut(index)
	w.Slots.parses(n)
	if pinned {
		w.Pins.use(index)
		return
	}
	if at := w.Sockets.pick(n.VU, n.Host); at >= 0 {
		c := w.Sockets.Conns.At(at)
		c.slot, c.used, n.Conn = index, true, at
		if c.talk != nil {
			w.talks.resume(at)
			return
		}
		w.write(index)
		return
	}
	w.Dialer.connect(index)
}

// FlushQueued writes what exchanges have queued. The loop calls it close to its own frame: behind a system
// call the processor mispredicts the return of each frame above, and a start has a dozen.
func (w *wire) FlushQueued() {
	for _, t := range w.Sockets.Queued {
		if c := w.Sockets.Conns.At(t.index); c.Generation == t.serial && c.talk != nil {
			w.talks.flush(t.index)
		}
	}
	w.Sockets.Queued = w.Sockets.Queued[:0]
	if w.Aside != nil {
		w.Aside.Flush()
	}
}

// detail returns the text of an error for users, beside its kind.
func detail(err error) string {
	var known *http1.Error
	if errors.As(err, &known) {
		return known.Detail
	}
	return err.Error()
}
