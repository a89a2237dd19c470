package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// conn is one lane of a virtual user: a connection, or the place for one, and the request
// under way on it.
type conn struct {
	parser     http1.Parser
	due        int64 // intended start of the request
	dialled    int64 // when connecting began; 0: the connection stood
	wrote      int64 // when its first byte was written; 0: not yet
	written    int64 // when its last was
	heard      int64 // when the first byte of the answer was read, if more were to come
	deadline   int64
	alarm      int64  // when the wheel fires for it; 0: not armed
	generation uint32 // of fd: events of an older one are void
	refused    uint16 // errno of a write that an answer may still explain; 0: none
	fd         int32  // -1: not connected
	sent       int32  // bytes of the request
	step       int16  // -1: no request under way
	first      uint8  // index of the host's address that was tried first
	tried      uint8  // addresses of the host that took no connection
	connecting bool
	broke      bool // it stands in loop.broken: nothing else may end the request
	blocked    bool // the kernel takes no more of the request now
	used       bool // has carried a request before this one
}

// start puts a step's request on its way.
func (l *loop) start(vu int32, step int, due int64) {
	s := &l.g.steps[step]
	index := vu*int32(l.g.lanes) + int32(s.lane)
	c := &l.conns[index]
	l.accounts[step].start(time.Duration(l.now))
	c.step, c.due, c.sent, c.refused = int16(step), due, 0, 0
	c.dialled, c.wrote, c.written, c.heard = 0, 0, 0, 0
	c.deadline = l.now + int64(s.timeout)
	l.alarm(index, c.deadline)
	c.parser.Reset(s.call.Method)
	if c.fd >= 0 {
		c.used = true
		l.write(index)
		return
	}
	c.first, c.tried = uint8(s.host.good.Load()), 0
	c.dialled = max(l.now, 1)
	l.dial(index)
}

// alarm makes the wheel fire for the connection. A deadline only moves the alarm when it
// comes first: one that rings too early is set again, which is far rarer than a request.
func (l *loop) alarm(index int32, at int64) {
	if c := &l.conns[index]; c.alarm == 0 || c.alarm > at {
		c.alarm = at
		l.wheel.Set(index, at)
	}
}

// dial tries the host's addresses in turn, beginning with the one that last did well. No
// byte of the request is written before one has taken the connection.
func (l *loop) dial(index int32) {
	c := &l.conns[index]
	h := l.g.steps[c.step].host
	for {
		fd, done, err := epoll.Dial(h.addrs[c.address(h)], netip.Addr{})
		if err == nil {
			c.fd, c.connecting, c.blocked, c.used = int32(fd), !done, false, false
			c.generation++
			events := epoll.Out
			if done {
				events = epoll.In
			}
			if err = l.poller.Add(fd, events, c.token(index)); err == nil {
				if done {
					l.write(index)
				} else {
					l.await(index)
				}
				return
			}
			l.hangUp(c)
		}
		if c.tried++; int(c.tried) >= len(h.addrs) {
			l.breaks(index, err)
			return
		}
	}
}

// address is the index of the address under trial. It counts from where this connection
// began: others may find a better beginning meanwhile.
func (c *conn) address(h *host) int { return (int(c.first) + int(c.tried)) % len(h.addrs) }

// await gives the address its time. Where others are behind it, that is a part of what is
// left, so that one that never answers does not take theirs; its alarm then says only that.
func (l *loop) await(index int32) {
	c := &l.conns[index]
	l.alarm(index, c.deadline)
	if left := c.untried(l.g.steps[c.step].host); left > 1 {
		c.alarm = l.now + max(1, min(int64(addressPatience), (c.deadline-l.now)/int64(left)))
		l.wheel.Set(index, c.alarm)
	}
}

// untried counts the address under trial and those behind it.
func (c *conn) untried(h *host) int { return len(h.addrs) - int(c.tried) }

func (c *conn) token(index int32) uint64 { return uint64(c.generation)<<32 | uint64(uint32(index)) }

// handle takes one event.
func (l *loop) handle(e *epoll.Event) {
	token := e.Token()
	index := int32(uint32(token))
	if token == epoll.WakeToken || int(index) >= len(l.conns) {
		return
	}
	c := &l.conns[index]
	if c.generation != uint32(token>>32) || c.fd < 0 || c.broke {
		return
	}
	switch {
	case c.connecting:
		l.connected(index)
	case c.blocked && e.Writable():
		l.write(index)
	case e.Readable():
		l.read(index)
	}
}

func (l *loop) connected(index int32) {
	c := &l.conns[index]
	h := l.g.steps[c.step].host
	if err := epoll.Connected(int(c.fd)); err != nil {
		err = fmt.Errorf("%s: %w", h.addrs[c.address(h)], err)
		l.hangUp(c)
		if c.tried++; int(c.tried) < len(h.addrs) {
			l.dial(index)
			return
		}
		l.fail(index, err)
		return
	}
	h.good.Store(int32(c.address(h)))
	c.connecting = false
	if err := l.poller.Mod(int(c.fd), epoll.In, c.token(index)); err != nil {
		l.fail(index, err)
		return
	}
	l.tick()
	l.write(index)
}

