package http3

import (
	"bytes"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/http2"
)

// Render compiles a request for HTTP/3, in the operation's memory: its head is the HEADERS frame and the
// head of the DATA frame. It uses the static table only, so one operation serves any number of connections.
func Render(op *codec.Operation, from *http1.Call) {
	*op = codec.Operation{Head: op.Head[:0], Body: from.Bytes[from.HeadLen:], Inserts: from.Inserts, NoBody: from.Method == "HEAD"}
	_, lines, _ := bytes.Cut(from.Bytes[:from.HeadLen], []byte("\r\n"))
	b := append(op.Head, make([]byte, headRoom)...)
	b = append(b, 0, 0) // no dynamic table
	b = appendField(b, ":method", from.Method)
	b = appendField(b, ":scheme", from.Scheme)
	for rest := lines; len(rest) > 0; {
		var name, value string
		if name, value, rest = http2.CutLine(rest); strings.EqualFold(name, "host") {
			b = appendField(b, ":authority", value)
		}
	}
	b = appendField(b, ":path", from.Path)
	for len(lines) > 0 {
		var name, value string
		name, value, lines = http2.CutLine(lines)
		if name = strings.ToLower(name); http2.Sent(name, value) {
			b = appendField(b, name, value)
		}
	}
	size := len(b) - headRoom
	b[0] = typeHeaders
	putVarint4(b[1:headRoom], uint32(size))
	if n := op.BodyLen(); n > 0 {
		b = appendVarint(append(b, typeData), uint64(n))
	}
	op.Head = b
}

// headRoom is the type of the HEADERS frame and its length in four bytes.
const headRoom = 5

// putVarint4 encodes a number below 2^30 in four bytes, as its length is not known beforehand.
func putVarint4(b []byte, n uint32) {
	n |= 2 << 30
	b[0], b[1], b[2], b[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
}
