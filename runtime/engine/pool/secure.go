package pool

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
	"hyperscale/runtime/engine/coroutine"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/http1"
)

// secure is TLS over a connection: the net.Conn of crypto/tls, and its tls.Conn. Its reads do
// not block: no data is a temporary error, which TLS survives. Only the handshake, a coroutine,
// is suspended. What the kernel does not take is pending, and bounded: the loop writes no more
// until that is written.
type secure struct {
	loop    *Connections
	tls     *tls.Conn
	host    *Host
	config  *tls.Config          // of a connection that may have branches; nil: of another
	co      *coroutine.Coroutine // of its handshake while that runs
	conn    ticket
	pending []byte
	fd      int32
	reads   readState
	queued  bool // it is in the queue of handshakes
	ended   bool // the stream has ended
}

// readState says what reads of crypto/tls return.
type readState uint8

const (
	readsOpen readState = iota
	readsDry            // they return only what is here
	readsDead           // the connection is closed
)

var (
	_ net.Conn       = (*secure)(nil)
	_ coroutine.Body = (*secure)(nil)
)

// noProtocol is the alert of a server that speaks none of the offered protocols.
const noProtocol = 120

const (
	handshakesTurn  = 4   // steps of handshakes between two waits: about half a millisecond each
	handshakesHost  = 256 // concurrent handshakes with one host: each has a stack
	HandshakesAhead = 64  // handshakes that wait for this process; beyond that no iteration begins
	secureRounds    = 64  // records of one event
	recordMax       = 16 << 10
	pendingMax      = 64 << 10 // only a server that reads nothing causes more
)

