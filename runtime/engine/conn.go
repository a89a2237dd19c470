package engine

import (
	"errors"
	"fmt"
	"syscall"

	"hyperscale/runtime/epoll"
)

// conn is one connection. While it carries no request it stands in a list of its virtual
// user.
type conn struct {
	host       *host
	secure     *secure // nil: no TLS
	multi      *multi  // nil: HTTP/1.1
	pool       *pool   // that it counts in; nil: none
	fd         int32   // none: it is not used
	generation uint32  // of fd: events of an older one are void
	lane       int32   // whose request it carries; none: it is idle, or has streams
	vu         int32
	next       int32 // idle: the next one of its user, or of its pool
	state      connState
	blocked    bool // the kernel takes no more now
	used       bool // has carried a request before this one
	urgent     bool // its server sends urgent data
}

type connState uint8

const (
	connConnecting connState = iota
	connTunnel               // a proxy is asked for a wire
	connShaking              // a TLS handshake is under way, or about to be
	connOpen
)

// connections are those of a loop, by index. None of them ever moves.
type connections struct {
	chunks []*[connChunk]conn
	free   []int32
	n      int32
}

const connChunk = 64

func (s *connections) at(index int32) *conn { return &s.chunks[index/connChunk][index%connChunk] }

// take returns a place for a connection.
func (s *connections) take() int32 {
	if n := len(s.free); n > 0 {
		index := s.free[n-1]
		s.free = s.free[:n-1]
		return index
	}
	if s.n%connChunk == 0 {
		s.chunks = append(s.chunks, new([connChunk]conn))
	}
	s.n++
	s.at(s.n - 1).fd = none
	return s.n - 1
}

func (c *conn) token(index int32) uint64 { return uint64(c.generation)<<32 | uint64(uint32(index)) }

// idleMax bounds the idle connections that one virtual user keeps: functions may visit
// thousands of hosts.
const idleMax = 16

// pick takes the idle connection to a host that a virtual user has used last.
func (l *loop) pick(vu int32, h *host) int32 {
	u := &l.users[vu]
	for link := &u.idle; *link >= 0; {
		at := *link
		c := l.conns.at(at)
		if c.host != h {
			link = &c.next
			continue
		}
		*link = c.next
		u.kept--
		if c.secure == nil || !l.stale(c) {
			return at
		}
		l.hangUp(at)
	}
	return none
}

// keep gives an idle connection back to its user.
func (l *loop) keep(at int32) {
	c := l.conns.at(at)
	if c.pool != nil {
		l.giveBack(at)
		return
	}
	u := &l.users[c.vu]
	if u.kept == idleMax {
		last := u.idle
		for l.conns.at(last).next >= 0 {
			last = l.conns.at(last).next
		}
		l.hangUp(last)
	}
	c.lane, c.next = none, u.idle
	u.idle = at
	u.kept++
}

// unlist takes an idle connection out of the list of its user or pool.
func (l *loop) unlist(at int32) {
	c := l.conns.at(at)
	u := &l.users[c.vu]
	first := &u.idle
	if c.pool != nil {
		first = &c.pool.idle
	}
	for link := first; *link >= 0; link = &l.conns.at(*link).next {
		if *link == at {
			*link = c.next
			if c.pool == nil {
				u.kept--
			}
			return
		}
	}
}

// hangUp closes a connection, if it is one.
func (l *loop) hangUp(at int32) {
	c := l.conns.at(at)
	if c.fd < 0 {
		return
	}
	if c.lane < 0 && c.multi == nil {
		l.unlist(at)
	}
	l.parted(at)
	epoll.Close(int(c.fd))
	if c.state == connTunnel {
		delete(l.tunnels, at)
	}
	s := c.secure
	if m := c.multi; m != nil {
		m.retired, m.dirty, m.mute, m.unsent, m.heard, m.asked = false, false, false, false, 0, 0
		l.multis = append(l.multis, m)
	}
	*c = conn{fd: none, generation: c.generation + 1}
	if s != nil {
		l.abandon(s)
	}
	l.conns.free = append(l.conns.free, at)
}

// hangUpAll closes the idle connections of a user.
func (l *loop) hangUpAll(vu int32) {
	u := &l.users[vu]
	for u.idle >= 0 {
		l.hangUp(u.idle)
	}
	for p := u.pools; p != nil; p = p.next {
		for len(p.open) > 0 {
			l.retire(p.open[0])
		}
	}
}

