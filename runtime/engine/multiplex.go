package engine

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
)

// multi is a connection that speaks HTTP/2: its requests are streams, each of a lane. Tags
// of streams are the lane's index and the serial number of its request.
type multi struct {
	http2.Conn
	heard   int64 // when anything was last read
	asked   int64 // when a PING was sent that was not answered; 0: none is under way
	dirty   bool  // it stands in loop.dirty
	unsent  bool  // some request may not be written
	mute    bool  // writing failed: a read will tell why
	retired bool  // it opens no stream more, and is closed when the last one has ended
}

// reading is a connection that is being fed; it is what the codec tells what came.
type reading struct {
	l  *loop
	at int32
}

var _ http2.Handler = (*reading)(nil)

// multiplex begins HTTP/2 on a connection that stands, with the request that wanted it.
func (l *loop) multiplex(at int32) {
	c := l.conns.at(at)
	if last := len(l.multis) - 1; last >= 0 {
		c.multi, l.multis = l.multis[last], l.multis[:last]
	} else {
		c.multi = new(multi)
	}
	c.multi.Reset(http2.Config{Streams: l.cfg.Workflow.HTTP.Streams, Common: &l.common})
	index := c.lane
	c.lane = none
	c.pool.open = append(c.pool.open, at)
	l.lane(index).conn = none
	l.open(at, index)
	l.owe(c.pool)
}

// open sends a lane's request as a stream.
func (l *loop) open(at, index int32) {
	n, c := l.lane(index), l.conns.at(at)
	l.setOut(index)
	n.size = 0
	m := c.multi
	n.stream = m.Open(l.framed(index), uint64(n.serial)<<32|uint64(uint32(index)))
	m.Track(n.stream, &n.account.Sent)
	n.conn, n.home = at, ticket{at, c.generation}
	n.Wrote = max(l.clock.Now, 1)
	if len(n.framed.Body) == 0 && !c.blocked {
		n.Written = n.Wrote // unless the kernel refuses: then it is set anew
	} else {
		m.unsent = true
	}
	l.soil(at)
}

// ownCall is a request that only its lane sends, with memory of its own.
type ownCall struct {
	http2.Call
	body []byte
}

// framed is the lane's request in frames. Those of a step are made once, unless it has values
// in it.
func (l *loop) framed(index int32) *http2.Call {
	n := l.lane(index)
	if s := &l.g.steps[n.step]; s.call != nil && n.call == s.call && s.call.Template == nil {
		if s.framed == nil {
			s.framed = new(http2.Call)
			s.framed.Convert(s.call)
		}
		n.framed = s.framed
		return n.framed
	}
	if n.own == nil {
		n.own = new(ownCall)
	}
	n.framed = &n.own.Call
	l.outgoing(index)
	n.own.Convert(l.undressed(n))
	// The body is sent by and by, and where it lies is filled for others meanwhile.
	n.own.body = append(n.own.body[:0], n.own.Body...)
	n.own.Body = n.own.body
	return n.framed
}

// soil makes a connection be written to when all are done that may have more to say.
func (l *loop) soil(at int32) {
	if c := l.conns.at(at); !c.multi.dirty {
		c.multi.dirty = true
		l.dirty = append(l.dirty, ticket{at, c.generation})
	}
}

// flushDirty writes what was queued, for each connection at once.
func (l *loop) flushDirty() {
	for i := 0; i < len(l.dirty); i++ {
		t := l.dirty[i]
		if c := l.conns.at(t.index); c.generation == t.serial && c.multi != nil {
			c.multi.dirty = false
			l.flushStreams(t.index)
		}
	}
	l.dirty = l.dirty[:0]
}

