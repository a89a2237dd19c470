package amqp

import (
	"bufio"
	"fmt"
	"net"
	"sync"

	"hyperscale/runtime/protocol/hostile/port"
)

// Next is the well-behaved answer.
const Next = "next"

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
	Messages    int  // operations that came whole
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

// URL is where the client connects.
func (s *Server) URL() string { return "amqp://" + s.port.Address() }

// Close lets every connection end.
func (s *Server) Close() { s.port.Close() }

// Proved is closed when a client sends an operation on a connection that has carried a well-behaved answer:
// it can only do so if it took that answer. That operation stays without one.
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

// came counts an operation.
func (s *Server) came() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Messages++
}

// reused notes that the operation behind the hostile part comes on this connection.
func (s *Server) reused(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.where == number {
		s.counts.Reused = true
	}
}

// serve plays one connection.
func (s *Server) serve(c *net.TCPConn, number int) {
	n := &Session{TCPConn: c, server: s, reader: bufio.NewReader(c), number: number}
	s.mu.Lock()
	s.counts.Connections++
	s.mu.Unlock()
	b := &s.entry.Server
	if number > 1 {
		b = &Behaviour{}
	}
	if b.Accept != nil && !b.Accept(n) {
		return
	}
	tune := b.Tune
	if tune == "" {
		tune = limits(2047, 131072, 60)
	}
	if !n.greeted(tune) {
		return
	}
	if b.Greeting == nil {
		n.Say(opened)
	} else if !b.Greeting(n) {
		return
	}
	s.play(n, b)
}

// play answers operations.
func (s *Server) play(n *Session, b *Behaviour) {
	hostile := n.number == 1 && (b.Answer != "" || b.Then != nil)
	for n.command() {
		if !hostile {
			s.reused(n.number)
		}
		s.mu.Lock()
		if n.number == 1 && s.where == 0 {
			s.where = 1
		}
		messages := s.counts.Messages
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
		case n.published > 0 && n.last == Confirm:
			n.Say(ack(n.published, false))
			n.proved = n.number > 1 || messages > 1
		default:
			n.Say(message(Next))
			n.proved = n.number > 1 || messages > 1
		}
	}
}
