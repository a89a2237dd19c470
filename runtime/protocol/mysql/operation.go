package mysql

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
)

// Part is a piece of an argument: text, or the place of a value.
type Part struct {
	Text  string
	Value int // index of the value; below 0: it is Text
}

// Kind says what an argument is for the server.
type Kind uint8

// The kinds. Parts are a text in all of them.
const (
	KindText Kind = iota
	KindNull
	KindBytes
	KindInteger
	KindFloat
)

// Argument is what its parts make together.
type Argument struct {
	Kind  Kind
	Parts []Part
}

// Text returns an argument without values.
func Text(s string) Argument { return Argument{Parts: []Part{{Text: s, Value: -1}}} }

// Statement is a statement of SQL with what stands for each question mark.
type Statement struct {
	Text string
	Args []Argument
}

// Operation is one statement or several, compiled before the clock runs. It refers to no connection
// and does not change.
type Operation struct {
	mode  Mode
	whole bool // its statements are one transaction
	each  []statement
}

// statement is a statement with the packets that do not change.
type statement struct {
	text    string
	id      uint64 // of its text
	ask     []byte // what prepares it; simple: what asks it
	execute []byte // whole but for the statement's number, or nil: values stand in it
	args    []Argument
}

// Compile makes an operation of statements, at least one. Whole: they are one transaction. A simple
// statement has no arguments.
func Compile(mode Mode, statements []Statement, whole bool) *Operation {
	o := &Operation{mode: mode, whole: whole}
	for _, of := range statements {
		s := statement{text: of.Text, args: of.Args}
		sum := sha256.Sum256([]byte(of.Text))
		s.id = binary.BigEndian.Uint64(sum[:])
		if mode == ModeSimple {
			s.ask = appendCommand(nil, commandQuery, of.Text)
		} else {
			s.ask = appendCommand(nil, commandPrepare, of.Text)
			if !slices.ContainsFunc(of.Args, Argument.open) {
				s.execute = s.appendExecute(nil, nil)
			}
		}
		o.each = append(o.each, s)
	}
	return o
}

// open reports that a value stands in an argument.
func (a Argument) open() bool {
	return slices.ContainsFunc(a.Parts, func(p Part) bool { return p.Value >= 0 })
}

// Statements is how many it has.
func (o *Operation) Statements() int { return len(o.each) }

// Text returns the text of a statement.
func (o *Operation) Text(k int) string { return o.each[k].text }

// appendCommand appends a command with its text.
func appendCommand(dst []byte, command byte, text string) []byte {
	start := len(dst)
	return seal(append(append(begin(dst), command), text...), start, 0)
}

// appendClose appends what makes the server forget a prepared statement.
func appendClose(dst []byte, number uint32) []byte {
	start := len(dst)
	return seal(binary.LittleEndian.AppendUint32(append(begin(dst), commandClose), number), start, 0)
}

// numberAt is where a prepared statement's number stands in what executes it.
const numberAt = headLength + 1

// appendUse appends what executes the statement that the server knows by a number.
func (s *statement) appendUse(dst []byte, number uint32, values [][]byte) []byte {
	start := len(dst)
	if s.execute != nil {
		dst = append(dst, s.execute...)
	} else {
		dst = s.appendExecute(dst, values)
	}
	binary.LittleEndian.PutUint32(dst[start+numberAt:], number)
	return dst
}

// appendExecute appends what executes a statement, with the number 0.
func (s *statement) appendExecute(dst []byte, values [][]byte) []byte {
	start := len(dst)
	dst = append(begin(dst), commandExecute, 0, 0, 0, 0 /* no cursor */, 0 /* once */, 1, 0, 0, 0)
	if n := len(s.args); n > 0 {
		nulls := len(dst)
		for range (n + 7) / 8 {
			dst = append(dst, 0)
		}
		dst = append(dst, 1) // types follow
		for i := range s.args {
			kind, sign := s.args[i].sent()
			if dst = append(dst, kind, sign); kind == typeNull {
				dst[nulls+i/8] |= 1 << (i % 8)
			}
		}
		for i := range s.args {
			dst = s.args[i].append(dst, values)
		}
	}
	return seal(dst, start, 0)
}

// sent says as what type an argument goes out.
func (a *Argument) sent() (kind, sign byte) {
	switch a.Kind {
	case KindNull:
		return typeNull, 0
	case KindBytes:
		return typeBlob, 0
	case KindInteger:
		if _, err := strconv.ParseInt(a.Parts[0].Text, 10, 64); err == nil {
			return typeLongLong, 0
		}
		if _, err := strconv.ParseUint(a.Parts[0].Text, 10, 64); err == nil {
			return typeLongLong, 1 << 7
		}
		return typeNewDecimal, 0
	case KindFloat:
		return typeDouble, 0
	}
	return typeVarString, 0
}

// append appends an argument's value.
func (a *Argument) append(dst []byte, values [][]byte) []byte {
	switch kind, sign := a.sent(); {
	case kind == typeNull:
		return dst
	case kind == typeLongLong && sign == 0:
		n, _ := strconv.ParseInt(a.Parts[0].Text, 10, 64) // sent has read it
		return binary.LittleEndian.AppendUint64(dst, uint64(n))
	case kind == typeLongLong:
		n, _ := strconv.ParseUint(a.Parts[0].Text, 10, 64)
		return binary.LittleEndian.AppendUint64(dst, n)
	case kind == typeDouble:
		f, _ := strconv.ParseFloat(a.Parts[0].Text, 64) // what is none is 0
		return appendFloat64(dst, f)
	}
	size := 0
	for _, p := range a.Parts {
		if size += len(p.Text); p.Value >= 0 {
			size += len(values[p.Value])
		}
	}
	dst = appendLength(dst, size)
	for _, p := range a.Parts {
		if dst = append(dst, p.Text...); p.Value >= 0 {
			dst = append(dst, values[p.Value]...)
		}
	}
	return dst
}