// flushStreams writes what the kernel takes.
func (l *loop) flushStreams(at int32) {
	c := l.conns.at(at)
	m := c.multi
	if m.mute {
		return
	}
	for len(m.Output()) > 0 || c.secure != nil && len(c.secure.pending) > 0 {
		err := l.writeStreams(at)
		switch {
		case err == nil:
			continue
		case err == errAgain:
			l.unwrite(m)
			l.watch(at, true)
			return
		}
		m.mute = true // the server may have answered before it closed: what came is read first
		l.retire(at)
		if c.multi == m {
			l.watch(at, false)
		}
		return
	}
	if m.unsent {
		l.written(m)
	}
	l.watch(at, false)
	switch {
	case m.retired && m.Streams() == 0:
		l.hangUp(at)
	case c.pool != nil && c.pool.waiting.Len() > 0: // for what was queued to be written, too
		l.owe(c.pool)
	}
}

// writeStreams writes once; errAgain says that the kernel takes no more.
func (l *loop) writeStreams(at int32) error {
	c := l.conns.at(at)
	out := c.multi.Output()
	if c.secure == nil {
		n, errno := epoll.Write(int(c.fd), out)
		c.multi.Sent(n)
		c.multi.Taken()
		switch {
		case errno == syscall.EAGAIN || errno == 0 && n < len(out):
			return errAgain
		case errno != 0:
			return errno
		}
		return nil
	}
	gone, err := l.flush(at)
	switch {
	case err != nil:
		return err
	case !gone:
		return errAgain
	}
	c.multi.Taken()
	if len(out) == 0 {
		return nil
	}
	n, err := c.secure.tls.Write(out[:min(len(out), recordMax)])
	c.multi.Sent(n)
	if err == nil && len(c.secure.pending) > 0 {
		return errAgain
	}
	if err == nil {
		c.multi.Taken()
	}
	return err
}

// unwrite takes back that requests were written which the kernel has not taken.
func (l *loop) unwrite(m *multi) {
	for id, tag := range m.Tags() {
		if n := l.lane(int32(uint32(tag))); m.Sending(id) {
			n.Written, m.unsent = 0, true
		}
	}
}

// written notes which requests have been written by now.
func (l *loop) written(m *multi) {
	m.unsent = false
	for id, tag := range m.Tags() {
		switch n := l.lane(int32(uint32(tag))); {
		case n.Written != 0:
		case m.Sending(id):
			m.unsent = true
		default:
			n.Written = max(l.clock.Now, n.Wrote)
		}
	}
}

// readStreams takes what the server sent.
func (l *loop) readStreams(at int32) {
	c := l.conns.at(at)
	m, generation := c.multi, c.generation
	err := error(nil)
	for range readRounds {
		n := 0
		if n, err = l.receive(c); err != nil {
			break
		}
		m.heard, m.asked = max(l.clock.Tick(), 1), 0
		l.feeding, l.reading.at = true, at
		err = m.Feed(l.buffer[:n], &l.reading)
		l.feeding = false
		l.common.Reset() // cookies that no head took are nobody's
		if err != nil || c.secure == nil && n < len(l.buffer) {
			break
		}
	}
	switch {
	case c.generation != generation:
		return
	case err == nil && c.secure != nil:
		l.more = append(l.more, ticket{at, generation}) // crypto/tls may hold what the kernel no longer tells of
	case err != nil && err != errAgain:
		l.broken2(at, err)
		return
	}
	if !m.Usable() {
		l.retire(at)
	}
	if c.multi == m {
		l.soil(at)
		if c.pool != nil {
			l.owe(c.pool)
		}
	}
}

