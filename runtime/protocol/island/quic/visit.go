package quic

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http3"
	"hyperscale/runtime/protocol/island"
)

// Visit is one link with a loop of its own: a ping makes it, and waits for what it does.
type Visit struct {
	// Heard counts the packets that have come.
	Heard  uint64
	link   *Link
	crew   *island.Crew
	poller *epoll.Poller
	fd     int // -1: there is no link
	buffer [island.PacketMost]byte
}

// Reach makes a connection, and returns when its handshake is over. Its error is the context's where no answer came in
// time. The caller closes the visit after an error, too, unless it is nil.
func Reach(ctx context.Context, peer netip.AddrPort, config *tls.Config) (*Visit, error) {
	poller, err := epoll.New()
	if err != nil {
		return nil, err
	}
	v := &Visit{poller: poller, fd: -1}
	v.crew = island.New(func() { _ = poller.Wake() }) // it cannot fail while the poller is open
	fd, err := epoll.Datagrams(peer, netip.Addr{})
	if err != nil {
		return v, err
	}
	if v.link, err = Dial(v.crew, 1, Socket{FD: fd, Peer: peer}, config); err != nil {
		epoll.Close(fd)
		return v, err
	}
	v.fd = fd
	if err := poller.Add(fd, epoll.In, 1); err != nil {
		return v, err
	}
	return v, v.until(ctx, func() bool { return v.link.conn != nil }, func(http3.Event) error { return nil })
}

// restMost is how long a visit waits for an event before it looks again.
const restMost = time.Second

// until plays the loop until done, and hands over what comes.
func (v *Visit) until(ctx context.Context, done func() bool, take func(http3.Event) error) error {
	stop := context.AfterFunc(ctx, func() { _ = v.poller.Wake() }) // it cannot fail while the poller is open
	defer stop()
	var events [8]epoll.Event
	var tags []uint64
	for {
		if err := v.read(); err != nil {
			return err
		}
		tags = v.crew.Take(tags[:0])
		v.link.Look()
		if err := v.link.Take(take); err != nil {
			return err
		}
		switch err := ctx.Err(); {
		case done():
			return nil
		case err != nil:
			return err
		case !v.crew.Asleep():
			continue
		}
		if _, err := v.poller.Rest(events[:], restMost); err != nil {
			return err
		}
	}
}

// read feeds the library what has come.
func (v *Visit) read() error {
	for {
		switch n, errno := epoll.Read(v.fd, v.buffer[:]); errno {
		case 0:
			v.Heard++
			v.link.Feed(v.buffer[:n])
		case syscall.EAGAIN:
			return nil
		default:
			return errno
		}
	}
}

// Carry begins a request as soon as the server takes one, and hands over what comes until done. The error is that of
// the connection or of the context: on has heard nothing of it.
func (v *Visit) Carry(ctx context.Context, c *http3.Conn, request *codec.Operation, on codec.Handler, done func() bool) error {
	c.Over(v.link)
	var stream uint32
	return v.until(ctx, func() bool {
		if stream == 0 && c.CanOpen() {
			stream = c.Open(request, 1, nil)
		}
		return done()
	}, func(e http3.Event) error { return c.Take(e, on) })
}

// State returns what the handshake agreed on, and the version of QUIC. It is over.
func (v *Visit) State() (state tls.ConnectionState, version string) {
	s := v.link.conn.ConnectionState()
	return s.TLS, s.Version.String()
}

// Local is the address that the visit leaves from.
func (v *Visit) Local() netip.Addr {
	local, _, _ := epoll.Ends(v.fd) // without one it is the zero address
	return local
}

// partsWithin is how long Close waits for the goodbye to be written.
const partsWithin = time.Second

// Close says goodbye with a code.
func (v *Visit) Close(code http3.Code) {
	if v.link != nil {
		_ = v.poller.Del(v.fd) // an error says that it is not there
		v.link.Close(code)
	}
	v.crew.Close(partsWithin)
	_ = v.poller.Close() // nothing waits in it
}

// Again makes a second connection with the session that config keeps, and offers early data, of which it sends none.
// It reports whether the server took up the session, and whether it would have taken early data (0-RTT).
func Again(ctx context.Context, peer netip.AddrPort, config *tls.Config) (resumed, early bool, err error) {
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return false, false, err
	}
	defer func() { _ = socket.Close() }() // nothing waits in it
	transport := &quic.Transport{Conn: unbuffered{socket}}
	defer func() { _ = transport.Close() }() // the same
	conn, err := transport.DialEarly(ctx, net.UDPAddrFromAddrPort(peer), config, &quic.Config{})
	if err != nil {
		return false, false, err
	}
	defer func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.CodeNone), "") }() // it is over
	select {
	case <-conn.HandshakeComplete():
	case <-conn.Context().Done():
		return false, false, explain(context.Cause(conn.Context()))
	case <-ctx.Done():
		return false, false, ctx.Err()
	}
	s := conn.ConnectionState()
	return s.TLS.DidResume, s.Used0RTT, nil
}

// unbuffered is a socket whose buffers stay as the machine has them: the library would print that it cannot enlarge
// them.
type unbuffered struct{ net.PacketConn }

// SetReadBuffer is what the library asks for.
func (unbuffered) SetReadBuffer(int) error { return nil }

// SetWriteBuffer is the same.
func (unbuffered) SetWriteBuffer(int) error { return nil }
