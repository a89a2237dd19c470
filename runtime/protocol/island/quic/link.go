package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"

	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http3"
	"hyperscale/runtime/protocol/island"
)

// Bounds of a connection.
const (
	idleMost    = 5 * time.Minute // without a packet; the server may want less
	shakeMost   = time.Hour       // the request's own deadline is shorter
	streamFirst = 256 << 10       // what the server may send on a stream unread, in bytes, and what that may become
	streamMost  = 1 << 20
	windowFirst = 512 << 10 // the same of all streams
	windowMost  = 4 << 20
	uniMost     = 16       // streams of the server at once: control, two of QPACK, and unknown ones
	tryMost     = 16 << 10 // a longer request is written by a goroutine
)

// Socket is a UDP socket that is connected to its peer. The link closes it.
type Socket struct {
	FD   int
	Peer netip.AddrPort
}

// Link is one connection of QUIC. Its methods belong to the loop.
type Link struct {
	socket  Socket
	shore   *island.Shore
	packets *island.Packets
	conn    *quic.Conn // nil until the handshake is over
	streams map[uint64]*request
	spare   *quic.Stream    // it is open, and nothing was written to it
	waits   bool            // a goroutine waits for a stream
	ctx     context.Context // until Close
	stop    context.CancelFunc
	ended   bool
	code    http3.Code
	queue
}

var _ http3.Transport = (*Link)(nil)

// request is an open stream, and what of it is not over.
type request struct {
	stream         *quic.Stream
	reads, sending bool
	all            atomic.Bool // the library has all of it
}

// Dial begins a connection. The tag is what the crew returns when there is something to take.
func Dial(crew *island.Crew, tag uint64, s Socket, config *tls.Config) (*Link, error) {
	l := &Link{socket: s, shore: crew.Shore(tag), streams: map[uint64]*request{}, code: http3.CodeNone}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.queue.begin(l.shore)
	local, _, err := epoll.Ends(s.FD)
	if err != nil {
		return nil, err
	}
	l.packets = island.NewPackets(l.shore, netip.AddrPortFrom(local, 0), func(b []byte, _ netip.AddrPort) error { return l.send(b) })
	if err := crew.Go(func() {
		l.run(config)
		epoll.Close(s.FD)
	}, func(err error) {
		l.queue.end(err)
		<-l.ctx.Done() // until then the loop has the descriptor registered
		epoll.Close(s.FD)
	}); err != nil {
		return nil, err
	}
	crew.Fed()
	return l, nil
}

// sendPatience is how long a datagram waits for the kernel.
const sendPatience = 100 * time.Microsecond

// send writes a datagram. One that the kernel does not take is lost, as on the way: the library sends its
// content again.
func (l *Link) send(b []byte) error {
	_, errno := epoll.Write(l.socket.FD, b)
	if errno == syscall.EAGAIN {
		time.Sleep(sendPatience)
		_, errno = epoll.Write(l.socket.FD, b)
	}
	switch errno {
	case 0, syscall.EAGAIN, syscall.ENOBUFS:
		return nil
	}
	l.queue.end(errno) // also one of an earlier datagram, which the kernel tells once: here or to the loop's read
	return nil
}

// run serves the connection from its first packet to its last. It returns behind Close.
func (l *Link) run(config *tls.Config) {
	transport := &quic.Transport{Conn: l.packets}
	defer func() {
		_ = l.packets.Close()
		_ = transport.Close()
	}()
	conn, err := l.dial(l.ctx, transport, config)
	if err != nil {
		l.queue.end(explain(err))
		<-l.ctx.Done()
		return
	}
	l.queue.established(conn)
	l.accept(conn) // until either ends
	select {
	case <-l.ctx.Done():
	case <-conn.Context().Done():
		l.queue.end(explain(context.Cause(conn.Context())))
		<-l.ctx.Done()
	}
	_ = conn.CloseWithError(quic.ApplicationErrorCode(l.code), "")
}