// handle takes one event.
func (l *loop) handle(e *epoll.Event) {
	token := e.Token()
	if token == epoll.WakeToken {
		l.resolved()
		return
	}
	at := int32(uint32(token))
	if at >= l.conns.n {
		return
	}
	c := l.conns.at(at)
	if c.generation != uint32(token>>32) || c.fd < 0 || c.lane >= 0 && l.lane(c.lane).broke {
		return
	}
	switch {
	case c.state == connConnecting:
		l.connected(at)
	case c.blocked && e.Writable():
		l.writable(at)
		if c.token(at) == token && c.plain() && e.Readable() {
			l.readToEnd(at, token, e)
		}
	case c.state == connTunnel:
		l.tunnelled(at)
	case c.state == connShaking:
		l.shakeSoon(at)
	case e.Readable() || e.Events&epoll.Pri != 0:
		l.readToEnd(at, token, e)
	}
}

// readToEnd reads what an event tells of, and the end of the stream if it tells of that
// too: it may not be told again.
func (l *loop) readToEnd(at int32, token uint64, e *epoll.Event) {
	c := l.conns.at(at)
	if e.Events&epoll.Pri != 0 {
		c.urgent = true
		l.rewatch(at)
	}
	for range readRounds {
		if c.token(at) != token || c.lane >= 0 && l.lane(c.lane).broke {
			return
		}
		l.read(at)
		if e.Events&epoll.RdHup == 0 {
			return
		}
	}
	l.rewatch(at)
}

// writable goes on writing what the kernel did not take.
func (l *loop) writable(at int32) {
	c := l.conns.at(at)
	if c.multi != nil {
		l.flushStreams(at)
		return
	}
	if c.secure != nil && (c.state == connShaking || c.lane < 0 || l.lane(c.lane).Written != 0) {
		if gone, err := l.flush(at); gone || err != nil { // what is wrong a read will tell
			l.watch(at, false)
		}
		return
	}
	l.write(c.lane)
}

// plain says that a connection speaks HTTP/1.1 without TLS: each event reads all there is.
func (c *conn) plain() bool { return !c.host.secure && c.host.version == version1 }

// interest is what a connection is watched for. A plain one is told of what comes once,
// not until it is read: else the kernel looks at each one twice. That takes a read to tell
// by its length whether more is there, which it does not where data is urgent.
func (c *conn) interest() uint32 {
	events := epoll.In
	if c.plain() && !c.urgent {
		events |= epoll.RdHup | epoll.Pri | epoll.Edge
	}
	if c.blocked {
		events |= epoll.Out
	}
	return events
}

// watch asks to be told when the kernel takes more, or no longer.
func (l *loop) watch(at int32, blocked bool) {
	c := l.conns.at(at)
	if c.blocked == blocked {
		return
	}
	c.blocked = blocked
	l.rewatch(at)
}

// rewatch says again what a connection is watched for: what is so already is told anew.
func (l *loop) rewatch(at int32) {
	c := l.conns.at(at)
	if err := l.poller.Mod(int(c.fd), c.interest(), c.token(at)); err != nil {
		if c.lane >= 0 {
			l.breaks(c.lane, err)
		} else {
			l.hangUp(at)
		}
	}
}

// read takes what the server sent.
func (l *loop) read(at int32) {
	c := l.conns.at(at)
	if c.multi != nil {
		l.readStreams(at)
		return
	}
	if c.secure != nil {
		l.readSecure(at)
		return
	}
	for range readRounds {
		n, errno := epoll.Read(int(c.fd), l.buffer)
		switch {
		case errno == syscall.EAGAIN:
			return
		case c.lane < 0:
			l.hangUp(at) // the end of an idle connection, or bytes that nobody asked for
			return
		case errno != 0:
			l.fail(c.lane, readError(errno, l.lane(c.lane).parser.Started()))
			return
		}
		if l.feed(c.lane, l.buffer[:n]) || n < len(l.buffer) {
			return
		}
	}
	l.rewatch(at)
}

// readError tells whether there was a part of a response before the connection broke.
func readError(err error, heard bool) error {
	var errno syscall.Errno
	switch {
	case !errors.As(err, &errno):
		return err
	case heard:
		return fmt.Errorf("read the rest of the response: %w", errno)
	}
	return fmt.Errorf("read the response: %w", errno)
}