// hostHandshakes are the handshakes with one host.
type hostHandshakes struct {
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

// errNoNotify is an end that an attacker may have forged: only close_notify ends a stream under
// TLS. Responses with a length do not need it.
var errNoNotify = &http1.Error{Kind: http1.KindTruncated, Detail: "the connection was closed without the close_notify of TLS"}

// Read is called by crypto/tls.
func (s *secure) Read(b []byte) (int, error) {
	for {
		switch {
		case s.reads == readsDead:
			return 0, net.ErrClosed
		case s.reads == readsDry:
			return 0, errAgain
		}
		n, errno := epoll.Read(int(s.fd), b)
		switch {
		case errno == syscall.EAGAIN && s.co != nil:
			s.co.Block(coroutine.WantRead)
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

// Write is called by crypto/tls, and accepts everything.
func (s *secure) Write(b []byte) (int, error) {
	if s.reads == readsDead {
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
		s.pending = s.loop.Handshakes.pendingBuffer()
	}
	s.pending = append(s.pending, b[n:]...)
	return len(b), nil
}

type nowhere struct{}

func (nowhere) Network() string { return "tcp" }
func (nowhere) String() string  { return "" }

// The loop closes connections and keeps the deadlines.
func (s *secure) Close() error                     { return nil }
func (s *secure) LocalAddr() net.Addr              { return nowhere{} }
func (s *secure) RemoteAddr() net.Addr             { return nowhere{} }
func (s *secure) SetDeadline(time.Time) error      { return nil }
func (s *secure) SetReadDeadline(time.Time) error  { return nil }
func (s *secure) SetWriteDeadline(time.Time) error { return nil }

func (a *handshakes) pendingBuffer() []byte {
	if n := len(a.buffers); n > 0 {
		b := a.buffers[n-1]
		a.buffers = a.buffers[:n-1]
		return b[:0]
	}
	return make([]byte, 0, recordMax+recordMax/4)
}

const buffersKept = 64

// releasePending takes back the buffer of a connection without pending data.
func (a *handshakes) releasePending(s *secure) {
	if s.pending != nil && cap(s.pending) <= 2*recordMax && len(a.buffers) < buffersKept {
		a.buffers = append(a.buffers, s.pending)
	}
	s.pending = nil
}

// handshakes runs the TLS handshakes, few at a time.
type handshakes struct {
	*Connections
	Tls      *tls.Config         // of all hosts
	Sessions map[int32]*sessions // by user, if the workflow resumes them
	Ready    queue.Queue[ticket] // connections whose handshake may continue
	buffers  [][]byte            // for what the kernel does not take
	Secured  uint64              // handshakes that succeeded
	Resumed  uint64              // those of them that resumed a session
}

// begin starts TLS on an open connection.
func (a *handshakes) begin(at int32) {
	c := a.Sockets.Conns.At(at)
	c.State = connHandshaking
	a.Slots.At(c.slot).Shook = max(a.Clock.Tick(), 1)
	c.secure = &secure{loop: a.Connections, host: c.host, fd: c.fd}
	config := a.config(c)
	if c.host.carries == carriesBranches {
		config = trunk(config)
		c.secure.config = config
	}
	c.secure.tls = tls.Client(c.secure, config)
	a.goOnSoon(at)
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
		if c.host.talks() || c.host.carries == carriesCalls {
			h.config.NextProtos = c.host.offer
		}
		if h.config.ServerName == "" {
			h.config.ServerName = c.host.Name
		}
	}
	config := h.config
	if s := c.host.service; s != nil {
		config = s.config(h.config, c.host, a.Slots.At(c.slot).trial)
	}
	resume := a.workflow.HTTP.TLS.Resume
	if c.host.tls != nil {
		resume = c.host.resume
	}
	if resume {
		return a.resuming(c.vu, c.host, config)
	}
	return config
}

// goOnSoon makes a handshake continue after others had their turn.
func (a *handshakes) goOnSoon(at int32) {
	if c := a.Sockets.Conns.At(at); !c.secure.queued {
		c.secure.queued = true
		a.Ready.Push(ticket{at, c.Generation})
	}
}

// RunReady continues some handshakes.
func (a *handshakes) RunReady() {
	for range min(handshakesTurn, a.Ready.Len()) {
		t := a.Ready.Pop()
		c := a.Sockets.Conns.At(t.index)
		if c.Generation != t.serial || c.secure == nil {
			continue
		}
		s, h := c.secure, &c.host.handshakes
		if s.co == nil && h.n == handshakesHost {
			h.waiting.Push(t)
			continue
		}
		s.queued = false
		switch {
		case s.co != nil:
			a.goOn(s)
		case c.State == connHandshaking:
			h.n++
			a.Coroutines.Alive++
			s.conn, s.co = t, a.Coroutines.Take(s)
			a.goOn(s)
		}
	}
}

// goOn runs a handshake until it waits for the server.
func (a *handshakes) goOn(s *secure) {
	if a.Coroutines.Resume(s.co) == coroutine.WantRead && len(s.pending) > 0 && s.reads != readsDead {
		a.Sockets.watch(s.conn.index, true)
	}
}

// Run runs the handshake in its coroutine.
func (s *secure) Run() {
	err := s.tls.Handshake()
	l := s.loop
	l.Clock.Tick()
	l.Coroutines.Alive--
	l.Handshakes.ended(s, s.conn, err)
}

// ended takes the result of a handshake.
func (a *handshakes) ended(s *secure, t ticket, err error) {
	h := &s.host.handshakes
	s.co = nil
	h.n--
	for h.waiting.Len() > 0 {
		next := h.waiting.Pop()
		if c := a.Sockets.Conns.At(next.index); c.Generation == next.serial && c.secure != nil {
			a.Ready.Push(next)
			break
		}
	}
	if s.reads == readsDead {
		return
	}
	c := a.Sockets.Conns.At(t.index)
	if err == nil {
		a.Secured++
		if s.tls.ConnectionState().DidResume {
			a.Resumed++
		}
	}
	switch {
	case c.stem > 0:
		a.branches.secured(t.index, err)
		return
	case err != nil:
		a.Wire.Fail(c.slot, explainTLS(err, c.host))
		return
	}
	a.Dialer.standing(t.index)
}

// explainTLS adds a remedy to the library's error.
func explainTLS(err error, h *Host) error {
	client, plain := "turn verification off in http.client", "does the server speak plain http:// on this port?"
	if h.talks() {
		plain = "does the server speak TLS on this port?"
	}
	kind := http1.KindOf(err)
	if h.tls != nil {
		client = map[http1.Kind]string{
			http1.KindTLSAuthority: "give the client tls = tls(ca = file(\"ca.pem\")) with the authority that signed it",
			http1.KindTLSName:      "give the client tls = tls(server_name = \"...\") with a name that it has",
			http1.KindTLSExpired:   "renew it",
		}[kind]
	}
	switch kind {
	case http1.KindTLSAuthority, http1.KindTLSName, http1.KindTLSExpired:
		return fmt.Errorf("TLS handshake: %w: use a certificate that this machine trusts, or %s", err, client)
	}
	var alert tls.AlertError
	var record tls.RecordHeaderError
	refused := errors.As(err, &alert) && alert == noProtocol || strings.HasSuffix(err.Error(), "no application protocol")
	if h.version == versionTalk && h.tls != nil && len(h.offer) > 0 && (refused || errors.Is(err, io.EOF) || errors.As(err, &record)) {
		return fmt.Errorf("TLS handshake: %w: does the server take TLS at once, and %s by ALPN?", err, h.offer[0])
	}
	if refused {
		return fmt.Errorf("TLS handshake: %w: does the server speak HTTP/2? write version = \"auto\" or \"1.1\" in http.client", err)
	}
	if errors.As(err, &record) {
		return fmt.Errorf("TLS handshake: %w: %s", err, plain)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

// abandon cleans up after a closed connection.
func (a *handshakes) abandon(s *secure) {
	s.reads = readsDead
	a.releasePending(s)
	if s.co != nil {
		a.goOn(s)
	}
}

// flush writes pending data, and reports whether all of it is written.
func (a *handshakes) flush(at int32) (bool, error) {
	c := a.Sockets.Conns.At(at)
	s := c.secure
	if len(s.pending) == 0 {
		return true, nil
	}
	n, errno := epoll.Write(int(c.fd), s.pending)
	if errno != 0 && errno != syscall.EAGAIN {
		a.releasePending(s)
		return false, errno
	}
	s.pending = append(s.pending[:0], s.pending[n:]...)
	if len(s.pending) > 0 {
		a.Sockets.watch(at, true)
		return false, nil
	}
	a.releasePending(s)
	return true, nil
}

// writeSecure writes a request under TLS, a record at a time, some records a turn.
func (w *wire) writeSecure(index int32) {
	n := w.Slots.At(index)
	at := n.Conn
	m := w.Requests.Outgoing(index)
	all := m.Len()
	for range secureRounds {
		gone, err := w.Handshakes.flush(at)
		switch {
		case err != nil:
			w.unwritten(index, err)
			return
		case !gone:
			w.Requests.KeepRest(index, m)
			return
		case n.Sent == all:
			w.wroteAll(n, w.Sockets.Conns.At(at))
			return
		}
		some := m.From(n.Sent)
		took, err := w.Sockets.Conns.At(at).secure.tls.Write(some[:min(len(some), recordMax)])
		n.Sent += took
		n.Account.BytesOut += uint64(took)
		if err != nil {
			w.unwritten(index, err)
			return
		}
	}
	w.Requests.KeepRest(index, m) // a server that takes a large body at once does not hold up the others
	w.Sockets.watch(at, true)
}

// readSecure takes what arrived under TLS: data, tickets, new keys, an end.
func (w *wire) readSecure(at int32) {
	c := w.Sockets.Conns.At(at)
	s := c.secure
	for range secureRounds {
		n, err := s.tls.Read(w.Sockets.buffer)
		switch {
		case n == 0 && err == errAgain:
			if len(s.pending) > 0 {
				w.Sockets.watch(at, true)
			}
			return
		case c.slot < 0:
			w.Sockets.HangUp(at)
			return
		case n > 0:
			if w.feed(c.slot, w.Sockets.buffer[:n]) || w.Sockets.hold(at) {
				return
			}
		default:
			w.endSecure(c.slot, s, err)
			return
		}
	}
	w.Sockets.Unread = append(w.Sockets.Unread, ticket{at, c.Generation}) // crypto/tls may hold data that the kernel no longer reports
}

// endSecure handles the end of a stream under TLS in the middle of a request.
func (w *wire) endSecure(index int32, s *secure, err error) {
	n := w.Slots.At(index)
	silent := !n.Parser.Started()
	switch {
	case !errors.Is(err, io.EOF):
		w.Fail(index, readError(err, !silent))
	case s.ended && (!silent || n.Refused == 0):
		w.Fail(index, errNoNotify)
	default:
		w.feed(index, nil)
	}
}

// ReadMore continues with connections that used up their reads of a turn.
func (k *sockets) ReadMore() {
	all := len(k.Unread)
	for i := range all {
		t := k.Unread[i]
		if c := k.Conns.At(t.index); c.Generation == t.serial && c.State == connOpen && c.reading != readingHeld && (c.slot < 0 || !k.Slots.At(c.slot).broke) {
			k.read(t.index)
		}
	}
	k.Unread = append(k.Unread[:0], k.Unread[all:]...)
}

// stale reads what crypto/tls still holds after the last response. It handles tickets and new
// keys; any other data makes the connection unusable. An event reports what the kernel holds.
func (k *sockets) stale(c *conn) bool {
	s := c.secure
	s.reads = readsDry
	n, err := s.tls.Read(k.probe[:]) // the data being processed is in the loop's buffer
	s.reads = readsOpen
	return n > 0 || err != errAgain
}