// receive reads once; errAgain says that there is nothing now.
func (l *loop) receive(c *conn) (int, error) {
	if c.secure != nil {
		n, err := c.secure.tls.Read(l.buffer)
		if n > 0 {
			return n, nil
		}
		return 0, err
	}
	n, errno := epoll.Read(int(c.fd), l.buffer)
	switch {
	case errno == syscall.EAGAIN:
		return 0, errAgain
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// broken2 takes the end of a connection, which all its streams share.
func (l *loop) broken2(at int32, err error) {
	c := l.conns.at(at)
	var ours *http1.Error
	switch {
	case errors.As(err, &ours): // the server is told why
		_ = l.writeStreams(at)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = io.EOF // what it cuts is told by each stream
	default:
		err = readError(err, false)
	}
	l.feeding, l.reading.at = true, at
	c.multi.Close(err, &l.reading)
	l.feeding = false
	l.hangUp(at)
}

// retire lets a connection open no stream more; it is closed when it carries none.
func (l *loop) retire(at int32) {
	c := l.conns.at(at)
	l.parted(at)
	c.multi.retired = true
	if c.multi.Streams() == 0 && !(l.feeding && l.reading.at == at) {
		l.hangUp(at)
	}
}

// part ends a lane's stream before its answer is whole.
func (l *loop) part(n *lane, late bool) {
	at := n.conn
	c := l.conns.at(at)
	m := c.multi
	stuck := c.blocked || m.mute || !m.Ready()
	if m.Cancel(n.stream, http2.CodeCancel) {
		l.tally(n, m)
	}
	l.soil(at)
	if c.pool != nil {
		l.owe(c.pool)
	}
	if !late {
		return
	}
	// One that does not read, or has not said anything for so long and does not answer
	// when it is asked, carries nothing more.
	switch {
	case stuck, m.asked != 0 && m.asked <= n.Wrote:
		l.retire(at)
	case m.asked == 0 && m.heard < n.Wrote:
		m.asked = max(l.clock.Now, 1)
		m.Ping(uint64(l.clock.Now))
	}
}

// tally counts the bytes of a stream that has ended, but for those of its answer's body.
func (l *loop) tally(n *lane, m *multi) {
	in, out := m.Bytes()
	n.account.BytesIn += in
	n.account.BytesOut += out
}

// of finds the lane of a stream.
func (r *reading) of(tag uint64) (int32, *lane) {
	index := int32(uint32(tag))
	return index, r.l.lane(index)
}

// Begins is called when an answer begins to come.
func (r *reading) Begins(tag uint64) *http1.Collector {
	_, n := r.of(tag)
	switch {
	case n.x == nil:
		r.l.collect(n)
		return n.parser.Collector()
	case n.x.collects():
		n.x.collector = r.l.collector()
		n.x.collector.HeadOnly = !n.x.whole
		return n.x.collector
	}
	return nil
}

// Head is called when its status is known.
func (r *reading) Head(tag uint64, status int) {
	_, n := r.of(tag)
	n.status, n.Heard = uint16(status), max(r.l.clock.Now, 1)
	if r.l.common.Len() > 0 {
		r.l.setCookies(n)
	}
}

// Body is called for each piece of it.
func (r *reading) Body(tag uint64, b []byte) {
	_, n := r.of(tag)
	n.account.BytesIn += uint64(len(b))
	n.size += int64(len(b))
}

// Done is called when it is whole.
func (r *reading) Done(tag uint64) {
	index, n := r.of(tag)
	r.l.tally(n, r.l.conns.at(r.at).multi)
	n.conn = none
	r.l.whole(index, r.l.clock.Now)
}

// Failed is called when it never will be.
func (r *reading) Failed(tag uint64, err error) {
	index, n := r.of(tag)
	m := r.l.conns.at(r.at).multi
	r.l.tally(n, m)
	n.conn = none
	if kind := http1.KindOf(err); !m.Ready() && !n.host.secure && (kind == http1.KindClosed || kind == http1.KindReset) {
		err = &http1.Error{Kind: kind, Detail: fmt.Sprintf("%s: does the server speak HTTP/2 without TLS?", detail(err))}
	}
	r.l.fail(index, err)
}

// Pong is called for answers to PING: that something was read says as much.
func (r *reading) Pong(uint64) {}

// GoingAway is called before the streams fail that the server has not processed; what it
// means for the connection is asked for when all was read.
func (r *reading) GoingAway(http2.Code, uint32) {}
