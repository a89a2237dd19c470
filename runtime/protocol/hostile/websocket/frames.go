package websocket

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"strings"
)

// The first bytes of frames.
const (
	fText       = 0x81
	fBinary     = 0x82
	fTextPart   = 0x01
	fMore       = 0x00
	fLast       = 0x80
	fClose      = 0x88
	fPing       = 0x89
	fPong       = 0x8a
	fDeflated   = 0xc1
	fDeflatedIn = 0x41 // the first fragment
)

// frame is one frame as a server sends it.
func frame(first byte, payload string) string {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return string(b) + payload
}

func text(s string) string { return frame(fText, s) }

// announced is the head of a binary message of so many bytes.
func announced(n uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{fBinary, 127}, n))
}

// closing is a goodbye.
func closing(code uint16, reason string) string {
	return frame(fClose, string(binary.BigEndian.AppendUint16(nil, code))+reason)
}

func many(s string, n int) string { return strings.Repeat(s, n) }

// deflated is a payload as RFC 7692 compresses it.
func deflated(s string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is ours
	}
	_, _ = w.Write([]byte(s)) // a buffer takes all
	_ = w.Flush()
	return strings.TrimSuffix(b.String(), "\x00\x00\xff\xff")
}

// pieces cuts a text into fragments of n bytes, with between among them.
func pieces(first byte, s string, n int, between string) string {
	var b strings.Builder
	first &^= 0x80
	for len(s) > n {
		b.WriteString(frame(first, s[:n]) + between)
		s, first = s[n:], fMore
	}
	b.WriteString(frame(first|0x80, s))
	return b.String()
}
