package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
)

// Codes of errors. Source: section 9 of the native protocol, version 4.
const (
	errProtocol    = 0x000A
	errCredentials = 0x0100
	errSyntax      = 0x2000
	errInvalid     = 0x2200
	errUnprepared  = 0x2500
)

const frameMax = 16 << 20 // native_transport_max_frame_size of Cassandra 4

// fault is an error that a node answers.
type fault struct {
	code int
	text string
	id   []byte // of a statement that is not prepared
}

// in reads what a client sends.
type in struct{ b []byte }

func (r *in) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		panic(fault{errProtocol, "the frame ends within a value", nil})
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}
func (r *in) byte() byte { return r.take(1)[0] }
func (r *in) short() int { return int(binary.BigEndian.Uint16(r.take(2))) }
func (r *in) int() int   { return int(int32(binary.BigEndian.Uint32(r.take(4)))) }
func (r *in) text() string {
	return string(r.take(r.short()))
}
func (r *in) long() string { return string(r.take(r.int())) }

// value is null if it is nil; set is false for one that is not set.
func (r *in) value() (v []byte, set bool) {
	switch n := r.int(); {
	case n == -2:
		return nil, false
	case n < 0:
		return nil, true
	default:
		return append([]byte{}, r.take(n)...), true
	}
}

func text(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}
func number(dst []byte, n int) []byte { return binary.BigEndian.AppendUint32(dst, uint32(int32(n))) }
func value(dst, v []byte) []byte {
	if v == nil {
		return number(dst, -1)
	}
	return append(number(dst, len(v)), v...)
}

func (n *node) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go n.serve(c)
	}
}

// serve answers the requests of one connection, in order.
func (n *node) serve(c net.Conn) {
	defer func() { _ = c.Close() }() // each write is kept
	from, proved := bufio.NewReader(c), false
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(head[5:])
		if size > frameMax {
			return
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		op, answer := n.answer(head, body, &proved)
		out := append([]byte{0x84, 0, head[2], head[3], op}, number(nil, len(answer))...)
		if _, err := c.Write(append(out, answer...)); err != nil {
			return
		}
	}
}

func (n *node) answer(head, body []byte, proved *bool) (op byte, out []byte) {
	defer func() {
		if f, wrong := recover().(fault); wrong {
			op, out = 0x00, text(number(nil, f.code), f.text)
			if f.id != nil {
				out = append(binary.BigEndian.AppendUint16(out, uint16(len(f.id))), f.id...)
			}
		}
	}()
	r := &in{body}
	if head[0] != 4 || head[1] != 0 {
		panic(fault{errProtocol, "Invalid or unsupported protocol version; the lowest supported version is 4 and the greatest is 4", nil})
	}
	switch head[4] {
	case 0x01: // STARTUP
		for range r.short() {
			if name, v := r.text(), r.text(); name == "COMPRESSION" && v != "" {
				panic(fault{errProtocol, "no compression", nil})
			}
		}
		return 0x03, text(nil, "org.apache.cassandra.auth.PasswordAuthenticator")
	case 0x05: // OPTIONS
		return 0x06, text(binary.BigEndian.AppendUint16(text([]byte{0, 1}, "CQL_VERSION"), 1), "3.4.6")
	case 0x0F: // AUTH_RESPONSE
		token, _ := r.value()
		words := strings.Split(string(token), "\x00")
		if len(words) != 3 || words[1] != user || words[2] != password {
			panic(fault{errCredentials, "Provided username " + user + " and/or password are incorrect", nil})
		}
		*proved = true
		return 0x10, number(nil, -1)
	}
	if !*proved {
		panic(fault{errProtocol, "Unexpected message before authentication", nil})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch head[4] {
	case 0x0B: // REGISTER
		return 0x02, nil
	case 0x07: // QUERY
		return 0x08, n.run(n.parse(r.long()), r)
	case 0x09: // PREPARE
		return 0x08, n.prepare(r.long())
	case 0x0A: // EXECUTE
		id := string(r.take(r.short()))
		s := n.prepared[id]
		if s == nil {
			panic(fault{errUnprepared, "Prepared query with ID is not found", []byte(id)})
		}
		if n.count > 0 {
			n.count--
			panic(fault{n.code, "as the test wants", nil})
		}
		return 0x08, n.run(n.parse(s.text), r)
	}
	panic(fault{errProtocol, "no such message", nil})
}
