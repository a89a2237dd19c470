package pool

import (
	"errors"
	"fmt"
	"syscall"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/island/quic"
)

const (
	readBuffer = 64 << 10 // shared by all connections of the loop
	readRounds = 16       // of one event: a fast sender must not starve the others
)

// conn is one connection. While it carries no request it is in a list of its virtual user.
type conn struct {
	host       *Host
	secure     *secure    // nil: no TLS
	multi      *multi     // nil: HTTP/1.1
	talk       *dialogue  // nil: no messages
	quic       *quic.Link // nil: it is no connection of HTTP/3
	pool       *pool      // the pool that counts it; nil: none
	fd         int32      // none: unused
	Generation uint32     // of fd: events of an older one are void
	slot       int32      // the slot of its request; none: it is idle, or has streams
	vu         int32
	stem       int32 // of a branch: the connection of its dialogue, counted from 1; 0: it is none
	next       int32 // idle: the next one of its user
	State      connState
	blocked    bool // the kernel takes no more now
	used       bool // has carried a request before this one
	reading    connReading
}

// connReading says how the poller reports a connection.
type connReading uint8

const (
	readingFirst  connReading = iota // once for all data, if its protocol allows that
	readingUrgent                    // its server sends urgent data: as long as there is data
	readingHeld                      // its session takes no more: only its end
)

type connState uint8

const (
	ConnConnecting  connState = iota
	connTunnel                // it has asked a proxy for a tunnel
	connHandshaking           // a TLS handshake runs, or is about to
	connOpen
)

// connections are the connections of a loop, by index. They never move.
type connections struct {
	chunks []*[connChunk]conn
	free   []int32
	N      int32
}

const connChunk = 64

func (s *connections) At(index int32) *conn { return &s.chunks[index/connChunk][index%connChunk] }

// take returns an unused place for a connection.
func (s *connections) take() int32 {
	if n := len(s.free); n > 0 {
		index := s.free[n-1]
		s.free = s.free[:n-1]
		return index
	}
	if s.N%connChunk == 0 {
		s.chunks = append(s.chunks, new([connChunk]conn))
	}
	s.N++
	s.At(s.N - 1).fd = None
	return s.N - 1
}

func (c *conn) token(index int32) uint64 { return uint64(c.Generation)<<32 | uint64(uint32(index)) }

// keeper holds a virtual user's connections between its requests.
type keeper struct {
	pools    *pool // over HTTP/2, unless they are shared
	idle     int32 // the idle connection that it used last; none: there is none
	replaced int32 // the last socket over UDP that was; none: there is none
	kept     uint8 // idle connections
}

// idleMax bounds the idle connections of one virtual user: functions may visit thousands of
// hosts.
const idleMax = 16

// sockets maps each event of the poller to its connection.
type sockets struct {
	*Connections
	Conns   connections
	Poller  *epoll.Poller
	keepers []keeper // by virtual user; the last one is the workflow's own
	buffer  []byte   // all connections read into it
	probe   [1]byte
	Unread  []ticket // connections that may have more to read though the kernel has not
	Queued  []ticket // connections whose exchanges have queued what they say

	lingering []lingerer // in the order of their ends
	Unknown   uint64     // connections whose server confirms nothing, and has not answered their goodbye
}

// Shift moves the instants of open connections to a clock that began so much later. By older ones a connection
// that the setup used would seem just heard for as long as the setup took.
func (k *sockets) Shift(by int64) {
	for at := range k.Conns.N {
		c := k.Conns.At(at)
		d := c.talk
		if m := c.multi; m != nil {
			d = m.talk
			if m.heard -= by; m.asked != 0 {
				m.asked = min(m.asked-by, -1) // 0: nothing is asked
			}
		}
		if d != nil {
			d.heard, d.rested = d.heard-by, d.rested-by
		}
	}
	for i := range k.lingering {
		k.lingering[i].until -= by
	}
}

// pick takes the idle connection to a host that a virtual user used last.
func (k *sockets) pick(vu int32, h *Host) int32 {
	u := &k.keepers[vu]
	for link := &u.idle; *link >= 0; {
		at := *link
		c := k.Conns.At(at)
		if c.host != h {
			link = &c.next
			continue
		}
		*link = c.next
		u.kept--
		if k.serves(c) {
			return at
		}
		k.drop(at)
	}
	return None
}

// serves reports whether an idle connection may carry another exchange.
func (k *sockets) serves(c *conn) bool {
	if c.secure != nil {
		return !k.stale(c)
	}
	return !k.surplus(c)
}

