package mysql

import (
	"encoding/binary"
	"math"
)

const (
	headLength = 4
	packetMost = 1<<24 - 1 // bytes of one packet; a longer payload goes on in the next one
)

// The first bytes of packets.
const (
	headOK    = 0x00
	headMore  = 0x01 // of an authentication
	headNull  = 0xfb // of a value; of an answer: the server wants a file
	headEnd   = 0xfe
	headError = 0xff
)

// The commands.
const (
	commandQuit    = 0x01
	commandQuery   = 0x03
	commandPing    = 0x0e
	commandPrepare = 0x16
	commandExecute = 0x17
	commandClose   = 0x19
)

// The flags of a status.
const (
	statusTransaction = 1 << 0 // a transaction is open
	statusMore        = 1 << 3 // another result follows
)

// The types of columns and arguments.
const (
	typeDecimal    = 0
	typeTiny       = 1
	typeShort      = 2
	typeLong       = 3
	typeFloat      = 4
	typeDouble     = 5
	typeNull       = 6
	typeTimestamp  = 7
	typeLongLong   = 8
	typeInt24      = 9
	typeDate       = 10
	typeTime       = 11
	typeDatetime   = 12
	typeYear       = 13
	typeVarchar    = 15
	typeBit        = 16
	typeJSON       = 245
	typeNewDecimal = 246
	typeBlob       = 252
	typeVarString  = 253
	typeString     = 254
	typeGeometry   = 255

	flagUnsigned  = 1 << 5
	charsetBinary = 63
)

// begin appends the room of a packet's head.
func begin(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

// seal completes the packet whose head is at start, and cuts it where it is too long for one.
func seal(dst []byte, start int, number byte) []byte {
	for {
		n := len(dst) - start - headLength
		size := min(n, packetMost)
		dst[start], dst[start+1], dst[start+2], dst[start+3] = byte(size), byte(size>>8), byte(size>>16), number
		if n < packetMost {
			return dst
		}
		start += headLength + packetMost
		number++
		dst = append(dst, 0, 0, 0, 0)
		copy(dst[start+headLength:], dst[start:])
	}
}

// appendLength appends a number whose first byte tells its length.
func appendLength(dst []byte, n int) []byte {
	switch {
	case n < headNull:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), uint64(n))
}

// lengthSize is how many bytes follow the first byte of such a number; below 0: it is none.
func lengthSize(first byte) int {
	switch {
	case first < headNull:
		return 0
	case first == 0xfc:
		return 2
	case first == 0xfd:
		return 3
	case first == 0xfe:
		return 8
	}
	return -1
}

// readLength reads such a number.
func readLength(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	size := lengthSize(b[0])
	if size < 0 || len(b) < 1+size {
		return 0, nil, false
	}
	return lengthOf(b[:1+size]), b[1+size:], true
}

// lengthOf is the number that b encodes.
func lengthOf(b []byte) (n uint64) {
	if len(b) == 1 {
		return uint64(b[0])
	}
	for i := len(b) - 1; i > 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}

// readText reads a text behind its length.
func readText(b []byte) (text, rest []byte, ok bool) {
	n, rest, ok := readLength(b)
	if !ok || n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// ended is what the end of a result tells.
type ended struct {
	affected uint64
	status   uint16
}

// readOK reads what follows the first byte of an OK.
func readOK(b []byte) (e ended, ok bool) {
	if e.affected, b, ok = readLength(b); !ok {
		return e, false
	}
	if _, b, ok = readLength(b); !ok || len(b) < 4 { // what an insert numbered last
		return e, false
	}
	e.status = binary.LittleEndian.Uint16(b)
	return e, true
}

// readEnd reads what follows the first byte of an EOF.
func readEnd(b []byte) (e ended, ok bool) {
	if len(b) != 4 {
		return e, false
	}
	e.status = binary.LittleEndian.Uint16(b[2:])
	return e, true
}

func appendFloat64(dst []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}
