package mongodb

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"
)

// Session is one connection as a behaviour sees it. A write may fail, since the client may be gone: then later
// writes fail too, and the behaviour ends.
type Session struct {
	*net.TCPConn

	server *Server
	reader *bufio.Reader
	id     int    // of the connection
	proved bool   // a well-behaved answer was sent on it
	number int    // of the last request
	nonce  string // of the client
}

const opMsg = 2013

// frame is a message with a document.
func frame(to, code, flags int, body string) string {
	if code == 0 {
		code = opMsg
	}
	return i32(21+len(body)) + i32(7) + i32(to) + i32(code) + i32(flags) + "\x00" + body
}

// Frame writes a message; code 0 is OP_MSG.
func (s *Session) Frame(to, code, flags int, body string) { s.Raw(frame(to, code, flags, body)) }

// Say writes an answer to the last request.
func (s *Session) Say(body string) { s.Frame(s.number, 0, 0, body) }

// Raw writes bytes.
func (s *Session) Raw(b string) { _, _ = io.WriteString(s.TCPConn, b) }

const requestMost = 48_000_000 // bytes

// request reads the next command, and returns its name and its document; false: the client is gone, or breaks
// the protocol.
func (s *Session) request() (name, body string, ok bool) {
	var head [21]byte
	if _, err := io.ReadFull(s.reader, head[:]); err != nil {
		return "", "", false
	}
	size := int(int32(binary.LittleEndian.Uint32(head[:])))
	if size < 26 || size > requestMost {
		s.server.blame("a request has %d bytes", size)
		return "", "", false
	}
	b := make([]byte, size-21)
	if _, err := io.ReadFull(s.reader, b); err != nil {
		return "", "", false
	}
	s.number = int(int32(binary.LittleEndian.Uint32(head[4:])))
	code, flags := binary.LittleEndian.Uint32(head[12:]), binary.LittleEndian.Uint32(head[16:])
	if code != opMsg || flags != 0 || head[20] != 0 || int(binary.LittleEndian.Uint32(b)) != len(b) || b[len(b)-1] != 0 {
		s.server.blame("a request has the code %d, the flags %#x, and a document of %d bytes that says %d", code, flags, len(b), binary.LittleEndian.Uint32(b))
		return "", "", false
	}
	name, _, _ = strings.Cut(string(b[5:]), "\x00")
	return name, string(b), true
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

// says makes an act of an answer and the act after it.
func says(body string, then Act) Act {
	return func(s *Session) bool {
		s.Say(body)
		return then == nil || then(s)
	}
}

// raw makes an act of bytes and the act after it.
func raw(b string, then Act) Act {
	return func(s *Session) bool {
		s.Raw(b)
		return then == nil || then(s)
	}
}

// drips says an answer byte by byte.
func drips(body string, every time.Duration, then Act) Act {
	return func(s *Session) bool {
		all := frame(s.number, 0, 0, body)
		for i := range len(all) {
			if _, err := io.WriteString(s.TCPConn, all[i:i+1]); err != nil || !s.server.port.Wait(every) {
				return false
			}
		}
		return then == nil || then(s)
	}
}

// endless answers each further request in the same way.
func endless(body string) Act {
	return func(s *Session) bool {
		for s.Say(body); ; s.Say(body) {
			if name, _, ok := s.request(); !ok || name != "getMore" {
				return false
			}
		}
	}
}

// tardy answers behind the deadline, unless the client has gone by then.
func tardy(s *Session) bool {
	_, _ = s.reader.Peek(1) // it says nothing more, or hangs up
	s.Say(hi())
	return true
}

// waits does something after a while.
func waits(then Act) Act {
	return func(s *Session) bool { return s.server.port.Wait(pause/3) && then(s) }
}