// write sends what the kernel takes of the rest of the request.
func (l *loop) write(index int32) {
	c := &l.conns[index]
	bytes := l.g.steps[c.step].call.Bytes
	if c.wrote == 0 {
		c.wrote = max(l.now, 1)
	}
	n, errno := epoll.Write(int(c.fd), bytes[c.sent:])
	c.sent += int32(n)
	l.accounts[c.step].bytesOut += uint64(n)
	switch {
	case errno == 0 && int(c.sent) == len(bytes):
		c.written = c.wrote
		if c.blocked {
			c.written = l.tick()
			l.watch(index, epoll.In, false)
		}
	case errno == 0 || errno == syscall.EAGAIN:
		if !c.blocked {
			l.watch(index, epoll.In|epoll.Out, true)
		}
	default:
		l.unwritten(index, errno)
	}
}

// breaks notes that a request failed while it was started or written.
func (l *loop) breaks(index int32, err error) {
	l.conns[index].broke = true
	l.broken = append(l.broken, breakage{index, err})
}

func (l *loop) watch(index int32, events uint32, blocked bool) {
	c := &l.conns[index]
	c.blocked = blocked
	if err := l.poller.Mod(int(c.fd), events, c.token(index)); err != nil {
		l.breaks(index, err)
	}
}

// unwritten takes a refused write. The server may have answered before it closed: then
// that answer is read by the event that is sure to come, and written no more.
func (l *loop) unwritten(index int32, errno syscall.Errno) {
	c := &l.conns[index]
	if c.sent > 0 {
		c.refused = uint16(errno)
		l.watch(index, epoll.In, false)
		return
	}
	l.breaks(index, fmt.Errorf("write the request: %w", errno))
}

// read takes what the server sent.
func (l *loop) read(index int32) {
	c := &l.conns[index]
	for range readRounds {
		n, errno := epoll.Read(int(c.fd), l.buffer)
		switch {
		case errno == syscall.EAGAIN:
			return
		case c.step < 0:
			l.hangUp(c) // the end of an idle connection, or bytes that nobody asked for
			return
		case errno != 0:
			l.fail(index, readError(errno, c.parser.Started()))
			return
		}
		l.accounts[c.step].bytesIn += uint64(n)
		var done bool
		var err error
		if n == 0 && c.refused != 0 && !c.parser.Started() {
			err = fmt.Errorf("write the request: %w", syscall.Errno(c.refused)) // an end by itself says less
		} else if n == 0 {
			done, err = c.parser.FinishEOF()
		} else {
			_, done, err = c.parser.Feed(l.buffer[:n])
		}
		switch {
		case err != nil:
			l.fail(index, err)
			return
		case done:
			l.complete(index)
			return
		}
		if c.heard == 0 {
			c.heard = l.tick()
		}
		if n < len(l.buffer) {
			return
		}
	}
}

// complete takes a whole response.
func (l *loop) complete(index int32) {
	c := &l.conns[index]
	now := l.tick()
	step := c.step
	s := &l.g.steps[step]
	if c.heard == 0 {
		c.heard = now
	}
	var t times
	c.times(&t, now)
	good := l.accounts[step].answered(c.parser.Status(), &t)
	if !c.parser.Reusable() || s.call.Close || int(c.sent) < len(s.call.Bytes) {
		l.hangUp(c)
	}
	c.step = -1
	l.finish(index/int32(l.g.lanes), step, good)
}

// fail takes the end of a request without a whole answer.
func (l *loop) fail(index int32, err error) {
	c := &l.conns[index]
	now := l.tick()
	step := c.step
	a := &l.accounts[step]
	kind := c.kind(err)
	var known *http1.Error
	example := err.Error()
	if errors.As(err, &known) {
		example = known.Detail
	}
	if kind == http1.KindClosed && !c.used {
		example += ": does the server speak https:// on this port?" // it says nothing to who does not
	}
	if timedOut(string(kind)) {
		var t times
		c.times(&t, now)
		a.late(kind, &t)
	} else {
		a.broken(string(kind), example, time.Duration(now))
	}
	l.hangUp(c)
	c.step, c.broke = -1, false
	l.finish(index/int32(l.g.lanes), step, false)
}

// kind names a failure. That a server closed a connection between two requests looks like
// a reset or like an end, by chance: both are told as closed.
func (c *conn) kind(err error) http1.Kind {
	kind := http1.KindOf(err)
	if kind == http1.KindReset && c.used && !c.parser.Started() {
		return http1.KindClosed
	}
	return kind
}

// expire takes an alarm of the wheel.
func (l *loop) expire(index int32) {
	c := &l.conns[index]
	c.alarm = 0
	if c.step < 0 || c.broke {
		return
	}
	if c.deadline > l.now {
		if !c.connecting || c.untried(l.g.steps[c.step].host) == 1 {
			l.alarm(index, c.deadline)
			return
		}
		l.hangUp(c)
		c.tried++
		l.dial(index)
		return
	}
	kind := http1.KindTimeout
	if c.connecting || c.fd < 0 {
		kind = http1.KindConnectTimeout
	} else if int(c.sent) < len(l.g.steps[c.step].call.Bytes) {
		kind = http1.KindWriteTimeout
	}
	l.fail(index, &http1.Error{Kind: kind, Detail: "its time ran out"})
}

// hangUp closes the connection, if there is one.
func (l *loop) hangUp(c *conn) {
	if c.fd < 0 {
		return
	}
	epoll.Close(int(c.fd))
	c.fd, c.connecting, c.blocked = -1, false, false
	c.generation++
}
