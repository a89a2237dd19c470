package kafka

import (
	"encoding/binary"
	"math/bits"
)

// reader reads the fields of an answer. Behind a field that is not whole all others are zero.
type reader struct {
	b   []byte
	bad bool
}

// take returns the next n bytes; nil: they are not there.
func (r *reader) take(n int64) []byte {
	if n < 0 || n > int64(len(r.b)) {
		r.b, r.bad = nil, true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// text reads a string; one that is null is empty.
func (r *reader) text() []byte {
	if n := r.int16(); n >= 0 {
		return r.take(int64(n))
	}
	return nil
}

// bytes reads bytes; those that are null are empty.
func (r *reader) bytes() []byte {
	if n := r.int32(); n >= 0 {
		return r.take(int64(n))
	}
	return nil
}

// list reads how many elements follow, each of at least so many bytes; a list that is null has none.
func (r *reader) list(each int) int {
	n := r.int32()
	if n < 0 {
		return 0
	}
	if int64(n)*int64(each) > int64(len(r.b)) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(n)
}

// appendText appends a string.
func appendText[T string | []byte](dst []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}

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
	return appendText(dst, clientID)
}

// putLength puts in how many bytes follow the four at a place.
func putLength(b []byte, at int) { binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4)) }
