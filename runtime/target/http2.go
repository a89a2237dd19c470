package target

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// preface begins every HTTP/2 connection; no HTTP/1 request begins with it.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// protocolHTTP2 is its name in ALPN.
const protocolHTTP2 = "h2"

// streamsMost is how many streams of one connection are open at once.
const streamsMost = 256

// speaksHTTP2 says whether a connection's first bytes are the preface. begun says that they are
// its beginning, so that more bytes must decide.
func (s *session) speaksHTTP2(b []byte) (whole, begun bool) {
	if s.begun > 0 || len(b) == 0 {
		return false, false
	}
	n := min(len(b), len(preface))
	begun = string(b[:n]) == preface[:n]
	return begun && n == len(preface), begun
}

// multiplexed is an HTTP/2 connection. It answers by the rules and the routes of the session
// whose connection it has taken over; the library keeps the streams.
type multiplexed struct {
	net.Conn
	session *session // under the site's lock
	first   []byte   // bytes that the session had already read
	reading sync.Mutex
	intake  *intake // under reading
	in, out atomic.Uint64
	once    sync.Once
	closed  chan struct{}
}

func (m *multiplexed) Read(b []byte) (int, error) {
	m.reading.Lock()
	defer m.reading.Unlock()
	n, err := 0, error(nil)
	if len(m.first) > 0 {
		n = copy(b, m.first)
		m.first = m.first[n:]
	} else {
		n, err = m.Conn.Read(b)
		m.in.Add(uint64(n))
	}
	m.intake.feed(b[:n])
	m.count()
	return n, err
}

// count counts the requests that have arrived.
func (m *multiplexed) count() {
	if len(m.intake.arrived) == 0 {
		return
	}
	site := m.session.site
	site.mu.Lock()
	defer site.mu.Unlock()
	for _, path := range m.intake.arrived {
		if !findRoute([]byte(path)).uncounted() {
			site.stats.request([]byte(path), 0)
		}
	}
	m.intake.arrived = m.intake.arrived[:0]
}

// drainPatience is how long a peer may be silent while drain reads from an ended connection;
// drainTurns bounds the turns. A busy machine may lose a turn, because its time is over before
// it begins.
const (
	drainPatience = 50 * time.Millisecond
	drainTurns    = 20
)

// drain reads what the peer has sent. The library stops at the first answer that it cannot
// send, and requests that had arrived by then would not count.
func (m *multiplexed) drain() {
	if half, ok := m.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // fails if the peer is gone: its bytes are still there
	}
	b := make([]byte, readSize)
	for range drainTurns {
		_ = m.SetReadDeadline(time.Now().Add(drainPatience)) // ends the library's read, too, which holds the lock
		err := error(nil)
		for err == nil {
			_, err = m.Read(b)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

func (m *multiplexed) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.out.Add(uint64(n))
	return n, err
}

// Close is called by the library when the connection has ended.
func (m *multiplexed) Close() error {
	err := net.ErrClosed
	m.once.Do(func() {
		m.drain()
		close(m.closed)
		err = m.Conn.Close()
	})
	return err
}

// alone makes a listener of one connection, which is what the library serves. It accepts
// nothing else until that connection ends.
type alone struct {
	*multiplexed
	given bool
}

func (a *alone) Accept() (net.Conn, error) {
	if a.given {
		<-a.closed
		return nil, net.ErrClosed
	}
	a.given = true
	return a.multiplexed, nil
}

func (a *alone) Addr() net.Addr { return a.LocalAddr() }

// serve answers until the connection ends, and closes it.
func (m *multiplexed) serve(ctx context.Context) {
	m.closed, m.intake = make(chan struct{}), newIntake()
	stop := context.AfterFunc(ctx, func() { _ = m.Conn.Close() }) // ends its reads and writes, and then the library closes
	defer stop()
	m.in.Add(uint64(len(m.first)))
	limits := &m.session.site.cfg
	server := &http.Server{
		Handler: m, Protocols: new(http.Protocols), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadTimeout: limits.BodyTimeout, IdleTimeout: limits.IdleTimeout, MaxHeaderBytes: maxHead,
		ErrorLog: log.New(io.Discard, "", 0), // peers may do what they like
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: streamsMost, WriteByteTimeout: limits.BodyTimeout},
	}
	// TLS, if any, lies below the library's connection.
	server.Protocols.SetUnencryptedHTTP2(true)
	_ = server.Serve(&alone{multiplexed: m}) // it ends with the connection, which is the only way
	m.session.site.mu.Lock()
	defer m.session.site.mu.Unlock()
	m.tally()
}

