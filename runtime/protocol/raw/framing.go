package raw

import (
	"bytes"
	"encoding/binary"
)

// Framing says where an answer ends. The zero value is Nothing.
type Framing struct {
	kind kind
	n    int
	end  []byte
}

type kind uint8

const (
	kindNone kind = iota
	kindUntil
	kindBytes
	kindPrefixed
	kindClosed
)

// Nothing is the framing of an exchange without an answer.
func Nothing() Framing { return Framing{} }

// Until ends an answer before a text, which is no part of it.
func Until(end string) Framing { return Framing{kind: kindUntil, end: []byte(end)} }

// Bytes ends an answer after so many bytes.
func Bytes(n int) Framing { return Framing{kind: kindBytes, n: n} }

// Prefixed ends an answer after as many bytes as a number of 1, 2, 4 or 8 bytes before it says, the
// highest byte first.
func Prefixed(size int) Framing { return Framing{kind: kindPrefixed, n: size} }

// Closed ends an answer with the connection.
func Closed() Framing { return Framing{kind: kindClosed} }

// found says where an answer lies in the bytes that have come.
type found struct {
	from, to uint64 // of the answer
	end      uint64 // behind what ends it
	whole    bool
}

// find looks for the answer in b, of which the first seen bytes were searched before. Without the
// whole answer, to is how much of it is known to come.
func (f *Framing) find(b []byte, seen int) found {
	n := uint64(len(b))
	switch f.kind {
	case kindUntil:
		from := max(0, seen-len(f.end)+1)
		if i := bytes.Index(b[from:], f.end); i >= 0 {
			to := uint64(from + i)
			return found{to: to, end: to + uint64(len(f.end)), whole: true}
		}
		return found{to: uint64(max(0, len(b)-len(f.end)+1))}
	case kindBytes:
		to := uint64(f.n)
		return found{to: to, end: to, whole: n >= to}
	case kindPrefixed:
		size := uint64(f.n)
		if n < size {
			return found{}
		}
		var word [8]byte
		copy(word[8-f.n:], b)
		length := binary.BigEndian.Uint64(word[:])
		if length > 1<<62 { // sums stay numbers
			length = 1 << 62
		}
		return found{from: size, to: size + length, end: size + length, whole: n-size >= length}
	}
	return found{to: n} // its end is the connection's
}
