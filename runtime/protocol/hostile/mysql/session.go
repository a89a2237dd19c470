package mysql

import (
	"bufio"
	"io"
	"net"
	"strings"
	"time"
)

// Session is one connection as a behaviour sees it. A write may fail, since the client may be
// gone: then later writes fail too, and the behaviour ends.
type Session struct {
	net.Conn
	TCP *net.TCPConn // the same

	server   *Server
	reader   *bufio.Reader
	number   int  // of the connection
	greeting byte // packets that TLS adds to a greeting
	proved   bool // a well-behaved answer was sent on it
	kind     byte // of the command that was read last
	params   int  // of the statement that was prepared last
}

// Say writes text.
func (s *Session) Say(text string) { _, _ = io.WriteString(s.Conn, text) }

// read reads a packet with the number; empty: the client is gone, or breaks the protocol.
func (s *Session) read(number byte) string {
	var all []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(s.reader, head[:]); err != nil {
			return ""
		}
		n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		if head[3] != number {
			s.server.blame("a packet has the number %d, want %d", head[3], number)
			return ""
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(s.reader, body); err != nil {
			return ""
		}
		if all = append(all, body...); n < 1<<24-1 {
			return string(all)
		}
		number++
	}
}

// command reads one of the client's commands that has an answer, and remembers whether it is
// prepared; false: the client is gone.
func (s *Session) command() bool {
	for {
		body := s.read(0)
		if body == "" {
			return false
		}
		switch s.kind = body[0]; s.kind {
		case commandQuit:
			return false
		case commandClose:
			continue
		case commandQuery, commandExecute:
			s.server.came()
			return true
		case commandPrepare:
			s.params = strings.Count(body, "?")
			return true
		}
		s.server.blame("command %d", body[0])
		return false
	}
}

const (
	commandQuit    = 1
	commandQuery   = 3
	commandPrepare = 22
	commandExecute = 23
	commandClose   = 25
)

// greeted reads who the client is, and checks its proof.
func (s *Session) greeted(plugin string) bool {
	body := s.read(1 + s.greeting)
	if len(body) < 33 {
		return false
	}
	user, rest, _ := strings.Cut(body[32:], "\x00")
	if rest == "" || len(rest) < 1+int(rest[0]) {
		s.server.blame("the introduction has no proof")
		return false
	}
	end := 1 + int(rest[0]) // a byte would end at 255
	proof, rest := rest[1:end], rest[end:]
	database, rest, _ := strings.Cut(rest, "\x00")
	by, _, _ := strings.Cut(rest, "\x00")
	if user != User || database != Database || by != plugin || proof != proves(plugin, salt) {
		s.server.blame("the introduction says user %q, database %q and %q, proof %x", user, database, by, proof)
	}
	return true
}

// The acts that occur most.

func quit(*Session) bool { return false }

// hold keeps the connection open until the client closes it.
func hold(s *Session) bool {
	_, _ = io.Copy(io.Discard, s.reader)
	return false
}

// frozen keeps it open and reads nothing.
func frozen(s *Session) bool {
	<-s.server.closing
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

// says makes an act of a text and the act after it.
func says(text string, then Act) Act {
	return func(s *Session) bool {
		s.Say(text)
		return then == nil || then(s)
	}
}

// drips says text byte by byte.
func drips(text string, every time.Duration, then Act) Act {
	return func(s *Session) bool {
		for i := range len(text) {
			if _, err := io.WriteString(s.Conn, text[i:i+1]); err != nil || !s.server.wait(every) {
				return false
			}
		}
		return then == nil || then(s)
	}
}

// later says text after a while.
func later(text string, then Act) Act {
	return func(s *Session) bool {
		if !s.server.wait(pause / 3) {
			return false
		}
		s.Say(text)
		return then(s)
	}
}

// late answers the first operation when a second one comes on the same connection: a client that
// gave the first one up must not take it for the second one's answer.
func late(s *Session) bool {
	if !s.command() {
		return false
	}
	s.Say(rows("late"))
	return hold(s)
}
