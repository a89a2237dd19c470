package pool

import (
	"crypto/tls"
	"errors"
	"fmt"
	"syscall"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http3"
	"hyperscale/runtime/protocol/island"
	"hyperscale/runtime/protocol/island/quic"
)

// quics are the connections of HTTP/3. Each has a UDP socket of its own, which the loop reads; goroutines of
// an island serve it.
type quics struct {
	*Connections
	at int32 // whose events are being taken
}

// crew returns the goroutines beside the loop.
func (y *talks) crew() *island.Crew {
	if y.islands.crew == nil {
		y.islands.crew = island.New(func() { _ = y.Sockets.Poller.Wake() }) // it cannot fail while the poller is open
	}
	return y.islands.crew
}

// errPlain: QUIC has no connection without TLS.
var errPlain = &http1.Error{Kind: http1.KindProtocol, Detail: "HTTP/3 has TLS always: write https://, or version = \"auto\" in http.client"}

// begin starts the handshake on an open socket. Until it is over the connection counts as connecting: another
// address may have to be tried.
func (q *quics) begin(at int32) {
	c := q.Sockets.Conns.At(at)
	index := c.slot
	config := q.Handshakes.config(c)
	link, err := quic.Dial(q.talks.crew(), c.token(at), quic.Socket{FD: int(c.fd), Peer: c.host.Addrs[q.Slots.At(index).address()]}, config)
	if err != nil {
		q.Slots.Breaks(index, fmt.Errorf("begin the connection: %w", err))
		return
	}
	c.quic = link
	q.Dialer.await(index)
}

// read feeds the library what has come.
func (q *quics) read(at int32) {
	c := q.Sockets.Conns.At(at)
	for range readRounds {
		n, errno := epoll.Read(int(c.fd), q.Sockets.buffer)
		switch errno {
		case 0:
			c.quic.Feed(q.Sockets.buffer[:n])
			if c.multi != nil {
				c.multi.heard, c.multi.asked = max(q.Clock.Now, 1), 0
			}
		case syscall.EAGAIN:
			return
		default:
			q.broken(at, readError(errno, false))
			return
		}
	}
}

// broken handles the end of a connection.
func (q *quics) broken(at int32, err error) {
	if q.Sockets.Conns.At(at).multi == nil {
		q.failed(at, err)
		return
	}
	q.streams.broken(at, err)
}

// failed takes the failure of a handshake. Another address is tried unless the server has answered.
func (q *quics) failed(at int32, err error) {
	c := q.Sockets.Conns.At(at)
	index := c.slot
	n := q.Slots.At(index)
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = fmt.Errorf("%s: %w", n.Host.Addrs[n.address()], errno)
		q.Sockets.HangUp(at)
		n.Conn = None
		if n.tried++; int(n.tried) < len(n.Host.Addrs) {
			q.Dialer.dial(index)
			return
		}
	}
	switch http1.KindOf(err) {
	case http1.KindTLS, http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		err = explainTLS(err, c.host)
	}
	q.Wire.Fail(index, err)
}

// stir takes what the goroutines of a connection have done.
func (q *quics) stir(at int32) {
	c := q.Sockets.Conns.At(at)
	link, generation := c.quic, c.Generation
	up := link.Look()
	if up && c.State == ConnConnecting {
		n := q.Slots.At(c.slot)
		n.Host.Good = n.address()
		q.Handshakes.Secured++
		if link.Resumed() {
			q.Handshakes.Resumed++
		}
		if q.Dialer.standing(at); c.Generation != generation {
			return
		}
	}
	q.at, q.streams.feeding, q.streams.reading.at = at, true, at
	err := link.Take(q.take)
	q.streams.feeding = false
	if c.Generation != generation {
		return
	}
	if c.multi != nil {
		q.streams.look(at)
	}
	q.Slots.Common.Reset() // cookies of an unread head belong to no user
	switch {
	case c.Generation != generation:
	case err != nil:
		q.broken(at, err)
	case c.multi == nil:
	default:
		q.settle(at)
	}
}

// settle goes on with a connection whose events are taken.
func (q *quics) settle(at int32) {
	c := q.Sockets.Conns.At(at)
	m := c.multi
	if !m.Usable() {
		q.streams.retire(at)
	}
	if c.multi != m {
		return
	}
	q.streams.soil(at)
	if c.pool != nil {
		q.Pools.owe(c.pool)
	}
}

// take takes one event of the connection at hand.
func (q *quics) take(e http3.Event) error {
	m := q.Sockets.Conns.At(q.at).multi
	of, is := m.Conn.(*http3.Conn)
	if !is {
		return nil
	}
	if e.Kind == http3.Written {
		m.unsent = true // the next look finds it written
	}
	return of.Take(e, &q.streams.reading)
}

// hangUp closes a connection, which closes its socket behind its last packet.
func (q *quics) hangUp(c *conn) {
	code := http3.CodeNone
	if c.multi != nil {
		if of, is := c.multi.Conn.(*http3.Conn); is {
			code = of.Goodbye()
		}
	}
	_ = q.Sockets.Poller.Del(int(c.fd)) // it was added
	c.quic.Close(code)
}

// config returns the TLS options of a connection.
func (a *handshakes) config(c *conn) *tls.Config {
	h := &c.host.handshakes
	if h.config == nil {
		from := a.Tls
		if c.host.tls != nil {
			from = c.host.tls
		}
		h.config = from.Clone()
		if c.host.version == versionTalk || c.host.carries == carriesCalls {
			h.config.NextProtos = c.host.offer
		}
		if h.config.ServerName == "" {
			h.config.ServerName = c.host.Name
		}
	}
	resume := a.workflow.HTTP.TLS.Resume
	if c.host.tls != nil {
		resume = c.host.resume
	}
	if resume {
		return a.resuming(c.vu, c.host, h.config)
	}
	return h.config
}
