package nats

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Session is one connection as a behaviour sees it. A write may fail, since the client may be gone: then
// later writes fail too, and the behaviour ends.
type Session struct {
	*net.TCPConn

	server *Server
	reader *bufio.Reader
	number int    // of the connection
	proved bool   // a well-behaved answer was sent on it
	reply  string // where the answer to the last operation goes

	subject string // of that operation
}

// Say writes text, with the subject of the last operation's reply in place of $R.
func (s *Session) Say(text string) {
	_, _ = io.WriteString(s.TCPConn, strings.ReplaceAll(text, "$R", s.reply))
}

// msg is a message to the reply of the last operation.
func msg(data string) string { return fmt.Sprintf("MSG $R 1 %d\r\n%s\r\n", len(data), data) }

// hmsg is one with a header.
func hmsg(head, data string) string {
	head = "NATS/1.0" + head + "\r\n\r\n"
	return fmt.Sprintf("HMSG $R 1 %d %d\r\n%s%s\r\n", len(head), len(head)+len(data), head, data)
}

// line reads a line; empty: the client is gone.
func (s *Session) line() string {
	text, err := s.reader.ReadString('\n')
	if err != nil {
		return ""
	}
	if !strings.HasSuffix(text, "\r\n") {
		s.server.blame("%.40q does not end with CR LF", text)
	}
	return strings.TrimSuffix(text, "\r\n")
}

// command reads up to the next message; false: the client is gone.
func (s *Session) command() bool {
	for {
		text := s.line()
		words := strings.Fields(text)
		switch {
		case text == "":
			return false
		case words[0] == "PING":
			s.Say("PONG\r\n")
		case words[0] == "PONG":
		case words[0] == "SUB" && len(words) == 3, words[0] == "UNSUB" && len(words) == 2:
		case words[0] == "PUB" && (len(words) == 3 || len(words) == 4):
			size, err := strconv.Atoi(words[len(words)-1])
			if err != nil {
				s.server.blame("%.40q has no length", text)
				return false
			}
			data := make([]byte, size+2)
			if _, err := io.ReadFull(s.reader, data); err != nil {
				return false
			}
			if string(data[size:]) != "\r\n" {
				s.server.blame("a message ends with %q", data[size:])
			}
			if s.reply = ""; len(words) == 4 {
				s.reply = words[2]
			}
			s.subject = words[1]
			s.server.came()
			return true
		default:
			s.server.blame("the client says %.40q", text)
			return false
		}
	}
}

// greeted reads who the client is, and says whether that came.
func (s *Session) greeted() bool {
	text := s.line()
	if text == "" {
		return false
	}
	if !strings.HasPrefix(text, "CONNECT {") || !strings.Contains(text, `"user":"`+User+`","pass":"`+Password+`"`) {
		s.server.blame("the greeting says %.80q", text)
	}
	if text = s.line(); s.server.entry.Ask.Verb == Pull && strings.HasPrefix(text, "SUB ") {
		text = s.line()
	}
	return text == "PING"
}

// The acts that occur most.

func quit(*Session) bool { return false }

// stays does nothing, and goes on.
func stays(*Session) bool { return true }

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
	_ = s.SetLinger(0)
	_ = s.TCPConn.Close()
	return false
}

// half sends FIN and continues to read.
func half(s *Session) bool {
	_ = s.CloseWrite()
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
		all := strings.ReplaceAll(text, "$R", s.reply)
		for i := range len(all) {
			if _, err := io.WriteString(s.TCPConn, all[i:i+1]); err != nil || !s.server.port.Wait(every) {
				return false
			}
		}
		return then == nil || then(s)
	}
}

// later says text after a while.
func later(text string, then Act) Act {
	return func(s *Session) bool {
		if !s.server.port.Wait(pause / 3) {
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

// late answers the first operation when a second one comes on the same connection, and then that one.
func late(s *Session) bool {
	first := s.reply
	if !s.command() {
		return false
	}
	s.server.reused(s.number)
	second := s.reply
	s.reply = first
	s.Say(msg("late"))
	s.reply = second
	s.Say(msg(Next))
	s.proved = true
	return true
}
