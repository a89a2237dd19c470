package amqp

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"
)

// Session is one connection as a behaviour sees it. A write may fail, since the client may be gone: then
// later writes fail too, and the behaviour ends.
type Session struct {
	*net.TCPConn

	server    *Server
	reader    *bufio.Reader
	number    int    // of the connection
	proved    bool   // a well-behaved answer was sent on it
	published uint64 // since it confirms
	last      Verb   // of the operation that came last
	open      bool   // the client has said who it is
	owes      bool   // answers about the channel's flow wait
	owed      string // those that do
}

// Say writes text.
func (s *Session) Say(text string) { _, _ = io.WriteString(s.TCPConn, text) }

// frame reads a frame; false: the client is gone.
func (s *Session) frame() (kind byte, payload string, ok bool) {
	head := make([]byte, 7)
	if _, err := io.ReadFull(s.reader, head); err != nil {
		return 0, "", false
	}
	size := binary.BigEndian.Uint32(head[3:])
	if size > 131072 {
		s.server.blame("a frame has %d bytes", size)
		return 0, "", false
	}
	b := make([]byte, size+1)
	if _, err := io.ReadFull(s.reader, b); err != nil {
		return 0, "", false
	}
	if b[size] != 0xce {
		s.server.blame("a frame ends with %x", b[size])
	}
	return head[0], string(b[:size]), true
}

// greeted reads who the client is and what it opens, and says whether that came.
func (s *Session) greeted(tune string) bool {
	begin := make([]byte, 8)
	if _, err := io.ReadFull(s.reader, begin); err != nil {
		return false
	}
	if string(begin) != "AMQP\x00\x00\x09\x01" {
		s.server.blame("the greeting begins %q", begin)
	}
	s.Say(start)
	if _, who, ok := s.frame(); !ok || !strings.Contains(who, "\x05PLAIN\x00\x00\x00\x0b\x00"+User+"\x00"+Password) {
		if ok {
			s.server.blame("the greeting says %q", who)
		}
		return false
	}
	s.Say(tune)
	for _, wants := range []string{tuned, opens} {
		if _, text, ok := s.frame(); !ok || !strings.HasPrefix(text, wants) {
			return false
		}
	}
	s.open = true
	return true
}

// command reads up to the next operation; false: the client is gone.
func (s *Session) command() bool {
	for {
		_, text, ok := s.frame()
		if !ok || len(text) < 4 {
			return false
		}
		switch text[:4] {
		case "\x00\x14\x00\x0a":
			s.Say(channelOpened)
			s.published = 0
		case "\x00\x55\x00\x0a":
			s.Say(selected)
		case "\x00\x14\x00\x14":
			if answer := method(1, 20, 21, text[4:]); s.owes {
				s.owed += answer
			} else {
				s.Say(answer)
			}
		case "\x00\x14\x00\x15", "\x00\x14\x00\x29", "\x00\x0a\x00\x33", "\x00\x3c\x00\x50", "\x00\x3c\x00\x78":
		case "\x00\x0a\x00\x32":
			s.Say(method(0, 10, 51, ""))
			return false
		case "\x00\x3c\x00\x28":
			s.last = Confirm
			s.published++
			return s.content() && s.came()
		case "\x00\x3c\x00\x46":
			s.last = Get
			return s.came()
		default:
			s.server.blame("the client says %q", text)
			return false
		}
	}
}

func (s *Session) came() bool {
	s.server.came()
	return true
}

// content reads the header and the body of a message.
func (s *Session) content() bool {
	kind, text, ok := s.frame()
	if !ok || kind != 2 || len(text) < 14 {
		return false
	}
	for left := binary.BigEndian.Uint64([]byte(text[4:])); left > 0; {
		kind, text, ok := s.frame()
		if !ok || kind != 3 || uint64(len(text)) > left {
			return false
		}
		left -= uint64(len(text))
	}
	return true
}

// The acts that occur most.

func quit(*Session) bool { return false }

// stays does nothing, and goes on.
func stays(*Session) bool { return true }

// hold keeps the connection open until the client says goodbye, or closes it.
func hold(s *Session) bool {
	for s.open {
		_, text, ok := s.frame()
		if !ok {
			return false
		}
		if strings.HasPrefix(text, "\x00\x0a\x00\x32") {
			s.Say(method(0, 10, 51, ""))
			break
		}
	}
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

// begun reads what the client says first, and goes on.
func begun(then Act) Act {
	return func(s *Session) bool {
		_, err := io.ReadFull(s.reader, make([]byte, 8))
		return err == nil && then(s)
	}
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
		for i := range len(text) {
			if _, err := io.WriteString(s.TCPConn, text[i:i+1]); err != nil || !s.server.port.Wait(every) {
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

// late says what answers the first operation when a second one comes on the same connection, and then what
// answers that one.
func late(text string) Act {
	return func(s *Session) bool {
		s.owes = true
		if !s.command() {
			return false
		}
		s.server.reused(s.number)
		s.Say(text + s.owed + message(Next))
		s.owes, s.owed = false, ""
		s.proved = true
		return true
	}
}
