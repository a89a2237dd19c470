package kafka

import (
	"encoding/binary"
	"math/bits"

	"hyperscale/runtime/protocol/kafka/wire"
)

// appendSize appends a length as a record has it: of zigzag, in groups of seven bits.
func appendSize(dst []byte, n int) []byte { return binary.AppendVarint(dst, int64(n)) }

// sizeLen is how many bytes appendSize appends.
func sizeLen(n int) int {
	zigzag := uint64(n) << 1
	if n < 0 {
		zigzag = ^zigzag
	}
	return (bits.Len64(zigzag|1) + 6) / 7
}

// appendHead begins a request. Its length is put in by putLength.
func appendHead(dst []byte, a api, version int16, number int32) []byte {
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(a))
	dst = binary.BigEndian.AppendUint16(dst, uint16(version))
	dst = binary.BigEndian.AppendUint32(dst, uint32(number))
	return wire.AppendText(dst, clientID)
}

// putLength puts in how many bytes follow the four at a place.
func putLength(b []byte, at int) { binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4)) }
