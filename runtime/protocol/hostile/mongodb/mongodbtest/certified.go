package mongodbtest

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"time"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/hostile/authority"
)

// Judge answers authenticate, as relaxed extended JSON: the client's certificate is of that name. An empty answer
// closes the connection, and "silence" is none.
type Judge func(name, asked string) (answer string)

// Certified is where clients show a certificate, which FerretDB cannot judge: the judge answers authenticate in its
// place, and the server all else.
func (s *Server) Certified(judge Judge) (address string) {
	s.tb.Helper()
	c := authority.Honest()
	c.NextProtos, c.ClientAuth, c.ClientCAs = nil, tls.RequireAndVerifyClientCert, authority.Roots()
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.certifies(c.(*tls.Conn), judge)
		}
	}()
	return l.Addr().String()
}

// messageMost bounds what a client may say, in bytes.
const messageMost = 1 << 20

// certifies carries one connection.
func (s *Server) certifies(c *tls.Conn, judge Judge) {
	defer func() { _ = c.Close() }()
	if c.Handshake() != nil {
		return
	}
	name := c.ConnectionState().PeerCertificates[0].Subject.CommonName
	to, err := net.Dial("tcp", s.plain)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	go func() { _, _ = io.Copy(c, to); _ = c.Close() }()
	for {
		var b [4]byte
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return
		}
		size := binary.LittleEndian.Uint32(b[:])
		if size < 26 || size > messageMost {
			return
		}
		message := append(b[:], make([]byte, size-4)...)
		if _, err := io.ReadFull(c, message[4:]); err != nil {
			return
		}
		if !bytes.HasPrefix(message[25:], []byte("\x10authenticate\x00")) {
			if _, err := to.Write(message); err != nil {
				return
			}
			continue
		}
		switch answer := judge(name, string(bson.AppendJSON(nil, message[21:]))); answer {
		case "":
			return
		case "silence":
		default:
			if _, err := c.Write(reply(message[4:8], answer)); err != nil {
				return
			}
		}
	}
}

// answers reports whether a server of MongoDB answers hello there: another test may have taken the port.
func answers(address string) bool {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }() // it is asked once
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return false
	}
	if _, err := c.Write(reply(make([]byte, 4), `{"hello": 1, "$db": "admin"}`)); err != nil {
		return false
	}
	var head [16]byte
	_, err = io.ReadFull(c, head[:])
	return err == nil && binary.LittleEndian.Uint32(head[12:]) == 2013
}

// reply is a message that answers another one.
func reply(to []byte, answer string) []byte {
	t, err := bson.Compile(answer, nil)
	if err != nil {
		panic(err) // a test wrote it
	}
	b := append(make([]byte, 8), to...)
	b = binary.LittleEndian.AppendUint32(b, 2013)
	b, _ = t.Append(append(b, 0, 0, 0, 0, 0), nil) // it has no values
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// Hello answers the hello of each connection that a server takes, as relaxed extended JSON, and nothing else.
func Hello(c net.Conn, answer string) {
	for {
		var head [16]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		size := binary.LittleEndian.Uint32(head[:])
		if size < 26 || size > messageMost {
			return
		}
		if _, err := io.CopyN(io.Discard, c, int64(size)-int64(len(head))); err != nil {
			return
		}
		if _, err := c.Write(reply(head[4:8], answer)); err != nil {
			return
		}
	}
}
