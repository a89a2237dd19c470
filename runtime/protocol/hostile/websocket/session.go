package websocket

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
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

	server *Server
	reader *bufio.Reader
	head   map[string]string // the upgrade's fields, names in lower case
	number int               // of the connection
	proved bool              // a well-behaved answer was sent on it
	pong   string            // the payload of the last one
}

// Say writes text.
func (s *Session) Say(text string) { _, _ = io.WriteString(s.Conn, text) }

// request reads the upgrade's head.
func (s *Session) request() bool {
	line, err := s.reader.ReadString('\n')
	if err != nil {
		return false
	}
	if !strings.HasPrefix(line, "GET /") || !strings.HasSuffix(line, " HTTP/1.1\r\n") {
		s.server.blame("the request begins with %.60q", line)
		return false
	}
	s.head = map[string]string{}
	for {
		line, err := s.reader.ReadString('\n')
		if err != nil {
			return false
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		if s.head[strings.ToLower(name)] != "" {
			s.server.blame("the field %s comes twice", name)
		}
		s.head[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	s.check()
	return true
}

// check blames a client whose upgrade RFC 6455, 4.1 does not allow.
func (s *Session) check() {
	key, err := base64.StdEncoding.DecodeString(s.head["sec-websocket-key"])
	a := &s.server.entry.Ask
	switch {
	case !strings.EqualFold(s.head["upgrade"], "websocket") || !strings.EqualFold(s.head["connection"], "upgrade") || s.head["host"] == "":
		s.server.blame("the request is no upgrade: %q", s.head)
	case s.head["sec-websocket-version"] != "13" || err != nil || len(key) != 16:
		s.server.blame("version %q, key %q", s.head["sec-websocket-version"], s.head["sec-websocket-key"])
	case s.server.keys.seen(s.head["sec-websocket-key"]):
		s.server.blame("the key %q came before", s.head["sec-websocket-key"])
	case s.head["sec-websocket-protocol"] != strings.Join(a.Protocols, ", "):
		s.server.blame("the protocols %q are offered, want %q", s.head["sec-websocket-protocol"], a.Protocols)
	case strings.HasPrefix(s.head["sec-websocket-extensions"], "permessage-deflate") != a.Compressed:
		s.server.blame("the extensions %q are offered, compressed %v", s.head["sec-websocket-extensions"], a.Compressed)
	}
}

// accept is what a right answer says of the key.
func (s *Session) accept() string {
	sum := sha1.Sum([]byte(s.head["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// switching is a right answer without its end.
const switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n"

const agreed = "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n"

// switched is a whole right answer.
func (s *Session) switched() string {
	answer := switching
	if s.server.entry.Ask.Compressed {
		answer += agreed
	}
	return strings.Replace(answer, "KEY", s.accept(), 1) + "\r\n"
}

// received is a frame of the client's.
type received struct {
	first   byte
	payload string
}

// frame reads one of the client's frames, answers control frames and says whether there was one.
func (s *Session) frame() (f received, ok bool) {
	var head [14]byte
	if _, err := io.ReadFull(s.reader, head[:2]); err != nil {
		return f, false
	}
	if head[1]&0x80 == 0 {
		s.server.blame("a frame is not masked: it begins with %x", head[:2])
		return f, false
	}
	n := uint64(head[1] & 0x7f)
	if wide := map[uint64]int{126: 2, 127: 8}[n]; wide > 0 {
		if _, err := io.ReadFull(s.reader, head[10-wide:10]); err != nil {
			return f, false
		}
		n = binary.BigEndian.Uint64(head[2:10]) // bytes that were not read are zero
	}
	if _, err := io.ReadFull(s.reader, head[10:14]); err != nil || n > 64<<20 {
		return f, false
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(s.reader, payload); err != nil {
		return f, false
	}
	for i := range payload {
		payload[i] ^= head[10+i%4]
	}
	f = received{head[0], string(payload)}
	s.server.judge(f, binary.LittleEndian.Uint32(head[10:14]))
	return f, true
}

// message reads up to the client's next message; it says no at a goodbye or the end.
func (s *Session) message() bool {
	for {
		f, ok := s.frame()
		switch {
		case !ok:
			return false
		case f.first&0xf == fPing&0xf:
			s.Say(frame(fPong, f.payload))
		case f.first&0xf == fPong&0xf:
			s.pong = f.payload
		case f.first&0xf == fClose&0xf:
			s.Say(frame(fClose, f.payload[:min(2, len(f.payload))]))
			return false
		case f.first&0x80 != 0:
			return true
		}
	}
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
			if _, err := io.WriteString(s.Conn, text[i:i+1]); err != nil || !s.server.port.Wait(every) {
				return false
			}
		}
		return then == nil || then(s)
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

// late answers the first message when a second one comes on the same connection: a client that gave
// the first one up must not take it for the second one's answer.
func late(s *Session) bool {
	if !s.message() {
		return false
	}
	s.Say(text("late"))
	return hold(s)
}

// ponged continues once the client has answered a ping with this payload.
func ponged(payload string, then Act) Act {
	return func(s *Session) bool {
		for s.pong != payload {
			f, ok := s.frame()
			if !ok {
				return false
			}
			if f.first == fPong {
				s.pong = f.payload
			}
		}
		return then(s)
	}
}

func (f received) String() string { return fmt.Sprintf("%#x %.20q", f.first, f.payload) }
