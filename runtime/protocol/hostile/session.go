package hostile

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"hyperscale/runtime/protocol/hostile/forge"
)

// Session is one connection as a behaviour sees it. A write may fail, since the client may be
// gone: then later writes fail too, and the behaviour ends.
type Session struct {
	net.Conn              // TCP, or TLS over it
	TCP      *net.TCPConn // below
	Path     string       // of the present request
	Base     string       // URL of the server

	server *Server
	tap    *forge.Tap // below TLS; nil without
	reader *bufio.Reader
	method string
	length int
	proved bool      // a well-behaved answer was sent on this connection
	done   time.Time // when a behaviour left the end of the connection to the server
	stages []stage
}

// Say writes text.
func (s *Session) Say(text string) { _, _ = io.WriteString(s.Conn, text) }

// Drip writes text byte by byte and says whether all bytes went out.
func (s *Session) Drip(text string, every time.Duration) bool {
	for i := range len(text) {
		if _, err := io.WriteString(s.Conn, text[i:i+1]); err != nil || !s.server.port.Wait(every) {
			return false
		}
	}
	return true
}

// Flood writes text until the client has gone, or has read more than it could ever want.
func (s *Session) Flood(text string) {
	piece := []byte(text)
	for n := 0; n < floodMax; n += len(piece) {
		if _, err := s.Write(piece); err != nil {
			return
		}
	}
	hold(s)
}

// floodMax ends a flood that a client takes without limit.
const floodMax = 1 << 30

// head reads a request's head.
func (s *Session) head() bool {
	if first, err := s.reader.Peek(1); err != nil || first[0] < 'A' || first[0] > 'Z' {
		s.Say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n" + empty) // as servers do that are met with TLS
		return false
	}
	line, err := s.reader.ReadString('\n')
	if err != nil {
		return false
	}
	parts := strings.Fields(line)
	if len(parts) != 3 {
		return false
	}
	s.method, s.Path, s.length = parts[0], parts[1], 0
	for {
		line, err := s.reader.ReadString('\n')
		if err != nil {
			return false
		}
		line = strings.TrimSpace(line)
		if line == "" {
			return true
		}
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Content-Length") {
			s.length, _ = strconv.Atoi(strings.TrimSpace(value)) // the client is the honest side
		}
	}
}

// body drops the request's body and says whether it was complete.
func (s *Session) body() bool {
	n, _ := io.CopyN(io.Discard, s.reader, int64(s.length))
	return n == int64(s.length)
}

func (s *Session) misbehave(b *Behaviour) bool {
	if !b.Unread && !s.body() {
		return false
	}
	began := time.Now() // the client's pause begins as soon as it has the answer
	if b.Answer != "" {
		s.Say(b.Answer)
	}
	if b.Then == nil {
		return true
	}
	stay := b.Then(s)
	s.server.tardy(began)
	if !stay {
		s.done = time.Now()
	}
	return stay
}

// The acts that occur most.

func stay(*Session) bool { return true }

func quit(*Session) bool { return false }

// hold keeps the connection open until the client closes it.
func hold(s *Session) bool {
	_, _ = io.Copy(io.Discard, s.reader)
	return false
}

// frozen keeps it open and reads nothing.
func frozen(s *Session) bool {
	<-s.server.port.Closing()
	return false
}

// reset closes with a RST.
func reset(s *Session) bool {
	_ = s.TCP.SetLinger(0)
	_ = s.TCP.Close()
	return false
}

// half sends FIN and continues to read.
func half(s *Session) bool {
	_ = s.TCP.CloseWrite()
	return hold(s)
}

// cut ends the stream below TLS, so that no close_notify goes out.
func cut(s *Session) bool {
	_ = s.TCP.Close()
	return false
}

// says makes an act of a text and the act after it.
func says(text string, then Act) Act {
	return func(s *Session) bool {
		s.Say(text)
		return then(s)
	}
}

func floods(text string) Act {
	return func(s *Session) bool {
		s.Flood(text)
		return false
	}
}

func drips(text string, every time.Duration, then Act) Act {
	return func(s *Session) bool { return s.Drip(text, every) && then(s) }
}