// tally counts the bytes that have passed, frames and all, if the connection counts.
func (m *multiplexed) tally() {
	if in, out := m.in.Swap(0), m.out.Swap(0); m.session.linked {
		m.session.site.stats.BytesIn += in
		m.session.site.stats.BytesOut += out
	}
}

// ServeHTTP answers one stream.
func (m *multiplexed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := m.begin(r)
	limit := int64(maxLogin + 1)
	if !c.route.keepsBody() {
		limit = 0
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit))
	if err == nil {
		_, err = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody))
	}
	if err != nil || c.fate == fateDrop {
		panic(http.ErrAbortHandler) // the library resets the stream
	}
	c.body = body
	if c.wait > 0 {
		timer := time.NewTimer(c.wait)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
			return // the client has given up the stream, or its connection
		case <-timer.C:
		}
	}
	m.answer(w, c)
}

// begin takes a request, whose head is complete, and decides its fate.
func (m *multiplexed) begin(r *http.Request) *call {
	s := m.session
	path := []byte(r.URL.Path)
	if r.URL.RawPath != "" {
		path = []byte(r.URL.RawPath)
	}
	c := &call{route: findRoute(path), method: methodOf(r.Method)}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		c.user = userOf([]byte(token))
	}
	s.site.mu.Lock()
	defer s.site.mu.Unlock()
	if c.route.guarded() {
		c.proof = s.site.prove(string(digestOf([]byte(r.Header.Get("Authorization")))), r.Method, r.RequestURI, c.route == routeDigestMD5)
	}
	counts := !c.route.uncounted()
	s.link(counts)
	if counts {
		s.served = true
		s.site.judge(c)
	}
	return c
}

// answer sends what the session would send over HTTP/1.1: it parses the head back into fields.
// It counts before the end of its stream, which the library sends later, so that a client that
// has seen the end finds the request counted.
func (m *multiplexed) answer(w http.ResponseWriter, c *call) {
	site := m.session.site
	var out output
	site.mu.Lock()
	site.clock(time.Now())
	site.respond(c, &out)
	site.mu.Unlock()
	head, body, _ := bytes.Cut(out.bytes, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	status, err := strconv.Atoi(strings.Fields(lines[0])[1])
	if err != nil {
		panic("target: an answer without a status: " + lines[0])
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	_, err = w.Write(body)
	for rest := out.rest; rest > 0 && err == nil; {
		var n int
		n, err = w.Write(site.filler[:min(rest, int64(len(site.filler)))])
		rest -= int64(n)
	}
	if c.method == methodHead || status == http.StatusNoContent {
		err = nil // the library says that there is no body, as it should; the head is all and comes later
	} else if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	m.tally()
	if err == nil {
		out.size = 0 // the connection reports its own bytes
		site.sent(&out)
	}
}

// takeover is the part of the loop that hands connections to the library.
type takeover struct {
	ctx context.Context
	all sync.WaitGroup
}

// upgrade gives a connection its own goroutine; b holds the bytes already read.
func (l *loop) upgrade(c *connection, b []byte) {
	m := &multiplexed{session: &c.session, first: bytes.Clone(b)}
	file := os.NewFile(uintptr(c.fd), "connection")
	_ = l.poller.Del(c.fd) // it was added when opened
	l.wheel.Cancel(c.slot)
	l.conns[c.slot] = nil
	l.free = append(l.free, c.slot)
	var err error
	m.Conn, err = net.FileConn(file) // a copy of the descriptor
	_ = file.Close()
	if err != nil {
		return // out of descriptors: the close informs the peer
	}
	l.taken.all.Go(func() { m.serve(l.taken.ctx) })
}
