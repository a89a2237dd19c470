package kafka

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
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
	id     int    // of the connection
	proved bool   // a well-behaved answer was sent on it
	number string // of the last request
	acks   int    // of the last record
	scram  prover
}

// Say writes an answer to the last request.
func (s *Session) Say(body string) { s.Raw(i32(4+len(body)) + s.number + body) }

// Raw writes bytes, with the number of the last request in place of $NUM.
func (s *Session) Raw(b string) {
	_, _ = io.WriteString(s.TCPConn, strings.ReplaceAll(b, "$NUM", s.number))
}

const requestMost = 80 << 20 // bytes

// request reads the next request; false: the client is gone, or breaks the protocol.
func (s *Session) request() (key int, body []byte, ok bool) {
	var head [4]byte
	if _, err := io.ReadFull(s.reader, head[:]); err != nil {
		return 0, nil, false
	}
	size := int(binary.BigEndian.Uint32(head[:]))
	if size < 10 || size > requestMost {
		s.server.blame("a request has %d bytes", size)
		return 0, nil, false
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(s.reader, b); err != nil {
		return 0, nil, false
	}
	s.number = string(b[4:8])
	client := int(binary.BigEndian.Uint16(b[8:]))
	if client > size-10 {
		s.server.blame("the name of the client has %d bytes", client)
		return 0, nil, false
	}
	return int(binary.BigEndian.Uint16(b)), b[10+client:], true
}

// record checks a request to produce one record.
func (s *Session) record(b []byte) bool {
	head := i16(-1)
	rest, is := strings.CutPrefix(string(b), head)
	if !is || len(rest) < 6 {
		s.server.blame("a record is of a transaction")
		return false
	}
	s.acks = int(int16(binary.BigEndian.Uint16([]byte(rest))))
	rest, is = strings.CutPrefix(rest[6:], i32(1)+text(Topic)+i32(1)+i32(0))
	if !is || len(rest) < 4+61 {
		s.server.blame("a record goes to %.40q", rest)
		return false
	}
	size, batch := int(binary.BigEndian.Uint32([]byte(rest))), rest[4:]
	if size != len(batch) || int(binary.BigEndian.Uint32([]byte(batch[8:])))+12 != size || batch[16] != 2 {
		s.server.blame("a batch of %d bytes says %d", len(batch), size)
		return false
	}
	if crc32.Checksum([]byte(batch[21:]), crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32([]byte(batch[17:])) {
		s.server.blame("a batch has a wrong checksum")
		return false
	}
	s.server.came()
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
		all := i32(4+len(body)) + s.number + body
		for i := range len(all) {
			if _, err := io.WriteString(s.TCPConn, all[i:i+1]); err != nil || !s.server.port.Wait(every) {
				return false
			}
		}
		return then == nil || then(s)
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
