package mysql

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
const Next = `[{"a":"next"}]`

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
	Operations  int  // statements, of text or prepared, that came whole
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
func (s *Server) URL() string { return "mysql://" + s.Address() + "/" + Database }

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

// came counts a statement.
func (s *Server) came() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Operations++
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
	plugin := s.entry.Ask.Plugin
	if plugin == "" {
		plugin = Native
	}
	n.Say(packet(0, hello(plugin, s.entry.Ask.Full, s.entry.TLS)))
	if s.entry.TLS {
		if n.read(1) == "" || b.Secure != nil && !b.Secure(n) {
			return
		}
		over := tls.Server(behind{c, n.reader}, authority.Honest())
		n.Conn, n.reader, n.greeting = over, bufio.NewReader(over), 1
	}
	if !n.greeted(plugin) {
		return
	}
	greet := b.Greeting
	switch {
	case greet != nil:
	case plugin == SHA2:
		greet = says(packet(2+int(n.greeting), "\x01\x03")+packet(3+int(n.greeting), okPacket), nil)
	default:
		greet = says(packet(2+int(n.greeting), okPacket), nil)
	}
	if !greet(n) {
		return
	}
	s.converse(n, b)
}

// behind is a connection of which a part was read: a client sends the first of TLS with its wish for it.
type behind struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements net.Conn.
func (b behind) Read(into []byte) (int, error) { return b.reader.Read(into) }

// next is the well-behaved answer to the command that was read last.
func (n *Session) next() string {
	full := n.server.entry.Ask.Full
	ends := func(all []string) []string {
		if full {
			return append(all, eofPacket)
		}
		return all
	}
	if n.kind == commandPrepare {
		all := []string{prepared(7, 1, uint16(n.params))}
		for i := range n.params {
			if all = append(all, column("?", kindText)); i == n.params-1 {
				all = ends(all)
			}
		}
		return packets(ends(append(all, column("a", kindText)))...)
	}
	all := ends([]string{"\x01", column("a", kindText)})
	row := text("next")
	if n.kind == commandExecute {
		row = "\x00\x00" + row
	}
	last := endPacket
	if full {
		last = eofPacket
	}
	return packets(append(all, row, last)...)
}

// converse answers operations.
func (s *Server) converse(n *Session, b *Behaviour) {
	hostile, prepares := b.Answer != "" || b.Then != nil, b.Prepare
	for n.command() {
		if n.kind == commandPrepare {
			if prepares == nil {
				n.Say(n.next())
				continue
			}
			act := prepares
			prepares = nil
			s.mu.Lock()
			s.where = n.number
			s.mu.Unlock()
			if !act(n) {
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
			n.Say(n.next())
			n.proved = n.number > 1 || operations > 1 || b.Prepare != nil
		}
	}
}
