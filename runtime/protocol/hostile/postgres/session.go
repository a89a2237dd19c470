package postgres

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"
)

// Session is one connection as a behaviour sees it. A write may fail, since the client may be
// gone: then later writes fail too, and the behaviour ends.
type Session struct {
	net.Conn              // TCP, or TLS over it
	TCP      *net.TCPConn // below

	server    *Server
	reader    *bufio.Reader
	number    int  // of the connection
	proved    bool // a well-behaved answer was sent on it
	described bool // the operation that was read last wants the columns
}

// Say writes text.
func (s *Session) Say(text string) { _, _ = io.WriteString(s.Conn, text) }

const messageMost = 64 << 20

// first reads the message that begins a connection: of SSLRequest, or of version 3.
func (s *Session) first() (number uint32, body string, ok bool) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(s.reader, head); err != nil {
		return 0, "", false
	}
	size := binary.BigEndian.Uint32(head)
	if size < 8 || size > 10_000 {
		s.server.blame("the first message has %d bytes", size)
		return 0, "", false
	}
	rest := make([]byte, size-8)
	_, err := io.ReadFull(s.reader, rest)
	return binary.BigEndian.Uint32(head[4:]), string(rest), err == nil
}

// message reads one of the client's later messages; 0: the end.
func (s *Session) message() (kind byte, body string) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(s.reader, head); err != nil {
		return 0, ""
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > messageMost {
		s.server.blame("%q has %d bytes", head[0], size)
		return 0, ""
	}
	rest := make([]byte, size-4)
	if _, err := io.ReadFull(s.reader, rest); err != nil {
		return 0, ""
	}
	return head[0], string(rest)
}

// operation reads what the client asks, up to its Sync, and says whether it came.
func (s *Session) operation() bool {
	s.described = false
	for order := "PBDES"; ; {
		kind, _ := s.message()
		if kind == 0 || kind == 'X' {
			return false
		}
		at := strings.IndexByte(order, kind)
		if at < 0 || at > 1 || at == 1 && order[0] != 'D' {
			s.server.blame("%q comes where %q is due", kind, order)
			return false
		}
		order = order[at+1:]
		switch kind {
		case 'D':
			s.described = true
		case 'S':
			return true
		}
	}
}

// say makes a message of the server.
func say(kind byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4))) + body
}

func four(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }
func two(n uint16) string  { return string(binary.BigEndian.AppendUint16(nil, n)) }

// The messages that occur most.
var (
	parsed  = say('1', "") + say('2', "")
	columns = table("v")
	done    = say('C', "SELECT 1\x00")
	ready   = say('Z', "I")
	proven  = say('R', four(0))
	welcome = proven + say('S', "server_version\x0015.0\x00") + say('K', backendKey) + ready
)

const backendKey = "12345678"

// table describes columns of texts.
func table(names ...string) string {
	body := two(uint16(len(names)))
	for _, name := range names {
		body += name + "\x00" + four(0) + two(0) + four(25) + two(0xffff) + four(0xffffffff) + two(0)
	}
	return say('T', body)
}

// row is a row of texts.
func row(values ...string) string {
	body := two(uint16(len(values)))
	for _, v := range values {
		body += four(uint32(len(v))) + v
	}
	return say('D', body)
}

// tells is an error with what else a server says of it.
func tells(severity, code, message string) string {
	return say('E', "S"+severity+"\x00V"+severity+"\x00C"+code+"\x00M"+message+"\x00\x00")
}

// table comes if the client wants it, and rest behind it.
func behindTable(rest string) func(bool) string {
	return func(described bool) string {
		if described {
			return parsed + columns + rest
		}
		return parsed + rest
	}
}

// as is a text, whatever the client wants.
func as(text string) func(bool) string { return func(bool) string { return text } }

// rows is a right answer.
func rows(all ...string) func(bool) string { return behindTable(strings.Join(all, "") + done + ready) }

// The acts that occur most.

func quit(*Session) bool { return false }

// hold keeps the connection open until the client closes it.
func hold(s *Session) bool {
	_, _ = io.Copy(io.Discard, s.reader)
	return false
}

// frozen keeps it open and reads nothing.
func frozen(s *Session) bool {
	s.server.port.Wait(time.Hour)
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

// drips says text byte by byte.
func drips(text string, every time.Duration, then Act) Act {
	return func(s *Session) bool {
		for i := range len(text) {
			if _, err := io.WriteString(s.Conn, text[i:i+1]); err != nil || every > 0 && !s.server.port.Wait(every) {
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

// floodsWith says text until the client has gone, or has read more than it could ever want.
func floodsWith(text string) Act {
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
	if !s.operation() {
		return false
	}
	s.Say(rows(row("late"))(s.described))
	return hold(s)
}

// challenges asks for SCRAM and answers the client's first message with a challenge: NONCE stands for
// its nonce. Behind the client's proof comes the last message.
func challenges(challenge, last string, then Act) Act {
	return func(s *Session) bool {
		s.Say(say('R', four(10)+"SCRAM-SHA-256\x00\x00"))
		kind, first := s.message()
		_, nonce, found := strings.Cut(first, ",r=")
		if kind != 'p' || !found || !strings.HasPrefix(first, "SCRAM-SHA-256\x00") {
			s.server.blame("%q begins SCRAM", first)
			return false
		}
		s.Say(say('R', four(11)+strings.ReplaceAll(challenge, "NONCE", nonce)))
		if last == "" {
			return then(s)
		}
		if kind, _ := s.message(); kind != 'p' {
			return false
		}
		s.Say(last)
		return then(s)
	}
}
