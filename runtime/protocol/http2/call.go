package http2

import (
	"bytes"
	"encoding/binary"
	"strings"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Render compiles a request for HTTP/2, in the operation's memory; values of templates and
// literal ones take the same path. The body is shared, not copied. The frames use no dynamic
// table and have stream 0, so one operation serves any number of connections.
func Render(op *codec.Operation, from *http1.Call) {
	*op = codec.Operation{Head: op.Head[:0], Body: from.Bytes[from.HeadLen:], Inserts: from.Inserts, NoBody: from.Method == "HEAD", Open: from.Open}
	lines := from.Bytes[:from.HeadLen]
	_, lines, _ = bytes.Cut(lines, crlf)
	b := append(op.Head, make([]byte, frameHead)...)
	b = appendField(b, ":method", from.Method)
	b = appendField(b, ":scheme", from.Scheme)
	for rest := lines; len(rest) > 0; {
		var name, value string
		if name, value, rest = cutLine(rest); strings.EqualFold(name, "host") {
			b = appendField(b, ":authority", value)
		}
	}
	b = appendField(b, ":path", from.Path)
	for len(lines) > 0 {
		var name, value string
		name, value, lines = cutLine(lines)
		if name = strings.ToLower(name); sent(name, value) {
			b = appendField(b, name, value)
		}
	}
	op.Head = split(b, op.BodyLen() == 0 && !op.Open)
}

var crlf = []byte("\r\n")

// cutLine takes one "name: value" line of a head that http1 rendered; the empty line that
// ends the head has no name.
func cutLine(b []byte) (name, value string, rest []byte) {
	line, rest, _ := bytes.Cut(b, crlf)
	name, value, _ = strings.Cut(string(line), ": ")
	return name, value, rest
}

// sent reports whether a field of HTTP/1.1 goes over HTTP/2 (RFC 9113, 8.2.2).
func sent(name, value string) bool {
	switch name {
	case "", "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings":
		return false
	case "te":
		return value == "trailers"
	}
	return true
}

// splitMost is the largest payload of one frame: what every peer must take, less the byte
// that a connection may put before a block.
const splitMost = frameMost - 1

// split turns room for a frame's head and a header block into frames.
func split(b []byte, ends bool) []byte {
	block := b[frameHead:]
	flags := byte(0)
	if ends {
		flags = flagEndStream
	}
	if len(block) <= splitMost {
		putFrame(b, len(block), typeHeaders, flags|flagEndHeaders, 0)
		return b
	}
	var out []byte
	kind := byte(typeHeaders)
	for len(block) > 0 {
		piece := block[:min(len(block), splitMost)]
		if block = block[len(piece):]; len(block) == 0 {
			flags |= flagEndHeaders
		}
		out = append(appendFrame(out, len(piece), kind, flags, 0), piece...)
		kind, flags = typeContinuation, 0
	}
	return out
}

// appendField encodes a field without the dynamic table. It marks secret values, so that no
// intermediary puts them into a table either.
func appendField(b []byte, name, value string) []byte {
	index := 0
	for i := 1; i < len(staticFields); i++ {
		if staticFields[i].Name != name {
			continue
		}
		if staticFields[i].Value == value {
			return appendInteger(b, 0x80, 7, i)
		}
		if index == 0 {
			index = i
		}
	}
	first := byte(0)
	if name == "authorization" || name == "cookie" || name == "proxy-authorization" {
		first = 0x10
	}
	b = appendInteger(b, first, 4, index)
	if index == 0 {
		b = appendText(b, name)
	}
	return appendText(b, value)
}

func appendText(b []byte, s string) []byte {
	if n := huffmanLen(s); n < len(s) {
		return appendHuffman(appendInteger(b, 0x80, 7, n), s)
	}
	return append(appendInteger(b, 0, 7, len(s)), s...)
}

// appendInteger encodes n behind the high bits of first (RFC 7541, 5.1).
func appendInteger(b []byte, first byte, prefix uint, n int) []byte {
	most := 1<<prefix - 1
	if n < most {
		return append(b, first|byte(n))
	}
	b = append(b, first|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// appendHead writes an operation's frames on a stream. With update the block begins with a
// dynamic table size of 0, which is all that our encoder ever uses.
func appendHead(out, frames []byte, stream uint32, update bool) []byte {
	at := len(out)
	if update {
		n := payloadLen(frames)
		out = appendFrame(out, n+1, frames[3], frames[4], stream)
		out = append(append(out, 0x20), frames[frameHead:]...)
		at += frameHead + 1 + n
	} else {
		out = append(out, frames...)
	}
	for at < len(out) {
		binary.BigEndian.PutUint32(out[at+5:], stream)
		at += frameHead + payloadLen(out[at:])
	}
	return out
}
