package engine

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"hyperscale/core/load/queue"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// secure is TLS over a connection: what crypto/tls takes for its net.Conn, and what it
// makes of it. Its reads do not wait: that there is nothing is a temporary error, which
// TLS survives; only the handshake, which is a coroutine, is suspended. What the kernel
// does not take is pending, and bounded: the loop writes no more before that is gone.
type secure struct {
	loop    *loop
	tls     *tls.Conn
	host    *host
	co      *coroutine // its handshake, while that is under way
	pending []byte
	fd      int32
	queued  bool // it stands in loop.shakes
	ended   bool // the stream has ended
	dry     bool // reads look only at what is here
	dead    bool // the connection is closed
}

var _ net.Conn = (*secure)(nil)

// noProtocol is the alert of a server that speaks nothing of what is offered.
const noProtocol = 120

const (
	shakesTurn   = 4   // steps of handshakes between two waits: about half a millisecond each
	shakesHost   = 256 // handshakes under way with one host: each has a stack
	shakesAhead  = 64  // that wait for this process, beyond which no iteration begins
	secureRounds = 64  // records of one event
	recordMax    = 16 << 10
	pendingMax   = 64 << 10 // only a server that reads nothing makes more of it
)

// hostShakes are the handshakes with one host.
type hostShakes struct {
	n       int
	waiting queue.Queue[ticket] // connections
	config  *tls.Config         // nil: not made yet
}

// errAgain says that there is nothing to read now.
var errAgain error = again{}

type again struct{}

