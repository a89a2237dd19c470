package redis

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Part is a piece of an argument: text, or the place of a value.
type Part struct {
	Text  string
	Value int // index of the value; below 0: it is Text
}

// Argument is what its parts make together.
type Argument []Part

// Text returns an argument without values.
func Text(s string) Argument { return Argument{{Text: s, Value: -1}} }

// Command is the command's name with its arguments.
type Command []Argument

// Operation is a command or a pipeline, compiled before the clock runs. It refers to no connection
// and does not change.
type Operation struct {
	pieces []piece
	each   []expected // one a command
	hits   bool       // some of each counts hits
	list   bool       // its answers are a list
	secret string     // what no error of it shows; empty: there is none
}

// piece is bytes, or an argument with values in it.
type piece struct {
	bytes    []byte
	argument Argument // nil: it is bytes
}

// expected is what is known of a command whose answer will come.
type expected struct {
	name  string
	reads reads
}

// reads says what of an answer tells a hit from a miss.
type reads uint8

const (
	readsNothing  reads = iota
	readsValue          // null is a miss
	readsElements       // of a list: each null is a miss
)

// readers are the commands that read keys or fields and answer null for one that is missing.
var readers = map[string]reads{
	"GET": readsValue, "GETDEL": readsValue, "GETEX": readsValue, "HGET": readsValue, "LINDEX": readsValue, "ZSCORE": readsValue,
	"MGET": readsElements, "HMGET": readsElements, "ZMSCORE": readsElements,
}

// Pipeline makes an operation of commands whose answers are a list, also if it is one command.
func Pipeline(commands []Command) *Operation {
	o := Compile(commands)
	o.list = true
	return o
}

// Compile makes an operation of commands; none of them is empty.
func Compile(commands []Command) *Operation {
	o := &Operation{list: len(commands) > 1}
	var plain []byte
	flush := func() {
		if len(plain) > 0 {
			o.pieces = append(o.pieces, piece{bytes: plain})
			plain = nil
		}
	}
	for _, c := range commands {
		name := strings.ToUpper(c[0].text())
		o.each = append(o.each, expected{name, readers[name]})
		o.hits = o.hits || readers[name] != readsNothing
		plain = appendHead(plain, '*', len(c))
		for _, a := range c {
			if a.open() {
				flush()
				o.pieces = append(o.pieces, piece{argument: a})
				continue
			}
			text := a.text()
			plain = append(append(appendHead(plain, '$', len(text)), text...), "\r\n"...)
		}
	}
	flush()
	return o
}

// open reports whether a value stands in the argument.
func (a Argument) open() bool {
	return slices.ContainsFunc(a, func(p Part) bool { return p.Value >= 0 })
}

func (a Argument) text() string {
	var b strings.Builder
	for _, p := range a {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Commands is how many commands it has.
func (o *Operation) Commands() int { return len(o.each) }

// ready returns the bytes of an operation without values; nil: it has some.
func (o *Operation) ready() []byte {
	if len(o.pieces) == 1 {
		return o.pieces[0].bytes
	}
	return nil
}

// Append appends the operation's bytes with its values.
func (o *Operation) Append(dst []byte, values [][]byte) []byte {
	for i := range o.pieces {
		p := &o.pieces[i]
		if p.argument == nil {
			dst = append(dst, p.bytes...)
			continue
		}
		n := 0
		for _, part := range p.argument {
			if n += len(part.Text); part.Value >= 0 {
				n += len(values[part.Value])
			}
		}
		dst = appendHead(dst, '$', n)
		for _, part := range p.argument {
			if dst = append(dst, part.Text...); part.Value >= 0 {
				dst = append(dst, values[part.Value]...)
			}
		}
		dst = append(dst, "\r\n"...)
	}
	return dst
}

// appendHead appends a type with a length.
func appendHead(dst []byte, kind byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, kind), int64(n), 10), "\r\n"...)
}

// cutCommand returns the arguments of the first command of b, as this package writes them, and
// what follows it; false: it is not whole.
func cutCommand(b []byte, arguments [][]byte) (all [][]byte, rest []byte, whole bool) {
	n, b, ok := cutHead(b, '*')
	for ; ok && n > 0; n-- {
		var size int
		if size, b, ok = cutHead(b, '$'); !ok || size > len(b)-2 || string(b[size:size+2]) != "\r\n" {
			return arguments, nil, false
		}
		arguments = append(arguments, b[:size])
		b = b[size+2:]
	}
	return arguments, b, ok
}

func cutHead(b []byte, kind byte) (n int, rest []byte, ok bool) {
	line, rest, found := bytes.Cut(b, []byte("\r\n"))
	if !found || len(line) < 2 || line[0] != kind {
		return 0, nil, false
	}
	count, err := strconv.ParseUint(string(line[1:]), 10, 31)
	return int(count), rest, err == nil
}

// countCommands returns how many whole commands b begins with.
func countCommands(b []byte) (n int, rest []byte) {
	var memory [8][]byte
	for len(b) > 0 {
		_, behind, whole := cutCommand(b, memory[:0])
		if !whole {
			break
		}
		n, b = n+1, behind
	}
	return n, b
}
