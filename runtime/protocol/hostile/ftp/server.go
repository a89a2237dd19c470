package ftp

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

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
	Commands    int // of transfers
	Done        int // of them, that were whole and of which the server said so
	Last        int // the connection of the last one that was
}

// Session is one connection as a behaviour sees it.
type Session struct {
	*net.TCPConn
	server   *Server
	through  net.Conn // the same, or TLS over it
	reader   *bufio.Reader
	number   int
	acts     map[Place]Act
	listener net.Listener // for the next data connection; nil: there is none
	protects bool
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
func (s *Server) URL() string { return "ftp://app@" + s.port.Address() }

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

// say writes. It may fail, since the client may be gone: then the behaviour ends at its next read.
func (s *Session) say(text string) { _, _ = io.WriteString(s.through, text) }

// serve plays one connection.
func (s *Server) serve(c *net.TCPConn, number int) {
	n := &Session{TCPConn: c, server: s, through: c, reader: bufio.NewReader(c), number: number, acts: map[Place]Act{}}
	defer n.forget()
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
	word, _, _ := strings.Cut(line, " ")
	switch word {
	case "AUTH":
		well := s.acts[Auth] == nil
		if stay := s.answer(Auth, "234 go\r\n"); !well || !stay {
			return stay
		}
		over := tls.Server(s.TCPConn, authority.Honest())
		s.through, s.reader = over, bufio.NewReader(over)
		return true
	case "USER":
		return s.answer(User, "331 password\r\n")
	case "PASS":
		return s.answer(Pass, "230 in\r\n")
	case "PBSZ":
		s.say("200 ok\r\n")
		return true
	case "PROT":
		s.protects = s.acts[Protect] == nil
		return s.answer(Protect, "200 ok\r\n")
	case "TYPE":
		return s.answer(Type, "200 binary\r\n")
	case "EPSV":
		return s.answer(Extended, "229 (|||"+s.listen()+"|)\r\n")
	case "PASV":
		return s.answer(Passive, "227 (192,0,2,1,"+s.halves()+")\r\n")
	case "RETR", "STOR":
		return s.transfer(word == "STOR")
	case "QUIT":
		s.say("221 bye\r\n")
		return false
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.breach = fmt.Sprintf("the client says %.40q", line)
	return false
}

// listen opens a port for a data connection.
func (s *Session) listen() string {
	s.forget()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	s.listener = l
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// halves is the same as PASV has it.
func (s *Session) halves() string {
	s.listen()
	n := s.listener.Addr().(*net.TCPAddr).Port
	return fmt.Sprintf("%d,%d", n>>8, n&255)
}

func (s *Session) forget() {
	if s.listener != nil {
		_ = s.listener.Close()
		s.listener = nil
	}
}

// accept takes the data connection; nil: none comes.
func (s *Session) accept() net.Conn {
	if s.listener == nil {
		return nil
	}
	defer s.forget()
	_ = s.listener.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
	c, err := s.listener.Accept()
	if err != nil {
		return nil
	}
	return c
}

// data takes the data connection, with TLS if that is agreed on.
func (s *Session) data() net.Conn {
	c := s.accept()
	if c == nil || !s.protects {
		return c
	}
	over := tls.Server(c, authority.Honest())
	if over.Handshake() != nil {
		_ = c.Close()
		return nil
	}
	return over
}

// raw is what lies below TLS.
func raw(c net.Conn) *net.TCPConn {
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	return c.(*net.TCPConn)
}

// transfer moves a file.
func (s *Session) transfer(up bool) (stay bool) {
	s.server.mu.Lock()
	s.server.counts.Commands++
	s.server.mu.Unlock()
	well := s.acts[Transfer] == nil
	if stay := s.answer(Transfer, "150 go\r\n"); !well || !stay {
		return stay
	}
	whole := s.acts[Data] == nil && s.acts[End] == nil
	if act := s.acts[Data]; act != nil {
		delete(s.acts, Data)
		if !act(s) {
			return false
		}
	} else if c := s.data(); c != nil {
		if up {
			_, _ = io.Copy(io.Discard, c)
		} else {
			_, _ = io.WriteString(c, Next)
		}
		_ = c.Close()
	}
	if whole {
		s.server.mu.Lock()
		s.server.counts.Done++
		s.server.counts.Last = s.number
		s.server.mu.Unlock()
	}
	return s.answer(End, "226 done\r\n")
}
