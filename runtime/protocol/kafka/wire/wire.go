package wire

import "encoding/binary"

// Reader reads the fields of an answer. Behind a field that is not whole all others are zero.
type Reader struct {
	B   []byte
	Bad bool // a field was not whole
}

// Take returns the next n bytes; nil: they are not there.
func (r *Reader) Take(n int64) []byte {
	if n < 0 || n > int64(len(r.B)) {
		r.B, r.Bad = nil, true
		return nil
	}
	out := r.B[:n:n]
	r.B = r.B[n:]
	return out
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Int16 reads a number of two bytes.
func (r *Reader) Int16() int16 {
	if b := r.Take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

// Int32 reads one of four.
func (r *Reader) Int32() int32 {
	if b := r.Take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Int64 reads one of eight.
func (r *Reader) Int64() int64 {
	if b := r.Take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Text reads a string; one that is null is empty.
func (r *Reader) Text() []byte {
	if n := r.Int16(); n >= 0 {
		return r.Take(int64(n))
	}
	return nil
}

// Bytes reads bytes; those that are null are empty.
// Byte reads a byte.
func (r *Reader) Bytes() []byte {
	if n := r.Int32(); n >= 0 {
		return r.Take(int64(n))
	}
	return nil
}

// List reads how many elements follow, each of at least so many bytes; a list that is null has none.
func (r *Reader) List(each int) int {
	n := r.Int32()
	if n < 0 {
		return 0
	}
	if int64(n)*int64(each) > int64(len(r.B)) {
		r.B, r.Bad = nil, true
		return 0
	}
	return int(n)
}

// AppendText appends a string.
func AppendText[T string | []byte](dst []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}
