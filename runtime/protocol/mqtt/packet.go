package mqtt

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"hyperscale/runtime/protocol/http1"
)

// packetType is the high half of a packet's first byte.
type packetType uint8

const (
	packetConnect packetType = iota + 1
	packetConnack
	packetPublish
	packetPuback
	packetPubrec
	packetPubrel
	packetPubcomp
	packetSubscribe
	packetSuback
	packetUnsubscribe
	packetUnsuback
	packetPingreq
	packetPingresp
	packetDisconnect
	packetAuth
)

func (t packetType) String() string {
	return [...]string{"0", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP", "SUBSCRIBE", "SUBACK", "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH"}[t&15]
}

// The flags of PUBLISH, and those that PUBREL, SUBSCRIBE and UNSUBSCRIBE have.
const (
	flagRetain   = 0x01
	flagAgain    = 0x08
	flagReserved = 0x02
	qosShift     = 1
)

// lengthMost is what a packet's length can say.
const lengthMost = 1<<28 - 1

// packet is a whole one that came, or as much as its first bytes say.
type packet struct {
	kind  packetType
	flags byte
	size  int // of what follows its first bytes
	body  []byte
}

// readHead reads a packet's first bytes; used is 0 if they are not whole.
func readHead(b []byte) (p packet, used int, err *http1.Error) {
	if len(b) == 0 {
		return p, 0, nil
	}
	p.kind, p.flags = packetType(b[0]>>4), b[0]&15
	for i := 1; i < len(b); i++ {
		p.size |= int(b[i]&0x7f) << (7 * (i - 1))
		switch {
		case b[i] < 0x80 && b[i] == 0 && i > 1:
			return p, 0, errLength // a shorter form says the same
		case b[i] < 0x80:
			return p, i + 1, nil
		case i == 4:
			return p, 0, errLength
		}
	}
	return p, 0, nil
}

func lengthOf(n int) int {
	switch {
	case n < 1<<7:
		return 1
	case n < 1<<14:
		return 2
	case n < 1<<21:
		return 3
	}
	return 4
}

func appendLength(dst []byte, n int) []byte {
	for n >= 0x80 {
		dst = append(dst, byte(n)|0x80)
		n >>= 7
	}
	return append(dst, byte(n))
}

func append16(dst []byte, n uint16) []byte { return binary.BigEndian.AppendUint16(dst, n) }
func append32(dst []byte, n uint32) []byte { return binary.BigEndian.AppendUint32(dst, n) }

func appendText[T string | []byte](dst []byte, s T) []byte {
	return append(append16(dst, uint16(len(s))), s...)
}

// appendAck appends a packet that names an identifier alone.
func appendAck(dst []byte, kind packetType, flags byte, id uint16) []byte {
	return append16(append(dst, byte(kind)<<4|flags, 2), id)
}

// unwritable says why a text cannot travel; empty: it can.
func unwritable(s string) string {
	switch {
	case len(s) > textMost:
		return "is longer than 65535 bytes"
	case !utf8.ValidString(s):
		return "is not UTF-8"
	case strings.IndexByte(s, 0) >= 0:
		return "has a zero in it"
	}
	return ""
}

// cutText cuts a text off; false: it is not whole.
func cutText(b []byte) (text, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	n := int(b[0])<<8 | int(b[1])
	if len(b) < 2+n {
		return nil, nil, false
	}
	return b[2 : 2+n], b[2+n:], true
}

// cut16 cuts a number off; false: it is not whole.
func cut16(b []byte) (n uint16, rest []byte, ok bool) {
	if len(b) < 2 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint16(b), b[2:], true
}
