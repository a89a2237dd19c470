package postgres

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/port"
)

// Next is the well-behaved answer, as JSON.
const Next = `[{"v":"next"}]`

const (
	version3 = 3 << 16
	asksTLS  = 80877103
	cancels  = 80877102
)

// Server plays one entry: hostile once, well-behaved ever after.
type Server struct {
	entry  *Entry
	port   *port.Port
	proved chan struct{}
	once   sync.Once // closes proved

	mu     sync.Mutex
	counts Counts
	where  int // the connection of the hostile part; 0: it is not over
	breach string
}

// Counts is what reached the server.
type Counts struct {
	Connections int
	Operations  int  // whole ones
	Cancels     int  // requests to cancel one
	Reused      bool // the operation behind the hostile part came on the same connection
}

// Start serves the entry on its own port.
func Start(e *Entry) (*Server, error) {
	p, err := port.Open()
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, port: p, proved: make(chan struct{})}
	if e.Ask.Once {
		return s, p.Refuse()
	}
	p.Serve(s.serve)
	return s, nil
}

// Address is host:port.
func (s *Server) Address() string { return s.port.Address() }

// Close lets every connection end, which the client causes by closing it.
func (s *Server) Close() { s.port.Close() }

// Proved is closed when a client sends an operation on a connection that has carried a well-behaved
// answer: it can only do so if it took that answer. That operation stays without one.
func (s *Server) Proved() <-chan struct{} { return s.proved }

// Counts returns what reached the server.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Breach says what the client did against the protocol; "": nothing.
func (s *Server) Breach() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.breach
}

func (s *Server) blame(format string, values ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.breach == "" {
		s.breach = fmt.Sprintf(format, values...)
	}
}

// serve plays one connection.
func (s *Server) serve(c *net.TCPConn, number int) {
	s.mu.Lock()
	s.counts.Connections++
	s.mu.Unlock()
	n := &Session{Conn: c, TCP: c, server: s, reader: bufio.NewReader(c), number: number}
	b := &s.entry.Server
	if number > 1 {
		b = &Behaviour{}
	}
	if b.Accept != nil && !b.Accept(n) || s.entry.Ask.TLS && !s.secures(n, b) {
		return
	}
	if n.Conn != net.Conn(c) {
		defer func() { _ = n.Conn.Close() }() // the client may have gone
	}
	version, who, ok := n.first()
	switch {
	case !ok:
		return
	case version == cancels:
		s.cancelled(who)
		return
	case version != version3 || !strings.HasPrefix(who, "user\x00"+User+"\x00database\x00"+Database+"\x00"):
		s.blame("version %d begins with %q", version, who)
		return
	}
	greet := b.Greeting
	if greet == nil {
		greet = says(welcome, nil)
	}
	if greet(n) {
		s.converse(n, b)
	}
}

// cancelled takes a request to cancel an operation.
func (s *Server) cancelled(key string) {
	s.mu.Lock()
	s.counts.Cancels++
	s.mu.Unlock()
	if key != backendKey {
		s.blame("a request to cancel has the key %q", key)
	}
}

// secures begins TLS, and says whether it stands.
func (s *Server) secures(n *Session, b *Behaviour) bool {
	asked, _, ok := n.first()
	if ok && asked != asksTLS {
		s.blame("%d asks for TLS", asked)
	}
	switch {
	case !ok || asked != asksTLS:
		return false
	case b.Secure != nil:
		return b.Secure(n)
	}
	n.Say("S")
	over := tls.Server(n.TCP, authority.Honest())
	if over.Handshake() != nil {
		return false
	}
	n.Conn, n.reader = over, bufio.NewReader(over)
	return true
}

// converse answers operations.
func (s *Server) converse(n *Session, b *Behaviour) {
	hostile := b.Answer != nil || b.Then != nil
	for n.operation() {
		s.mu.Lock()
		s.counts.Operations++
		if s.where == n.number && !hostile {
			s.counts.Reused = true
		}
		if n.number == 1 && s.where == 0 {
			s.where = 1
		}
		operations := s.counts.Operations
		s.mu.Unlock()
		switch {
		case hostile:
			hostile = false
			if b.Answer != nil {
				n.Say(b.Answer(n.described))
			}
			if b.Then != nil && !b.Then(n) {
				return
			}
		case n.proved:
			s.once.Do(func() { close(s.proved) })
			hold(n)
			return
		default:
			n.Say(rows(row("next"))(n.described))
			n.proved = n.number > 1 || operations > 1
		}
	}
}