func (again) Error() string   { return "nothing to read yet" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

// errNoNotify is an end that may be forged: only close_notify ends a stream under TLS.
// Responses that tell their length do not get here.
var errNoNotify = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed without the close_notify of TLS"}

// Read is called by crypto/tls.
func (s *secure) Read(b []byte) (int, error) {
	for {
		switch {
		case s.dead:
			return 0, net.ErrClosed
		case s.dry:
			return 0, errAgain
		}
		n, errno := epoll.Read(int(s.fd), b)
		switch {
		case errno == syscall.EAGAIN && s.co != nil:
			s.co.block(wantRead)
			continue
		case errno == syscall.EAGAIN:
			return 0, errAgain
		case errno != 0:
			return 0, errno
		case n == 0:
			s.ended = true
			return 0, io.EOF
		}
		return n, nil
	}
}

// Write is called by crypto/tls, and takes all that it takes.
func (s *secure) Write(b []byte) (int, error) {
	if s.dead {
		return 0, net.ErrClosed
	}
	n := 0
	if len(s.pending) == 0 {
		var errno syscall.Errno
		if n, errno = epoll.Write(int(s.fd), b); errno != 0 && errno != syscall.EAGAIN {
			return n, errno
		}
	}
	if n == len(b) {
		return n, nil
	}
	if len(s.pending)+len(b)-n > pendingMax {
		return n, errors.New("the server takes nothing")
	}
	if s.pending == nil {
		s.pending = s.loop.pendingBuffer()
	}
	s.pending = append(s.pending, b[n:]...)
	return len(b), nil
}

type nowhere struct{}

func (nowhere) Network() string { return "tcp" }
func (nowhere) String() string  { return "" }

// The loop closes and watches the time.
func (s *secure) Close() error                     { return nil }
func (s *secure) LocalAddr() net.Addr              { return nowhere{} }
func (s *secure) RemoteAddr() net.Addr             { return nowhere{} }
func (s *secure) SetDeadline(time.Time) error      { return nil }
func (s *secure) SetReadDeadline(time.Time) error  { return nil }
func (s *secure) SetWriteDeadline(time.Time) error { return nil }

func (l *loop) pendingBuffer() []byte {
	if n := len(l.buffers); n > 0 {
		b := l.buffers[n-1]
		l.buffers = l.buffers[:n-1]
		return b[:0]
	}
	return make([]byte, 0, recordMax+recordMax/4)
}

const buffersKept = 64

// releasePending gives the buffer of a connection back that has nothing pending.
func (l *loop) releasePending(s *secure) {
	if s.pending != nil && cap(s.pending) <= 2*recordMax && len(l.buffers) < buffersKept {
		l.buffers = append(l.buffers, s.pending)
	}
	s.pending = nil
}

// shake begins TLS on a connection that stands.
func (l *loop) shake(at int32) {
	c := l.conns.at(at)
	c.state = connShaking
	l.lane(c.lane).Shook = max(l.clock.Tick(), 1)
	h := &c.host.shakes
	if h.config == nil {
		h.config = l.tls.Clone()
		if h.config.ServerName == "" {
			h.config.ServerName = c.host.name
		}
	}
	config := h.config
	if l.cfg.Workflow.HTTP.TLS.Resume {
		config = l.resuming(c.vu, config)
	}
	c.secure = &secure{loop: l, host: c.host, fd: c.fd}
	c.secure.tls = tls.Client(c.secure, config)
	l.shakeSoon(at)
}

// shakeSoon makes a handshake go on when others have had their turn.
func (l *loop) shakeSoon(at int32) {
	if c := l.conns.at(at); !c.secure.queued {
		c.secure.queued = true
		l.shakes.Push(ticket{at, c.generation})
	}
}

// runShakes lets some handshakes go on.
func (l *loop) runShakes() {
	for range min(shakesTurn, l.shakes.Len()) {
		t := l.shakes.Pop()
		c := l.conns.at(t.index)
		if c.generation != t.serial || c.secure == nil {
			continue
		}
		s, h := c.secure, &c.host.shakes
		if s.co == nil && h.n == shakesHost {
			h.waiting.Push(t)
			continue
		}
		s.queued = false
		switch {
		case s.co != nil:
			l.resume(s.co)
		case c.state == connShaking:
			h.n++
			l.coroutines.alive++
			s.co = l.coroutines.take(l)
			s.co.job, s.co.secure, s.co.conn = jobShake, s, t
			l.resume(s.co)
		}
	}
}

// suspended takes a handshake that waits for the server.
func (l *loop) suspended(co *coroutine) {
	if s := co.secure; len(s.pending) > 0 && !s.dead {
		l.watch(co.conn.index, true)
	}
}

// shaken takes the end of a handshake.
func (l *loop) shaken(s *secure, t ticket, err error) {
	h := &s.host.shakes
	s.co = nil
	h.n--
	for h.waiting.Len() > 0 {
		next := h.waiting.Pop()
		if c := l.conns.at(next.index); c.generation == next.serial && c.secure != nil {
			l.shakes.Push(next)
			break
		}
	}
	if s.dead {
		return
	}
	c := l.conns.at(t.index)
	if err != nil {
		l.fail(c.lane, explainTLS(err))
		return
	}
	l.secured++
	if s.tls.ConnectionState().DidResume {
		l.resumed++
	}
	l.standing(t.index)
}

// explainTLS adds what the user can do to what the library says.
func explainTLS(err error) error {
	switch http1.KindOf(err) {
	case http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		return fmt.Errorf("TLS handshake: %w: use a certificate that this machine trusts, or turn verification off in http.client", err)
	}
	var alert tls.AlertError
	if errors.As(err, &alert) && alert == noProtocol || strings.HasSuffix(err.Error(), "no application protocol") {
		return fmt.Errorf("TLS handshake: %w: does the server speak HTTP/2? write version = \"auto\" or \"1.1\" in http.client", err)
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return fmt.Errorf("TLS handshake: %w: does the server speak plain http:// on this port?", err)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

// abandon ends what is left of a connection that was closed.
func (l *loop) abandon(s *secure) {
	s.dead = true
	l.releasePending(s)
	if s.co != nil {
		l.resume(s.co)
	}
}

// flush writes what is pending. It tells whether all of it is gone.
func (l *loop) flush(at int32) (bool, error) {
	c := l.conns.at(at)
	s := c.secure
	if len(s.pending) == 0 {
		return true, nil
	}
	n, errno := epoll.Write(int(c.fd), s.pending)
	if errno != 0 && errno != syscall.EAGAIN {
		l.releasePending(s)
		return false, errno
	}
	s.pending = append(s.pending[:0], s.pending[n:]...)
	if len(s.pending) > 0 {
		l.watch(at, true)
		return false, nil
	}
	l.releasePending(s)
	return true, nil
}

// writeSecure writes a request under TLS, a record at a time.
func (l *loop) writeSecure(index int32) {
	n := l.lane(index)
	at := n.conn
	bytes := l.outgoing(index)
	for {
		gone, err := l.flush(at)
		switch {
		case err != nil:
			l.unwritten(index, err)
			return
		case !gone:
			l.keepRest(index, bytes)
			return
		case n.sent == len(bytes):
			l.wroteAll(n, l.conns.at(at))
			return
		}
		some := bytes[n.sent:]
		took, err := l.conns.at(at).secure.tls.Write(some[:min(len(some), recordMax)])
		n.sent += took
		n.account.BytesOut += uint64(took)
		if err != nil {
			l.unwritten(index, err)
			return
		}
	}
}

// readSecure takes what came under TLS: data, tickets, new keys, an end.
func (l *loop) readSecure(at int32) {
	c := l.conns.at(at)
	s := c.secure
	for range secureRounds {
		n, err := s.tls.Read(l.buffer)
		switch {
		case n == 0 && err == errAgain:
			if len(s.pending) > 0 {
				l.watch(at, true)
			}
			return
		case c.lane < 0:
			l.hangUp(at)
			return
		case n > 0:
			if l.feed(c.lane, l.buffer[:n]) {
				return
			}
		default:
			l.endSecure(c.lane, s, err)
			return
		}
	}
	l.more = append(l.more, ticket{at, c.generation}) // crypto/tls may hold what the kernel no longer tells of
}

// endSecure takes the end of a stream under TLS in the middle of a request.
func (l *loop) endSecure(index int32, s *secure, err error) {
	n := l.lane(index)
	silent := !n.parser.Started()
	switch {
	case !errors.Is(err, io.EOF):
		l.fail(index, readError(err, !silent))
	case s.ended && (!silent || n.refused == 0):
		l.fail(index, errNoNotify)
	default:
		l.feed(index, nil)
	}
}

// readMore goes on with connections that were read for long enough.
func (l *loop) readMore() {
	all := len(l.more)
	for i := range all {
		t := l.more[i]
		if c := l.conns.at(t.index); c.generation == t.serial && c.state == connOpen && (c.lane < 0 || !l.lane(c.lane).broke) {
			l.read(t.index)
		}
	}
	l.more = append(l.more[:0], l.more[all:]...)
}

// stale reads what crypto/tls still holds behind the last response: tickets and new keys
// are taken here, anything else spends the connection. What the kernel holds is told by
// an event.
func (l *loop) stale(c *conn) bool {
	s := c.secure
	s.dry = true
	n, err := s.tls.Read(l.probe[:]) // what is being fed lies in the loop's buffer
	s.dry = false
	return n > 0 || err != errAgain
}
