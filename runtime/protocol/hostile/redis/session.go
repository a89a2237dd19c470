package redis

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Session is one connection as a behaviour sees it. A write may fail, since the client may be
// gone: then later writes fail too, and the behaviour ends.
type Session struct {
	net.Conn              // TCP, or TLS over it
	TCP      *net.TCPConn // below

	server *Server
	reader *bufio.Reader
	number int  // of the connection
	proved bool // a well-behaved answer was sent on it
}

// Say writes text.
func (s *Session) Say(text string) { _, _ = io.WriteString(s.Conn, text) }

// command reads one of the client's commands: an array of texts. It is empty at the end.
func (s *Session) command() []string {
	n, ok := s.head('*', 1<<20)
	if !ok {
		return nil
	}
	var words []string
	for range n {
		size, ok := s.head('$', 64<<20)
		if !ok {
			return nil
		}
		word := make([]byte, size+2)
		if _, err := io.ReadFull(s.reader, word); err != nil {
			return nil
		}
		if string(word[size:]) != "\r\n" {
			s.server.blame("a text ends with %q", word[size:])
			return nil
		}
		words = append(words, string(word[:size]))
	}
	if n == 0 {
		s.server.blame("a command is empty")
		return nil
	}
	s.server.came(words)
	return words
}

// head reads a type with its length.
func (s *Session) head(kind byte, most int) (int, bool) {
	line, err := s.reader.ReadString('\n')
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(line[1:], "\r\n"))
	if line[0] != kind || err != nil || n < 0 || n > most || line[1] == '+' || !strings.HasSuffix(line, "\r\n") {
		s.server.blame("%.40q is no head of the type %q", line, kind)
		return 0, false
	}
	return n, true
}

// greeted reads the commands of a greeting, and says whether they came.
func (s *Session) greeted() bool {
	for _, want := range []string{"HELLO 3 AUTH " + User + " " + Password, "SELECT " + Database} {
		words := s.command()
		if words == nil {
			return false
		}
		if is := strings.Join(words, " "); is != want {
			s.server.blame("the greeting says %q, want %q", is, want)
		}
	}
	return true
}

// welcome is a right answer to a greeting.
const welcome = "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n+OK\r\n"

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

// cut ends the stream below TLS, so that no close_notify goes out.
func cut(s *Session) bool {
	_ = s.TCP.Close()
	return false
}

// says makes an act of a text and the act after it.
func says(text string, then Act) Act {
	return func(s *Session) bool {
		s.Say(text)
		return then == nil || then(s)
	}
}

// asked makes an act that first waits for the greeting's commands.
func asked(then Act) Act {
	return func(s *Session) bool { return s.greeted() && then(s) }
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

// floods says text until the client has gone, or has read more than it could ever want.
func floods(text string) Act {
	return func(s *Session) bool {
		piece := []byte(many(text, 1+4096/len(text)))
		for n := 0; n < 1<<30; n += len(piece) {
			if _, err := s.Write(piece); err != nil {
				return false
			}
		}
		return hold(s)
	}
}

// late answers the first operation when a second one comes on the same connection: a client that
// gave the first one up must not take it for the second one's answer.
func late(s *Session) bool {
	if s.command() == nil {
		return false
	}
	s.Say("$4\r\nlate\r\n")
	return hold(s)
}
