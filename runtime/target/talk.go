package target

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
)

// WebSocket at /ws: each frame goes back as it came, without its mask (RFC 6455). No extension and no
// protocol is chosen.

const (
	talkMost  = 64 << 10 // a longer frame ends the connection
	acceptKey = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

	talkClose = 0x8
	talkPing  = 0x9
	talkPong  = 0xa
)

// upgrade answers a request for WebSocket.
func (s *site) upgrade(c *call, out *output) {
	if c.method != methodGet || c.key == "" {
		s.render(c, out, response{status: 426, kind: typeText, extra: "Upgrade: websocket\r\n", body: "this path speaks WebSocket\n"})
		return
	}
	sum := sha1.Sum([]byte(c.key + acceptKey))
	start := len(out.bytes)
	out.raw("HTTP/1.1 101 Switching Protocols\r\nServer: hyperscale\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ")
	out.raw(base64.StdEncoding.EncodeToString(sum[:]))
	out.raw("\r\n\r\n")
	c.talks = true
	out.count(c, s.stats.epoch, 101, int64(len(out.bytes)-start))
}

// talk answers one frame and returns its size; 0: it is not whole yet.
func (s *session) talk(b []byte, out *output) (used int, v verdict) {
	if len(b) < 2 {
		return 0, wantMore
	}
	n, at := uint64(b[1]&0x7f), 2
	switch {
	case b[1]&0x80 == 0 || b[0]&0x70 != 0:
		return len(b), goodbye(1002, out)
	case n == 126:
		at = 4
	case n == 127:
		at = 10
	}
	if len(b) < at+4 {
		return 0, wantMore
	}
	switch at {
	case 4:
		n = uint64(binary.BigEndian.Uint16(b[2:]))
	case 10:
		n = binary.BigEndian.Uint64(b[2:])
	}
	if n > talkMost {
		return len(b), goodbye(1009, out)
	}
	mask, payload := b[at:at+4], b[at+4:]
	if uint64(len(payload)) < n {
		return 0, wantMore
	}
	first := b[0]
	switch first & 0xf {
	case 0, 1, 2: // data: with its last frame a message is whole
		if first&0x80 != 0 {
			s.site.stats.Messages++
		}
	case talkPing:
		first = first&0xf0 | talkPong
	case talkPong:
		return at + 4 + int(n), wantMore
	}
	switch {
	case n <= 125:
		out.bytes = append(out.bytes, first, byte(n))
	case n <= 0xffff:
		out.bytes = binary.BigEndian.AppendUint16(append(out.bytes, first, 126), uint16(n))
	default:
		out.bytes = binary.BigEndian.AppendUint64(append(out.bytes, first, 127), n)
	}
	start := len(out.bytes)
	out.bytes = append(out.bytes, payload[:n]...)
	for i := range int(n) {
		out.bytes[start+i] ^= mask[i%4]
	}
	if first&0xf == talkClose {
		return len(b), wantLinger
	}
	return at + 4 + int(n), wantMore
}

// goodbye ends the connection with a code.
func goodbye(code uint16, out *output) verdict {
	out.bytes = binary.BigEndian.AppendUint16(append(out.bytes, 0x88, 2), code)
	return wantLinger
}
