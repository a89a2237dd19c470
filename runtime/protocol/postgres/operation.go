package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Part is a piece of an argument: text, or the place of a value.
type Part struct {
	Text  string
	Value int // index of the value; below 0: it is Text
}

// Argument is what its parts make together. Nil is NULL.
type Argument []Part

// Text returns an argument without values.
func Text(s string) Argument { return Argument{{Text: s, Value: -1}} }

// Statement is a statement of SQL with what stands for $1 and so on.
type Statement struct {
	Text string
	Args []Argument
}

// Operation is one statement or several, compiled before the clock runs. It refers to no connection
// and does not change.
type Operation struct {
	mode  Mode
	whole bool // its statements are one transaction
	takes bool // it copies rows to the server
	gives bool // it copies rows from the server
	each  []statement
	ready [2][]byte // all of it: without and with the description of rows; nil: it depends
}

// statement is a statement with the messages that do not change.
type statement struct {
	text  string
	id    uint64 // of the prepared statement
	parse []byte
	bind  []byte // whole, or what stands before its values
	args  []Argument
	open  bool // a value stands in an argument
}

var (
	describe = []byte("D\x00\x00\x00\x06P\x00")
	execute  = []byte("E\x00\x00\x00\x09\x00\x00\x00\x00\x00")
	syncs    = []byte("S\x00\x00\x00\x04")
	leaves   = []byte("X\x00\x00\x00\x04")
	copied   = []byte("c\x00\x00\x00\x04")
)

// Compile makes an operation of statements, at least one. Whole: they are one transaction. Texts and
// arguments have no NUL in them, and a simple statement has no arguments.
func Compile(mode Mode, statements []Statement, whole bool) *Operation {
	o := &Operation{mode: mode, whole: whole}
	for _, s := range statements {
		o.each = append(o.each, compile(mode, s))
	}
	if mode == ModeSimple {
		b := o.appendSimple(nil)
		o.ready = [2][]byte{b, b}
		return o
	}
	if !slices.ContainsFunc(o.each, func(s statement) bool { return s.open }) {
		for i := range o.ready {
			for k := range o.each {
				if mode == ModeUnnamed {
					o.ready[i] = append(o.ready[i], o.each[k].parse...)
				}
				o.ready[i] = o.appendUse(o.ready[i], k, nil, i == 1)
			}
		}
	}
	return o
}

const copiedMost = 64 << 10 // bytes of one message

// Copy makes an operation of a statement that copies: rows to the server, or, if they are nil, from it.
// The rows go out in the write that asks, as the server drops those that it does not want.
func Copy(text string, rows []byte) *Operation {
	o := &Operation{mode: ModeSimple, takes: rows != nil, gives: rows == nil, each: []statement{compile(ModeSimple, Statement{Text: text})}}
	b := o.appendSimple(nil)
	for rest := rows; len(rest) > 0; {
		n := min(len(rest), copiedMost)
		b = append(binary.BigEndian.AppendUint32(append(b, 'd'), uint32(4+n)), rest[:n]...)
		rest = rest[n:]
	}
	if o.takes {
		b = append(b, copied...)
	}
	o.ready = [2][]byte{b, b}
	return o
}

func compile(mode Mode, of Statement) statement {
	s := statement{text: of.Text, args: of.Args}
	name := ""
	if mode == ModePrepared {
		sum := sha256.Sum256([]byte(of.Text))
		s.id = binary.BigEndian.Uint64(sum[:])
		name = nameOf(s.id)
	}
	s.parse = appendMessage(nil, 'P', name+"\x00"+of.Text+"\x00\x00\x00")
	s.bind = append([]byte("B\x00\x00\x00\x00\x00"), name+"\x00\x00\x00"...)
	s.bind = binary.BigEndian.AppendUint16(s.bind, uint16(len(of.Args)))
	s.open = slices.ContainsFunc(of.Args, func(a Argument) bool {
		return slices.ContainsFunc(a, func(p Part) bool { return p.Value >= 0 })
	})
	if !s.open {
		s.bind = s.appendBind(nil, nil)
	}
	return s
}

// nameOf names a prepared statement by its text, so that another client behind the same pooler cannot
// have another statement under the name.
func nameOf(id uint64) string { return fmt.Sprintf("h%016x", id) }

// appendMessage appends a message with its length.
func appendMessage(dst []byte, kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32(append(dst, kind), uint32(4+len(body))), body...)
}

// appendClose appends the message that forgets a prepared statement.
func appendClose(dst []byte, id uint64) []byte {
	return appendMessage(dst, 'C', "S"+nameOf(id)+"\x00")
}

// appendBind appends a Bind with its values.
func (s *statement) appendBind(dst []byte, values [][]byte) []byte {
	start := len(dst)
	dst = append(dst, s.bind...)
	for _, a := range s.args {
		if a == nil {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		for _, p := range a {
			if dst = append(dst, p.Text...); p.Value >= 0 {
				dst = append(dst, values[p.Value]...)
			}
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	dst = append(dst, 0, 0) // rows come as texts
	binary.BigEndian.PutUint32(dst[start+1:], uint32(len(dst)-start-1))
	return dst
}

// appendUse appends what uses a statement that is parsed, and ends the transaction where it ends.
func (o *Operation) appendUse(dst []byte, k int, values [][]byte, described bool) []byte {
	s := &o.each[k]
	if s.open {
		dst = s.appendBind(dst, values)
	} else {
		dst = append(dst, s.bind...)
	}
	if described {
		dst = append(dst, describe...)
	}
	dst = append(dst, execute...)
	if !o.whole || k == len(o.each)-1 {
		dst = append(dst, syncs...)
	}
	return dst
}

// appendSimple appends simple statements: those of a transaction are one text.
func (o *Operation) appendSimple(dst []byte) []byte {
	text := ""
	for k := range o.each {
		text += o.each[k].text
		if o.whole && k < len(o.each)-1 {
			text += "\n;\n" // the text before may end in a comment
			continue
		}
		dst, text = appendMessage(dst, 'Q', text+"\x00"), ""
	}
	return dst
}

// Statements is how many it has.
func (o *Operation) Statements() int { return len(o.each) }

// Text returns the text of a statement.
func (o *Operation) Text(k int) string { return o.each[k].text }
