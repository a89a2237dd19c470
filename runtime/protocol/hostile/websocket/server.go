package websocket

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

// Next is the text of a well-behaved answer.
const Next = "next"

// Server plays one entry: hostile once, well-behaved ever after.
type Server struct {
	entry  *Entry
	port   *port.Port
	proved chan struct{}
	once   sync.Once // closes proved
	keys   keys

	mu     sync.Mutex
	counts Counts
	where  int // connections so far when the hostile part was over
	breach string
	masks  map[uint32]int
}

// Counts is what reached the server.
type Counts struct {
	Connections int
	Upgrades    int  // requests of them, answered or not
	Messages    int  // of the client's
	Reused      bool // the message behind the hostile part came on the same connection
}

// keys are those of all upgrades.
type keys struct {
	mu  sync.Mutex
	all map[string]bool
}

func (k *keys) seen(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]bool{}
	}
	before := k.all[key]
	k.all[key] = true
	return before
}

// Start serves the entry on its own port.
func Start(e *Entry) (*Server, error) {
	p, err := port.Open()
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, port: p, masks: map[uint32]int{}, proved: make(chan struct{})}
	if e.Ask.Once {
		return s, p.Refuse()
	}
	p.Serve(s.serve)
	return s, nil
}

// URL is where the client connects.
func (s *Server) URL() string {
	if s.entry.Ask.TLS {
		return "wss://" + s.Address() + "/"
	}
	return "ws://" + s.Address() + "/"
}

// Address is host:port.
func (s *Server) Address() string { return s.port.Address() }

// Proved is closed when a client sends a message on a connection that has carried a well-behaved
// answer: it can only do so if it took that answer. That message stays without one.
func (s *Server) Proved() <-chan struct{} { return s.proved }

// Counts returns what reached the server.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Breach says what the client did against the RFC; "": nothing.
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

// sameMasks is how many frames may have one mask by chance, among the few that a test sends.
const sameMasks = 4

// judge blames a client for a frame that is wrong, or masks that do not change.
func (s *Server) judge(f received, mask uint32) {
	s.mu.Lock()
	s.masks[mask]++
	same := s.masks[mask]
	s.mu.Unlock()
	opcode := f.first & 0xf
	switch {
	case f.first&0x30 != 0, f.first&0x40 != 0 && (!s.entry.Ask.Compressed || opcode > 2):
		s.blame("a frame has reserved bits: %v", f)
	case opcode > 2 && opcode < 8, opcode > 10:
		s.blame("a frame has a reserved opcode: %v", f)
	case opcode >= 8 && (f.first&0x80 == 0 || len(f.payload) > 125):
		s.blame("a control frame is fragmented or too long: %v", f)
	case same > sameMasks:
		s.blame("%d frames have the mask %#x", same, mask)
	}
}

// Close lets every connection end, which the client causes by closing it. It closes those that
// remain.
func (s *Server) Close() { s.port.Close() }

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
	if n.request() && s.greet(n, b) {
		s.converse(n, b)
	}
}

// greet answers the upgrade and says whether the connection continues.
func (s *Server) greet(n *Session, b *Behaviour) bool {
	s.mu.Lock()
	s.counts.Upgrades++
	s.mu.Unlock()
	switch {
	case b.Upgrade != "":
		n.Say(strings.Replace(b.Upgrade, "KEY", n.accept(), 1))
	default:
		n.Say(n.switched() + b.Greeting)
	}
	return b.After == nil || b.After(n)
}

// converse answers messages.
func (s *Server) converse(n *Session, b *Behaviour) {
	hostile := b.Answer != "" || b.Then != nil
	for n.message() {
		s.mu.Lock()
		s.counts.Messages++
		if s.where == n.number && !hostile {
			s.counts.Reused = true
		}
		if n.number == 1 && s.where == 0 {
			s.where = 1
		}
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
			n.Say(text(Next))
			n.proved = n.number > 1 || s.counted() > 1
		}
	}
}

// counted is how many messages came.
func (s *Server) counted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts.Messages
}
