package bson

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Type is that of a field.
type Type byte

// The types.
const (
	Double    Type = 0x01
	Text      Type = 0x02
	Document  Type = 0x03
	Array     Type = 0x04
	Binary    Type = 0x05
	Undefined Type = 0x06
	ObjectID  Type = 0x07
	Bool      Type = 0x08
	Date      Type = 0x09
	Null      Type = 0x0a
	Regex     Type = 0x0b
	Pointer   Type = 0x0c
	Code      Type = 0x0d
	Symbol    Type = 0x0e
	Scoped    Type = 0x0f // code with a scope
	Int       Type = 0x10
	Timestamp Type = 0x11
	Long      Type = 0x12
	Decimal   Type = 0x13
	MinKey    Type = 0xff
	MaxKey    Type = 0x7f
)

var (
	errShort = errors.New("a document ends before its length says")
	errName  = errors.New("a field's name has no end")
	errValue = errors.New("a value goes beyond its document")
	errText  = errors.New("a text is not UTF-8")
)

func validText(b []byte) bool { return utf8.Valid(b) }

// Element is a field of a document. Its bytes are those of the document.
type Element struct {
	Type  Type
	Name  []byte
	Value []byte
}

// Fields returns the fields that a document begins with, for Next. The length of b is that of the document.
func Fields(b []byte) ([]byte, error) {
	if len(b) < 5 || Length(b) != len(b) || b[len(b)-1] != 0 {
		return nil, errShort
	}
	return b[4 : len(b)-1], nil
}

// Length returns how long the document says it is that b begins with; below 0: b is too short to say so, or it
// says nonsense.
func Length(b []byte) int {
	if len(b) < 4 {
		return -1
	}
	n := int32(binary.LittleEndian.Uint32(b))
	if n < 5 {
		return -1
	}
	return int(n)
}

// Next returns the next field, and what follows it.
func Next(b []byte) (e Element, rest []byte, err error) {
	e.Type = Type(b[0])
	end := bytes.IndexByte(b[1:], 0)
	if end < 0 {
		return e, nil, errName
	}
	e.Name, b = b[1:1+end], b[2+end:]
	n, err := size(e.Type, b)
	if err != nil {
		return e, nil, err
	}
	if n < 0 || n > len(b) {
		return e, nil, errValue
	}
	e.Value = b[:n]
	return e, b[n:], nil
}

// size returns how many bytes a value takes that b begins with; below 0, or beyond b: it is cut.
func size(t Type, b []byte) (int, error) {
	switch t {
	case Undefined, Null, MinKey, MaxKey:
		return 0, nil
	case Bool:
		return 1, nil
	case Int:
		return 4, nil
	case Double, Date, Timestamp, Long:
		return 8, nil
	case ObjectID:
		return idLength, nil
	case Decimal:
		return 16, nil
	case Regex:
		pattern := bytes.IndexByte(b, 0)
		if pattern < 0 {
			return -1, nil
		}
		options := bytes.IndexByte(b[pattern+1:], 0)
		if options < 0 {
			return -1, nil
		}
		return pattern + options + 2, nil
	}
	if len(b) < 4 {
		return -1, nil
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	switch t {
	case Text, Code, Symbol:
		return sized(n, 1, 4), nil
	case Pointer:
		return sized(n, 1, 4+idLength), nil
	case Binary:
		return sized(n, 0, 5), nil
	case Document, Array:
		return sized(n, 5, 0), nil
	case Scoped:
		return sized(n, 4+5+5, 0), nil
	}
	return 0, fmt.Errorf("a field has type %#02x, which there is not", byte(t))
}

// sized returns n and what stands beside it; -1: n is less than it can be.
func sized(n, least, beside int) int {
	if n < least {
		return -1
	}
	return n + beside
}

// Check reports what is wrong with a document; nil: it is whole, and so is all in it.
func Check(b []byte) error { return check(b, 0) }

func check(b []byte, depth int) error {
	if depth == DepthMost {
		return errDeep
	}
	rest, err := Fields(b)
	if err != nil {
		return err
	}
	for len(rest) > 0 {
		var e Element
		if e, rest, err = Next(rest); err != nil {
			return err
		}
		if err = e.check(depth); err != nil {
			return err
		}
	}
	return nil
}

// check checks what stands in a value.
func (e *Element) check(depth int) error {
	switch v := e.Value; e.Type {
	case Text, Code, Symbol:
		if v[len(v)-1] != 0 {
			return errors.New("a text has no end")
		}
	case Pointer:
		if v[len(v)-idLength-1] != 0 {
			return errors.New("a text has no end")
		}
	case Bool:
		if v[0] > 1 {
			return errors.New("a truth is neither 0 nor 1")
		}
	case Binary:
		if v[4] == binaryOld && (len(v) < 9 || int(int32(binary.LittleEndian.Uint32(v[5:]))) != len(v)-9) {
			return errors.New("a binary value of the old kind has two lengths that differ")
		}
	case Document, Array:
		return check(v, depth+1)
	case Scoped:
		n := int(int32(binary.LittleEndian.Uint32(v[4:])))
		if n < 1 || n > len(v)-8-5 || v[8+n-1] != 0 {
			return errValue
		}
		return check(v[8+n:], depth+1)
	}
	return nil
}

// Text returns a text's bytes, without its length and its end.
func (e *Element) Text() []byte {
	if e.Type != Text || len(e.Value) < 5 {
		return nil
	}
	return e.Value[4 : len(e.Value)-1]
}

// Whole returns a number that has no fraction, or a truth; false: it is none.
func (e *Element) Whole() (int64, bool) {
	switch e.Type {
	case Int:
		return int64(int32(binary.LittleEndian.Uint32(e.Value))), true
	case Long:
		return int64(binary.LittleEndian.Uint64(e.Value)), true
	case Double:
		f := doubleOf(e.Value)
		if n := int64(f); f >= -1<<53 && f <= 1<<53 && float64(n) == f {
			return n, true
		}
	case Bool:
		return int64(e.Value[0]), true
	}
	return 0, false
}
