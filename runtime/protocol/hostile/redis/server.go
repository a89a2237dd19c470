package redis

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"hyperscale/runtime/protocol/hostile/authority"
)

// Next is the well-behaved answer, as JSON.
const Next = `"next"`

const next = "$4\r\nnext\r\n"

// Server plays one entry: hostile once, well-behaved ever after.
type Server struct {
	entry    *Entry
	listener *net.TCPListener
	closing  chan struct{}
	proved   chan struct{}
	once     sync.Once // closes proved
	all      sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	counts Counts
	where  int // the connection of the hostile part; 0: it is not over
	breach string
}

// Counts is what reached the server.
type Counts struct {
	Connections int
	Commands    int  // whole ones
	Operations  int  // of them, without those of greetings
	Reused      bool // the operation behind the hostile part came on the same connection
}

// Start serves the entry on its own port.
func Start(e *Entry) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, listener: l.(*net.TCPListener), open: map[net.Conn]struct{}{}, closing: make(chan struct{}), proved: make(chan struct{})}
	if e.Ask.Once {
		return s, l.Close() // the port refuses now
	}
	s.all.Go(s.accept)
	return s, nil
}

// URL is where the client connects.
func (s *Server) URL() string {
	if s.entry.Ask.TLS {
		return "rediss://" + s.Address()
	}
	return "redis://" + s.Address()
}

// Address is host:port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Proved is closed when a client sends an operation on a connection that has carried a well-behaved
// answer: it can only do so if it took that answer. That operation stays without one.
func (s *Server) Proved() <-chan struct{} { return s.proved }

// Counts returns what reached the server.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Breach says what the client did against RESP; "": nothing.
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

// came counts a command.
func (s *Server) came(words []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Commands++
	if words[0] == "GET" {
		s.counts.Operations++
	}
}

// patience is how long connections may stay that the client does not close.
const patience = time.Second

// Close lets every connection end, which the client causes by closing it. It closes those that
// remain.
func (s *Server) Close() {
	close(s.closing)
	_ = s.listener.Close()
	force := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.open {
			_ = c.Close()
		}
	})
	s.all.Wait()
	force.Stop()
}

// wait sleeps unless the server is closed.
func (s *Server) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.closing:
		return false
	}
}

func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptTCP()
		if err != nil {
			return
		}
		_ = c.SetReadBuffer(64 << 10) // a large key soon fills it
		s.mu.Lock()
		s.open[c] = struct{}{}
		s.counts.Connections++
		number := s.counts.Connections
		s.mu.Unlock()
		s.all.Go(func() {
			s.serve(c, number)
			_ = c.Close()
			s.mu.Lock()
			delete(s.open, c)
			s.mu.Unlock()
		})
	}
}

// serve plays one connection.
func (s *Server) serve(c *net.TCPConn, number int) {
	n := &Session{Conn: c, TCP: c, server: s, reader: bufio.NewReader(c), number: number}
	b := &s.entry.Server
	if number > 1 {
		b = &Behaviour{}
	}
	if b.Accept != nil && !b.Accept(n) {
		return
	}
	if s.entry.Ask.TLS {
		secure := tls.Server(c, authority.Honest())
		if secure.Handshake() != nil {
			return
		}
		n.Conn, n.reader = secure, bufio.NewReader(secure)
		defer func() { _ = secure.Close() }() // the client may have gone
	}
	if s.entry.Ask.Greets {
		greet := b.Greeting
		if greet == nil {
			greet = asked(says(welcome, nil))
		}
		if !greet(n) {
			return
		}
	}
	s.converse(n, b)
}

// converse answers operations.
func (s *Server) converse(n *Session, b *Behaviour) {
	hostile := b.Answer != "" || b.Then != nil
	for words := n.command(); words != nil; words = n.command() {
		if s.entry.Ask.For == Subscription {
			if !s.subscribed(n, b, words, &hostile) {
				return
			}
			continue
		}
		s.mu.Lock()
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
			n.Say(b.Answer)
			if b.Then != nil && !b.Then(n) {
				return
			}
		case n.proved:
			s.once.Do(func() { close(s.proved) })
			hold(n)
			return
		default:
			n.Say(next)
			n.proved = n.number > 1 || operations > 1
		}
	}
}