// justRead is how long after a read that left nothing another one is not worth its system call.
const justRead = 20_000

// surplus reads what has come since the last exchange of a connection whose answers carry no name:
// the next exchange would take it for its answer. An end is one too.
func (k *sockets) surplus(c *conn) bool {
	if c.packets() != nil {
		return k.talks.strays(c)
	}
	if c.talk == nil || c.talk.unnamed == nil || c.talk.state.is(talkDeaf) || k.Clock.Tick()-c.talk.heard < justRead {
		return false
	}
	_, errno := epoll.Read(int(c.fd), k.probe[:])
	return errno != syscall.EAGAIN
}

// keep returns an idle connection to its user.
func (k *sockets) keep(at int32) {
	c := k.Conns.At(at)
	if c.pool != nil {
		k.Pools.giveBack(at)
		return
	}
	u := &k.keepers[c.vu]
	if u.kept == idleMax {
		last := u.idle
		for k.Conns.At(last).next >= 0 {
			last = k.Conns.At(last).next
		}
		k.HangUp(last)
	}
	c.slot, c.next = None, u.idle
	u.idle = at
	u.kept++
}

// giveUp ends the exchange of a socket whose time is over.
func (k *sockets) giveUp(at int32) {
	k.Conns.At(at).talk.packets.GiveUp()
	k.replace(at)
}

// replace keeps a socket on which no exchange begins any more: what comes there is counted, and answers
// none. Each user has one such socket at most.
func (k *sockets) replace(at int32) {
	c := k.Conns.At(at)
	if c.slot < 0 {
		k.unlist(at)
	}
	c.slot, c.talk.replaced = None, true
	u := &k.keepers[c.vu]
	if u.replaced >= 0 {
		k.HangUp(u.replaced)
	}
	u.replaced = at
}

// drop ends the use of a connection.
func (k *sockets) drop(at int32) {
	if k.Conns.At(at).packets() != nil {
		k.replace(at)
		return
	}
	k.HangUp(at)
}

// unlist removes an idle connection from the list of its user.
func (k *sockets) unlist(at int32) {
	c := k.Conns.At(at)
	u := &k.keepers[c.vu]
	if u.replaced == at {
		u.replaced = None
		return
	}
	if c.pool != nil {
		return // it forgets what parts
	}
	for link := &u.idle; *link >= 0; link = &k.Conns.At(*link).next {
		if *link == at {
			*link = c.next
			u.kept--
			return
		}
	}
}

// HangUp closes a connection, if there is one.
func (k *sockets) HangUp(at int32) {
	c := k.Conns.At(at)
	if c.fd < 0 {
		return
	}
	switch {
	case c.stem > 0:
		f := k.Conns.At(c.stem - 1).talk.fork
		f.branch, f.behind = 0, false
	case c.trunk() != nil:
		k.streams.leave(c) // its dialogue says goodbye
	case c.slot < 0 && c.multi == nil:
		k.unlist(at)
	}
	k.Pools.parted(at)
	if c.talk != nil && c.talk.fork != nil && c.talk.fork.branch > 0 {
		k.HangUp(c.talk.fork.branch - 1)
	}
	if c.talk != nil {
		if !c.talk.state.is(talkLingers) { // one that does is perhaps the oldest, which settleLingering would close under it
			if k.settleLingering(); k.talks.lingers(at) {
				return
			}
		}
		k.talks.part(at)
	}
	if c.quic != nil {
		k.Quics.hangUp(c)
	} else {
		epoll.Close(int(c.fd))
	}
	if c.multi != nil {
		k.streams.leave(c)
	}
	if c.State == connTunnel {
		delete(k.Tunnels.tunnels, at)
	}
	s := c.secure
	*c = conn{fd: None, Generation: c.Generation + 1}
	if s != nil {
		k.Handshakes.abandon(s)
	}
	k.Conns.free = append(k.Conns.free, at)
}

// HangUpAll closes the idle connections of a user.
func (k *sockets) HangUpAll(vu int32) {
	u := &k.keepers[vu]
	for u.idle >= 0 {
		k.HangUp(u.idle)
	}
	if u.replaced >= 0 {
		k.HangUp(u.replaced)
	}
	for p := u.pools; p != nil; p = p.next {
		for len(p.open) > 0 {
			k.streams.retire(p.open[0])
		}
	}
}

