package hostile

import (
	"bufio"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/forge"
	"hyperscale/runtime/protocol/hostile/port"
)

// Server plays one entry: hostile once, well-behaved ever after. Or it plays a mix: then
// each request meets the next of its entries.
type Server struct {
	entry  *Entry
	mix    []Entry     // nil: entry alone
	http2  *HTTP2Entry // nil: HTTP/1.1
	port   *port.Port
	first  []netip.AddrPort // addresses that take no connection
	dead   []int            // their descriptors
	proved chan struct{}
	once   sync.Once // closes proved
	late   atomic.Bool

	mu       sync.Mutex
	requests int
	hops     int
	where    int // connection of the hostile request
	again    bool
	wants    map[Want]int // required outcomes of a mix's requests
}

// NextBody is the body of a well-behaved answer.
const NextBody = "next"

const next = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + NextBody

// Start serves the entry on its own port.
func Start(e *Entry) (*Server, error) { return start(e, nil) }

func start(e *Entry, h *HTTP2Entry) (*Server, error) {
	p, err := port.Open()
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, http2: h, port: p, proved: make(chan struct{})}
	if err := s.bury(e.Server.First); err != nil {
		return nil, errors.Join(err, p.Refuse())
	}
	if e.Ask.Once {
		return s, p.Refuse()
	}
	p.Serve(func(c *net.TCPConn, number int) {
		if done := s.serve(c, number); !done.IsZero() {
			_ = c.Close()
			s.tardy(done)
		}
	})
	return s, nil
}

// StartMix serves all of the entries, which must be Mixable, in turn.
func StartMix(entries []Entry, secure bool) (*Server, error) {
	s, err := Start(&Entry{Name: "mix", Server: Behaviour{TLS: secure}})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mix, s.wants = entries, map[Want]int{}
	return s, nil
}

// Wants returns how often a client of a mix must have reached each conclusion.
func (s *Server) Wants() map[Want]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.wants)
}

// URL is where the client sends its requests.
func (s *Server) URL() string { return s.entry.Server.scheme() + "://" + s.port.Address() }

// Addresses are those of the host in the order in which a resolver would give them.
func (s *Server) Addresses() []netip.AddrPort {
	return append(append([]netip.AddrPort(nil), s.first...), netip.MustParseAddrPort(s.port.Address()))
}

// Proved is closed when a client sends a request on a connection that has carried a
// well-behaved answer: it can only do so if it took that answer. That request stays
// without one.
func (s *Server) Proved() <-chan struct{} { return s.proved }

// Counts returns the number of requests, without those that followed a redirect, which are the
// hops. reused says whether the request after the hostile one came on its connection.
func (s *Server) Counts() (requests, hops int, reused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.hops, s.again
}

// Late says whether the server took so long that a client, which pauses for it, may have asked
// again too early: the machine is busy.
func (s *Server) Late() bool { return s.late.Load() }

// tardy notes that an act took more than half of the client's pause.
func (s *Server) tardy(began time.Time) {
	if p := s.entry.Ask.Pause; p > 0 && time.Since(began) > p/2 {
		s.late.Store(true)
	}
}

// Close lets every connection end, which the client causes by closing it, so that everything
// sent is counted. It closes those that remain.
func (s *Server) Close() {
	s.port.Close()
	s.unbury()
}

// serve returns when a behaviour left it to the server to close the connection, if one did.
func (s *Server) serve(c *net.TCPConn, number int) (done time.Time) {
	n := &Session{Conn: c, TCP: c, Base: s.URL(), server: s, reader: bufio.NewReader(c)}
	b := &s.entry.Server
	if b.Accept != nil && number == 1 && !b.Accept(n) {
		return done
	}
	if b.scheme() == "https" {
		cfg := authority.Honest()
		if s.http2 != nil {
			cfg.NextProtos = []string{"h2"}
		}
		if b.Secure != nil && number == 1 {
			cfg = b.Secure()
		}
		n.tap = &forge.Tap{Conn: c}
		secure := tls.Server(n.tap, cfg)
		if secure.Handshake() != nil {
			return done
		}
		n.Conn, n.reader = secure, bufio.NewReader(secure)
		defer secure.Close()
	}
	if s.http2 != nil {
		s.serveHTTP2(n, number)
		return done
	}
	for n.head() && s.answer(n, number) {
	}
	return n.done
}

// answer says whether the connection continues.
func (s *Server) answer(n *Session, number int) bool {
	if strings.HasPrefix(n.Path, "/hop") {
		s.mu.Lock()
		s.hops++
		s.mu.Unlock()
		return n.body() && s.entry.Server.Then(n)
	}
	s.mu.Lock()
	s.requests++
	if s.mix != nil {
		e := &s.mix[s.requests%len(s.mix)]
		s.wants[e.Want]++
		s.mu.Unlock()
		return n.misbehave(&e.Server)
	}
	turn := s.turn(number)
	switch turn {
	case 0:
		s.where = number
	case 1:
		s.again = number == s.where
	}
	s.mu.Unlock()
	if turn == 0 {
		return n.misbehave(&s.entry.Server)
	}
	if !n.body() {
		return false
	}
	if turn > 0 && n.proved {
		s.once.Do(func() { close(s.proved) })
		return hold(n)
	}
	if n.method == "HEAD" {
		n.Say(next[:len(next)-len(NextBody)])
	} else {
		n.Say(next)
	}
	n.proved = turn > 0
	return true
}

// turn is 0 for the hostile request, less for those before it. Where the first connection
// is the hostile one, its request may be read after the next one's, or never.
func (s *Server) turn(number int) int {
	turn := s.requests - 1 - s.entry.Ask.After
	switch {
	case s.entry.Server.Accept != nil && number == 1:
		return 0
	case s.entry.Server.Accept != nil || s.entry.Want.Unseen:
		return max(1, turn)
	}
	return turn
}
