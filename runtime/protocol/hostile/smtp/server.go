package smtp

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/hostile/port"
)

// Server plays one entry.
type Server struct {
	entry *Entry
	port  *port.Port

	mu     sync.Mutex
	counts Counts
	breach string
}

// Counts is what reached the server.
type Counts struct {
	Connections int
	Messages    int // that came whole
	Accepted    int // of them, that were answered well
	Last        int // the connection of the message that was accepted last
}

// Session is one connection as a behaviour sees it.
type Session struct {
	*net.TCPConn
	server  *Server
	through net.Conn // the same, or TLS over it
	reader  *bufio.Reader
	number  int
	acts    map[Place]Act
	mailed  bool // the transaction has a sender
	taken   int  // recipients of the transaction
}

// Start serves an entry on a port of its own.
func Start(e *Entry) (*Server, error) {
	p, err := port.Open()
	if err != nil {
		return nil, err
	}
	s := &Server{entry: e, port: p}
	if e.Gone {
		return s, p.Refuse()
	}
	p.Serve(s.serve)
	return s, nil
}

// URL is where the client connects.
func (s *Server) URL() string { return "smtp://" + s.port.Address() }

// Close lets every connection end.
func (s *Server) Close() { s.port.Close() }

// Counts returns what reached the server.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Breach says what the client did against the protocol; empty: nothing.
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

// say writes. It may fail, since the client may be gone: then the behaviour ends at its next read.
func (s *Session) say(text string) { _, _ = io.WriteString(s.through, text) }

// serve plays one connection.
func (s *Server) serve(c *net.TCPConn, number int) {
	n := &Session{TCPConn: c, server: s, through: c, reader: bufio.NewReader(c), number: number, acts: map[Place]Act{}}
	s.mu.Lock()
	s.counts.Connections++
	s.mu.Unlock()
	if number == 1 {
		//lint:orderfree a copy has no order
		for where, act := range s.entry.At {
			n.acts[where] = act
		}
	}
	for stay := n.answer(Banner, "220 hostile\r\n"); stay; {
		line, err := n.reader.ReadString('\n')
		if err != nil {
			return
		}
		stay = n.command(strings.TrimSuffix(line, "\r\n"))
	}
}

// answer answers a command: once as the entry says, and then well.
func (s *Session) answer(where Place, well string) (stay bool) {
	if act := s.acts[where]; act != nil {
		delete(s.acts, where)
		return act(s)
	}
	s.say(well)
	return true
}

// command takes a command.
func (s *Session) command(line string) (stay bool) {
	word, _, _ := strings.Cut(strings.ToUpper(line), " ")
	switch word {
	case "EHLO":
		if s.server.entry.Without {
			return s.answer(Hello, "250 hostile\r\n")
		}
		if s.server.entry.TLS && s.through == s.TCPConn {
			return s.answer(Hello, "250-hostile\r\n250-STARTTLS\r\n250 PIPELINING\r\n")
		}
		return s.answer(Hello, "250-hostile\r\n250 PIPELINING\r\n")
	case "STARTTLS":
		well := s.acts[Secure] == nil
		if stay := s.answer(Secure, "220 go\r\n"); !well || !stay {
			return stay
		}
		over := tls.Server(s.TCPConn, authority.Honest())
		s.through, s.reader = over, bufio.NewReader(over)
	case "HELO":
		return s.answer(Older, "250 hostile\r\n")
	case "RSET":
		s.say("250 reset\r\n")
		s.taken = 0
	case "MAIL":
		s.mailed, s.taken = s.acts[Mail] == nil, 0
		return s.answer(Mail, "250 sender ok\r\n")
	case "RCPT":
		switch {
		case !s.mailed:
			s.say("503 no sender\r\n")
			return true
		case s.acts[Rcpt] == nil:
			s.taken++
		}
		return s.answer(Rcpt, "250 recipient ok\r\n")
	case "DATA":
		if s.taken == 0 && s.acts[Data] == nil {
			s.say("503 no recipients\r\n")
			return true
		}
		refuses := s.acts[Data] != nil
		return s.answer(Data, "354 go\r\n") && (refuses || s.message())
	case "NOOP":
		s.say("250 alive\r\n")
	case "QUIT":
		s.say("221 bye\r\n")
		return false
	default:
		s.server.blame("the client says %.40q", line)
		return false
	}
	return true
}

// message reads a message.
func (s *Session) message() (stay bool) {
	for line := ""; line != ".\r\n"; {
		var err error
		if line, err = s.reader.ReadString('\n'); err != nil {
			return false
		}
	}
	s.taken = 0
	s.server.mu.Lock()
	s.server.counts.Messages++
	if s.acts[End] == nil {
		s.server.counts.Accepted++
		s.server.counts.Last = s.number
	}
	s.server.mu.Unlock()
	return s.answer(End, "250 "+Next+"\r\n")
}