func (l *Link) dial(ctx context.Context, transport *quic.Transport, config *tls.Config) (*quic.Conn, error) {
	crew := l.shore.Crew()
	host := l.socket.Peer.String()
	if !crew.Enter(host, ctx.Done()) {
		return nil, context.Canceled
	}
	defer crew.Leave(host)
	conn, err := transport.Dial(ctx, net.UDPAddrFromAddrPort(l.socket.Peer), config, &quic.Config{
		HandshakeIdleTimeout: shakeMost, MaxIdleTimeout: idleMost,
		InitialStreamReceiveWindow: streamFirst, MaxStreamReceiveWindow: streamMost,
		InitialConnectionReceiveWindow: windowFirst, MaxConnectionReceiveWindow: windowMost,
		MaxIncomingStreams: -1, MaxIncomingUniStreams: uniMost,
	})
	if err != nil {
		return nil, err
	}
	control, err := conn.OpenUniStreamSync(ctx)
	if err == nil {
		_, err = control.Write(http3.Preface())
	}
	if err != nil {
		_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.CodeInternal), "")
		return nil, err
	}
	return conn, nil
}

// accept reads the streams that the server opens, until the connection ends or is closed.
func (l *Link) accept(conn *quic.Conn) {
	for {
		s, err := conn.AcceptUniStream(l.ctx)
		if err != nil {
			return
		}
		l.queue.opened(s)
		go func() {
			stream := uint64(s.StreamID())
			l.queue.read(s, stream, make([]byte, controlPiece)) // the reader may wait for the connection's life
			l.queue.forget(stream)
		}()
	}
}

// Feed gives the library a datagram that the loop has read.
func (l *Link) Feed(b []byte) { l.packets.Feed(b, l.socket.Peer) }

// Look says that the loop looks at the link now, and reports whether the handshake is over. The error is
// that of the connection's end, once Take has returned all that came before.
func (l *Link) Look() (up bool) {
	l.shore.Seen()
	if l.conn == nil {
		l.conn = l.queue.up()
	}
	return l.conn != nil
}

// Resumed reports whether the handshake took up a session.
func (l *Link) Resumed() bool { return l.conn.ConnectionState().TLS.DidResume }

// Path returns the packets of ours that the library took for lost up to now, as acknowledgements of later ones showed,
// and the smoothed round trip of RFC 9002. The library does not count what a probe timeout gives up. The handshake must
// be over.
func (l *Link) Path() (lost uint64, rtt time.Duration) {
	s := l.conn.ConnectionStats()
	return s.PacketsLost, s.SmoothedRTT
}

// Room implements http3.Transport.
func (l *Link) Room() bool {
	if l.spare != nil {
		return true
	}
	if l.waits || l.conn == nil {
		return false
	}
	s, err := l.conn.OpenStream()
	if err == nil {
		l.spare = s
		return true
	}
	var limit *quic.StreamLimitReachedError
	if errors.As(err, &limit) {
		l.waits = true
		go l.wait(l.conn)
	}
	return false // a connection that has ended tells so itself
}

// wait waits until the server takes another stream.
func (l *Link) wait(conn *quic.Conn) {
	if s, err := conn.OpenStreamSync(conn.Context()); err == nil {
		l.queue.room(s)
	}
}

// Open implements http3.Transport.
func (l *Link) Open(b []byte) (stream uint64, written bool) {
	s := l.spare
	l.spare = nil
	stream = uint64(s.StreamID())
	r := &request{stream: s, reads: true}
	l.streams[stream] = r
	l.shore.Crew().Fed()
	if len(b) <= tryMost {
		switch err := s.TryWriteAll(b); {
		case err == nil:
			_ = s.Close() // it says only that the stream was given up
			go l.queue.answer(s, stream)
			return stream, true
		case !errors.Is(err, quic.ErrWouldBlock):
			r.sending = true
			l.queue.refused(stream, err)
			go l.queue.answer(s, stream)
			return stream, false
		}
	}
	r.sending = true
	go l.queue.write(s, append([]byte(nil), b...), &r.all)
	go l.queue.answer(s, stream)
	return stream, false
}

// Reset implements http3.Transport.
func (l *Link) Reset(stream uint64, code http3.Code) {
	r := l.streams[stream]
	if r == nil {
		return
	}
	delete(l.streams, stream)
	r.stream.CancelRead(quic.StreamErrorCode(code))
	r.stream.CancelWrite(quic.StreamErrorCode(code))
	l.shore.Crew().Fed()
}

// Stop implements http3.Transport.
func (l *Link) Stop(stream uint64, code http3.Code) {
	if s := l.queue.of(stream); s != nil {
		s.CancelRead(quic.StreamErrorCode(code))
		l.shore.Crew().Fed()
	}
}

// Close ends the connection, and tells the server the code. Nothing is taken behind it.
func (l *Link) Close(code http3.Code) {
	if l.ended {
		return
	}
	l.ended, l.code = true, code
	l.queue.shut()
	l.stop()
	l.shore.Crew().Fed()
}
