package mqtttest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

func (s *Server) text() string {
	s.tb.Helper()
	b, err := os.ReadFile(s.log)
	if err != nil {
		s.tb.Fatal(err)
	}
	return string(b)
}

// Received is how many messages of a topic the server's log has taken from clients.
func (s *Server) Received(topic string) uint64 {
	return s.lines(": Received PUBLISH from ", "'"+topic+"'")
}

// Gave is how many messages of a topic it has sent to clients.
func (s *Server) Gave(topic string) uint64 { return s.lines(": Sending PUBLISH to ", "'"+topic+"'") }

// Connected is how many clients have connected whose identifiers begin so.
func (s *Server) Connected(client string) uint64 {
	return s.lines(": New client connected from ", " as "+client)
}

// Goodbyes is how many clients have sent DISCONNECT.
func (s *Server) Goodbyes(client string) uint64 {
	return s.lines(": Received DISCONNECT from "+client, "")
}

func (s *Server) lines(what, with string) (n uint64) {
	for line := range strings.Lines(s.text()) {
		if strings.Contains(line, what) && strings.Contains(line, with) {
			n++
		}
	}
	return n
}

// Settled waits until the connections of all clients but a number have ended: all that they sent is in the
// log then.
func (s *Server) Settled(but uint64) {
	s.tb.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		var open int
		for line := range strings.Lines(s.text()) {
			switch _, what, _ := strings.Cut(line, ": "); {
			case strings.HasPrefix(what, "New client connected"):
				open++
			case strings.HasPrefix(what, "Client ") && (strings.Contains(what, "disconnected") || strings.Contains(what, "closed its connection") || strings.Contains(what, "has exceeded timeout") || strings.Contains(what, "already connected")):
				open--
			}
		}
		if open <= int(but) {
			return
		}
	}
	s.tb.Fatalf("connections do not end: %s", last(s.text()))
}

func last(text string) string { return text[max(0, len(text)-2000):] }

// own are the packets that Packets sends itself: CONNECT and SUBSCRIBE.
const own = 2

// Packets is what the server counts below $SYS of the packets that others sent to it, as its next update
// says: its count of messages leaves out those of QoS 2.
func (s *Server) Packets() uint64 {
	s.tb.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		s.tb.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	const counter, clock = "$SYS/broker/messages/received", "$SYS/broker/uptime"
	say := []byte("\x10\x10\x00\x04MQTT\x04\x02\x00\x3c\x00\x04test\x82")
	say = append(say, byte(2+3+len(counter)+3+len(clock)), 0, 1)
	for _, topic := range []string{counter, clock} {
		say = append(binary.BigEndian.AppendUint16(say, uint16(len(topic))), topic...)
		say = append(say, 0)
	}
	if _, err := c.Write(say); err != nil {
		s.tb.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(c)
	var total uint64
	for updates, fresh := 0, false; !fresh; { // the first update is what the server keeps
		head := make([]byte, 2) // no packet here has 128 bytes
		if _, err := io.ReadFull(r, head); err != nil {
			s.tb.Fatal(err)
		}
		body := make([]byte, head[1])
		if _, err := io.ReadFull(r, body); err != nil {
			s.tb.Fatal(err)
		}
		if head[0]>>4 != 3 {
			continue
		}
		n := int(body[1])
		switch topic, value := string(body[2:2+n]), string(body[2+n:]); topic {
		case counter:
			total, _ = strconv.ParseUint(value, 10, 64)
			fresh = updates > 1
		case clock:
			updates++
		}
	}
	return total - own
}
