package mqtt

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

	server *Server
	reader *bufio.Reader
	number int    // of the connection
	proved bool   // a well-behaved answer was sent on it
	id     string // of the last message, two bytes
	qos    int    // of it
}

// What a server says.
const (
	welcome  = "\x20\x03\x00\x00\x00"
	older    = "\x20\x02\x00\x00"
	puback   = "\x40\x02$I"
	pubrec   = "\x50\x02$I"
	pubcomp  = "\x70\x02$I"
	suback   = "\x90\x04$I\x00\x02"
	pingresp = "\xd0\x00"
)

// Say writes text, with the identifier of the last message in place of $I.
func (s *Session) Say(text string) {
	_, _ = io.WriteString(s.TCPConn, strings.ReplaceAll(text, "$I", s.id))
}

// packet reads one; 0: the client is gone.
func (s *Session) packet() (first byte, body []byte) {
	first, err := s.reader.ReadByte()
	if err != nil {
		return 0, nil
	}
	size, err := binary.ReadUvarint(s.reader)
	if err != nil || size > 1<<28 {
		return 0, nil
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(s.reader, body); err != nil {
		return 0, nil
	}
	return first, body
}

// message reads up to the next message, and completes what is under way; false: the client is gone.
func (s *Session) message() bool {
	for {
		switch first, body := s.packet(); {
		case first == 0, first == 0xe0:
			return false
		case first == 0xc0:
			s.Say(pingresp)
		case first == 0x40 && s.server.entry.Ask.Subscribes:
		case first == 0x50 && s.server.entry.Ask.Subscribes:
			s.Say("\x62\x02" + string(body))
		case first == 0x70 && s.server.entry.Ask.Subscribes:
		case first == 0xa2 && len(body) > 2:
			s.Say("\xb0\x04" + string(body[:2]) + "\x00\x00")
		case first == 0x82 && len(body) > 2 && s.server.entry.Ask.Subscribes:
			s.id, s.qos = string(body[:2]), 0
			return true
		case first == 0x62 && len(body) == 2:
			s.Say("\x70\x02" + string(body))
		case first>>4 == 3 && len(body) > 2:
			n := 2 + int(binary.BigEndian.Uint16(body))
			if s.qos = int(first >> 1 & 3); s.qos == 0 || len(body) < n+2 {
				s.server.blame("a message of %d bytes has the first byte %#x", len(body), first)
				return false
			}
			s.id = string(body[n : n+2])
			s.server.came()
			return true
		default:
			s.server.blame("the client says %#x with %d bytes", first, len(body))
			return false
		}
	}
}

// released reads the PUBREL of the last message; false: the client is gone.
func (s *Session) released() bool {
	first, body := s.packet()
	if first != 0x62 || string(body) != s.id {
		s.server.blame("the client says %#x %x in place of PUBREL", first, body)
	}
	return first == 0x62
}

// answer acknowledges the last message.
func (s *Session) answer() {
	s.Say([]string{suback, puback, pubrec}[s.qos])
}

// greeted reads who the client is, and says whether that came.
func (s *Session) greeted() bool {
	first, body := s.packet()
	if first == 0 {
		return false
	}
	version := byte(5)
	if s.server.entry.Ask.Older {
		version = 4
	}
	if first != 0x10 || !strings.HasPrefix(string(body), "\x00\x04MQTT"+string(rune(version))+"\xc2") || !strings.HasSuffix(string(body), "\x00\x03"+User+"\x00\x06"+Password) {
		s.server.blame("the greeting says %.80q", body)
	}
	return true
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

// releasing says text when the client has sent PUBREL.
func releasing(text string, then Act) Act {
	return func(s *Session) bool {
		if !s.released() {
			return false
		}
		s.Say(text)
		return then == nil || then(s)
	}
}

// drips says text byte by byte.
func drips(text string, every time.Duration, then Act) Act {
	return func(s *Session) bool {
		all := strings.ReplaceAll(text, "$I", s.id)
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
		piece := []byte(many(strings.ReplaceAll(text, "$I", s.id), 1+4096/len(text)))
		for n := 0; n < 1<<30; n += len(piece) {
			if _, err := s.Write(piece); err != nil {
				return false
			}
		}
		return hold(s)
	}
}

// late acknowledges the first message when a second one comes on the same connection, and then that one.
func late(s *Session) bool {
	first := s.id
	if !s.message() {
		return false
	}
	s.server.reused(s.number)
	second := s.id
	s.id = first
	s.answer()
	s.id = second
	s.answer()
	s.proved = true
	return true
}