// Handle takes one event.
func (k *sockets) Handle(e *epoll.Event) {
	token := e.Token()
	if token == epoll.WakeToken {
		k.Dialer.resolved()
		return
	}
	if token&asideBit != 0 {
		k.Aside.Handle(uint32(token)&^asideBit, e)
		return
	}
	at := int32(uint32(token))
	if at >= k.Conns.N {
		return
	}
	c := k.Conns.At(at)
	if c.Generation != uint32(token>>32) || c.fd < 0 || c.slot >= 0 && k.Slots.At(c.slot).broke {
		return
	}
	switch {
	case c.stem > 0:
		k.branches.handle(at, e)
	case c.quic != nil:
		k.Quics.read(at)
	case c.State == ConnConnecting:
		k.Dialer.connected(at)
	case c.blocked && e.Writable():
		k.writable(at)
		if c.token(at) == token && c.plain() && e.Readable() {
			k.readToEnd(at, token, e)
		}
	case c.State == connTunnel:
		k.Tunnels.tunnelled(at)
	case c.State == connHandshaking:
		k.Handshakes.goOnSoon(at)
	case e.Readable() || e.Events&epoll.Pri != 0:
		k.readToEnd(at, token, e)
	}
}

// readToEnd reads the data that an event reports, and the end of the stream if it reports that
// too: the kernel may not report it again.
func (k *sockets) readToEnd(at int32, token uint64, e *epoll.Event) {
	c := k.Conns.At(at)
	if e.Events&epoll.Pri != 0 {
		c.reading = readingUrgent
		k.rewatch(at)
	}
	for range readRounds {
		if c.token(at) != token || c.slot >= 0 && k.Slots.At(c.slot).broke {
			return
		}
		k.read(at)
		if e.Events&epoll.RdHup == 0 {
			return
		}
	}
	k.rewatch(at)
}

// writable continues to write what the kernel did not take.
func (k *sockets) writable(at int32) {
	c := k.Conns.At(at)
	if c.multi != nil {
		k.streams.flushStreams(at)
		return
	}
	if c.talk != nil && c.State == connOpen {
		k.talks.flush(at)
		return
	}
	if c.secure != nil && (c.State == connHandshaking || c.slot < 0 || k.Slots.At(c.slot).Written != 0) {
		if gone, err := k.Handshakes.flush(at); gone || err != nil { // a read will report what is wrong
			k.watch(at, false)
		}
		return
	}
	k.Wire.write(c.slot)
}

// plain reports that a connection speaks HTTP/1.1 without TLS: each event reads all data.
func (c *conn) plain() bool { return !c.host.Secure && c.host.version == version1 }

// interest returns the events to watch a connection for. The kernel reports data on a plain one
// once, not until it is read: else it visits each twice. So the length of a read must show
// whether more data is here, which it does not if data is urgent.
func (c *conn) interest() uint32 {
	events := epoll.In
	if c.plain() && c.reading != readingUrgent {
		events |= epoll.RdHup | epoll.Pri | epoll.Edge
	}
	if c.reading == readingHeld {
		events = 0
	}
	if c.blocked {
		events |= epoll.Out
	}
	return events
}

// watch makes the poller report when the kernel takes more, or stop reporting it.
func (k *sockets) watch(at int32, blocked bool) {
	c := k.Conns.At(at)
	if c.blocked == blocked {
		return
	}
	c.blocked = blocked
	k.rewatch(at)
}

// rewatch sets the events to watch again: the kernel then reports the current state anew.
func (k *sockets) rewatch(at int32) {
	c := k.Conns.At(at)
	if err := k.Poller.Mod(int(c.fd), c.interest(), c.token(at)); err != nil {
		if c.slot >= 0 {
			k.Slots.Breaks(c.slot, err)
		} else {
			k.HangUp(at)
		}
	}
}

// read reads what the server sent.
func (k *sockets) read(at int32) {
	c := k.Conns.At(at)
	switch {
	case c.stem > 0:
		k.branches.readOn(at)
		return
	case c.multi != nil:
		k.streams.readStreams(at)
		return
	case c.talk != nil:
		k.talks.read(at)
		return
	}
	if c.secure != nil {
		k.Wire.readSecure(at)
		return
	}
	for range readRounds {
		n, errno := epoll.Read(int(c.fd), k.buffer)
		switch {
		case errno == syscall.EAGAIN:
			return
		case c.slot < 0:
			k.HangUp(at) // the end of an idle connection, or bytes without a request
			return
		case errno != 0:
			k.Wire.Fail(c.slot, readError(errno, k.Slots.At(c.slot).Parser.Started()))
			return
		}
		if k.Wire.feed(c.slot, k.buffer[:n]) || k.hold(at) || n < len(k.buffer) {
			return
		}
	}
	k.rewatch(at)
}

// readError distinguishes errors by whether a part of a response arrived before the connection
// broke.
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
