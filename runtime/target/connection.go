package target

import (
	"bytes"

	"golang.org/x/sys/unix"

	"hyperscale/runtime/epoll"
)

// connection is the input and output side of a session in the loop.
type connection struct {
	fd      int
	slot    int32
	serial  uint32
	state   connectionState
	ending  verdict // what follows the unsent output: wantMore, wantClose or wantLinger
	deaf    bool    // not read from, since it has sent more than it may
	active  int64   // when it last had a whole request or nothing at all
	pending []byte  // received and not yet used; nil between requests
	unsent  output  // not yet taken by the kernel
	reading stage   // what the deadline of stateReading bounds
	session session
}

// connectionState says what the connection's timer bounds.
type connectionState uint8

const (
	stateIdle      connectionState = iota // between requests: the timer is late on purpose
	stateReading                          // in the middle of a request
	stateWaiting                          // for latency or a stall
	stateSending                          // for the peer to take the output
	stateLingering                        // for the peer to read the last answer
)

func (c *connection) token() uint64 { return uint64(c.serial)<<32 | uint64(uint32(c.slot)) }

// drop closes at once.
func (l *loop) drop(c *connection) {
	epoll.Close(c.fd)
	l.wheel.Cancel(c.slot)
	l.conns[c.slot] = nil
	l.free = append(l.free, c.slot)
}

func (l *loop) read(c *connection) {
	n, errno := epoll.Read(c.fd, l.buffer)
	switch {
	case errno == unix.EAGAIN:
		return
	case errno != 0 || n == 0:
		l.drop(c)
		return
	}
	got := l.buffer[:n]
	switch c.state {
	case stateLingering:
		return
	case stateWaiting, stateSending:
		// Pipelined: kept until the turn comes, up to a bound.
		c.pending = append(c.pending, got...)
		if len(c.pending) > maxHead {
			c.deaf = true
			l.watch(c)
		}
		return
	}
	if len(c.pending) > 0 {
		c.pending = append(c.pending, got...)
		got = c.pending
	}
	l.feed(c, got)
}

// feed gives bytes to the session for as long as it takes them, and sends the answers.
func (l *loop) feed(c *connection, b []byte) {
	for {
		l.out.reset()
		used, v := c.session.feed(b, &l.out)
		b = b[used:]
		if !l.send(c, &l.out, v, b) {
			return
		}
		if v != wantFlush {
			l.settle(c, v, b)
			return
		}
	}
}

// settle puts the connection into the state that the verdict asks for; b is unused.
func (l *loop) settle(c *connection, v verdict, b []byte) {
	if v == wantHTTP2 {
		l.upgrade(c, b)
		return
	}
	c.save(b)
	switch v {
	case wantClose:
		l.drop(c)
		return
	case wantLinger:
		_ = unix.Shutdown(c.fd, unix.SHUT_WR) // fails only if the peer is gone: then a read reports it
		c.pending = nil
		l.become(c, stateLingering)
	case wantWait:
		l.become(c, stateWaiting)
	default:
		if len(b) == 0 && c.session.part.between() {
			l.become(c, stateIdle)
		} else {
			l.become(c, stateReading)
		}
	}
	// Not sooner: a peer that pipelines more than is answered would fill the memory.
	if c.deaf && len(c.pending) <= maxHead {
		c.deaf = false
		l.watch(c)
	}
}

// save keeps the unused bytes. They may already be the tail of the saved bytes.
func (c *connection) save(b []byte) {
	if len(b) == 0 {
		c.pending = nil
		return
	}
	c.pending = append(c.pending[:0], b...)
}

// become sets the state and its deadline. Between requests it leaves the timer as it is. The
// timer fires early, sees that the connection was active, and is set again. So the busiest path
// never touches the wheel.
func (l *loop) become(c *connection, to connectionState) {
	before := c.state
	c.state = to
	limits := &l.site.cfg
	switch to {
	case stateIdle:
		c.active = l.now
		if before != stateIdle {
			l.wheel.Set(c.slot, l.now+int64(limits.IdleTimeout))
		}
	case stateReading:
		stage := c.session.stage()
		if before == stateReading && stage == c.reading {
			return // a drip of bytes buys no time
		}
		c.reading = stage
		l.wheel.Set(c.slot, l.now+int64(stage.patience(limits)))
	case stateWaiting:
		l.wheel.Set(c.slot, l.elapsed()+int64(c.session.call.wait))
	case stateSending:
		l.wheel.Set(c.slot, l.now+int64(limits.BodyTimeout))
	case stateLingering:
		l.wheel.Set(c.slot, l.now+int64(lingerFor))
	}
}

// answer sends the delayed answer and handles the bytes that arrived meanwhile.
func (l *loop) answer(c *connection) {
	l.out.reset()
	v := c.session.answer(&l.out)
	if l.send(c, &l.out, v, c.pending) {
		l.proceed(c, v)
	}
}

// proceed continues after the kernel has taken the whole output.
func (l *loop) proceed(c *connection, v verdict) {
	if v == wantClose || v == wantLinger || v == wantWait || len(c.pending) == 0 {
		l.settle(c, v, c.pending)
		return
	}
	l.feed(c, c.pending)
}

// send writes the output. If the kernel does not take all of it, or the peer is gone, it
// returns false: then the connection keeps the rest, and proceeds after sending it.
func (l *loop) send(c *connection, out *output, v verdict, unused []byte) bool {
	if out.empty() {
		return true
	}
	done, ok := l.write(c, out)
	switch {
	case !ok:
		l.drop(c)
		return false
	case done:
		return true
	}
	c.save(unused)
	c.unsent = *out
	c.unsent.bytes, c.unsent.at = bytes.Clone(out.bytes[out.at:]), 0
	c.ending = v
	l.become(c, stateSending)
	l.watch(c)
	return false
}

// flush continues to send. After the last byte it proceeds with the saved verdict.
func (l *loop) flush(c *connection) {
	left := c.unsent.left()
	done, ok := l.write(c, &c.unsent)
	switch {
	case !ok:
		l.drop(c)
		return
	case !done:
		if c.unsent.left() < left {
			l.become(c, stateSending) // the peer reads: it gets more time
		}
		return
	}
	c.unsent = output{}
	l.watch(c)
	l.proceed(c, c.ending)
}

// write gives the output to the kernel; ok is false if the peer is gone.
func (l *loop) write(c *connection, out *output) (done, ok bool) {
	for !out.empty() {
		n, errno := epoll.Write(c.fd, out.next(l.site.filler))
		if errno == unix.EAGAIN {
			return false, true
		}
		if errno != 0 {
			return false, false
		}
		out.took(n)
	}
	l.site.sent(out)
	return true, true
}

// watch tells the poller which events the connection waits for.
func (l *loop) watch(c *connection) {
	var events uint32
	if !c.deaf {
		events |= epoll.In
	}
	if !c.unsent.empty() {
		events |= epoll.Out
	}
	_ = l.poller.Mod(c.fd, events, c.token()) // it was added when opened; the kernel reports a hang-up anyway
}
