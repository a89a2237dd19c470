package http3

import "encoding/binary"

// Types of frames (RFC 9114, 7.2).
const (
	typeData        = 0x0
	typeHeaders     = 0x1
	typeCancelPush  = 0x3
	typeSettings    = 0x4
	typePushPromise = 0x5
	typeGoaway      = 0x7
	typeMaxPushID   = 0xd
)

// isHTTP2 reports a type that HTTP/2 had and HTTP/3 forbids.
func isHTTP2(kind uint64) bool { return kind == 0x2 || kind == 0x6 || kind == 0x8 || kind == 0x9 }

// appendVarint encodes a number below 2^62 (RFC 9000, 16).
func appendVarint(b []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(b, byte(n))
	case n < 1<<14:
		return binary.BigEndian.AppendUint16(b, uint16(n)|1<<14)
	case n < 1<<30:
		return binary.BigEndian.AppendUint32(b, uint32(n)|2<<30)
	}
	return binary.BigEndian.AppendUint64(b, n|3<<62)
}

// varint reads a number; size 0: more bytes are needed.
func varint(b []byte) (n uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	if size = 1 << (b[0] >> 6); len(b) < size {
		return 0, 0
	}
	n = uint64(b[0] & 0x3f)
	for _, c := range b[1:size] {
		n = n<<8 | uint64(c)
	}
	return n, size
}

// frames cuts the bytes of a stream into frames, however they are cut themselves.
type frames struct {
	half [16]byte // of the frame's head
	have uint8    // bytes of half
	open bool     // a frame's payload follows
	kind uint64
	left uint64 // of the payload
}

// head takes bytes of a frame's head, and reports whether it is whole.
func (f *frames) head(b []byte) (rest []byte, whole bool) {
	for len(b) > 0 {
		f.half[f.have] = b[0]
		f.have++
		b = b[1:]
		kind, size := varint(f.half[:f.have])
		if size == 0 {
			continue
		}
		if left, more := varint(f.half[size:f.have]); more > 0 {
			f.kind, f.left, f.open = kind, left, true
			return b, true
		}
	}
	return nil, false
}

// size is that of the last head, in bytes.
func (f *frames) size() int { return int(f.have) }

// take takes bytes of the payload, and reports whether it ends with them.
func (f *frames) take(b []byte) (piece, rest []byte, last bool) {
	piece = b[:min(uint64(len(b)), f.left)]
	f.left -= uint64(len(piece))
	if last = f.left == 0; last {
		f.open, f.have = false, 0
	}
	return piece, b[len(piece):], last
}

// between reports that no frame is under way.
func (f *frames) between() bool { return !f.open && f.have == 0 }
