package reply

import "bytes"

// Part is a piece of an argument: text, or the place of a value.
type Part struct {
	Text  string
	Value int // index of the value; below 0: it is Text
}

// Argument is what its parts make together.
type Argument []Part

// Plain returns an argument without values.
func Plain(s string) Argument {
	if s == "" {
		return nil
	}
	return Argument{{Text: s, Value: -1}}
}

// Open reports whether a value stands in the argument.
func (a Argument) Open() bool {
	for i := range a {
		if a[i].Value >= 0 {
			return true
		}
	}
	return false
}

// Fill appends the argument with its values.
func (a Argument) Fill(dst []byte, values [][]byte) []byte {
	for i := range a {
		if dst = append(dst, a[i].Text...); a[i].Value >= 0 {
			dst = append(dst, values[a[i].Value]...)
		}
	}
	return dst
}

// Breaks reports whether a filled argument has a byte that ends a command, or that no command carries.
func Breaks(b []byte) bool {
	return bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0 || bytes.IndexByte(b, 0) >= 0
}
