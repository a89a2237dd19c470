package amqp

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
)

const (
	depthMost  = 16  // of tables in tables
	fieldsMost = 256 // of a table that is kept
)

// reader reads what a table has. Once it is broken it returns nothing more.
type reader struct {
	b      []byte
	broken bool
}

// take takes so many bytes.
func (r *reader) take(n uint64) []byte {
	if r.broken || uint64(len(r.b)) < n {
		r.broken = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// number takes a number of so many bytes.
func (r *reader) number(size int) uint64 {
	b := r.take(uint64(size))
	if r.broken {
		return 0
	}
	return number(b, size)
}

// short takes a short text, and long a long one.
func (r *reader) short() []byte { return r.take(r.number(1)) }
func (r *reader) long() []byte  { return r.take(r.number(4)) }

// value takes a value of a table with its kind, and appends its text if keeps; false: it is none.
func (r *reader) value(dst []byte, keeps, inside bool, depth int) ([]byte, bool) {
	kind := r.number(1)
	if r.broken {
		return dst, false
	}
	switch kind {
	case 'S', 'x':
		text := r.long()
		if keeps && inside {
			quoted, _ := json.Marshal(string(text)) // a text has a form
			return append(dst, quoted...), !r.broken
		}
		if keeps {
			dst = append(dst, text...)
		}
		return dst, !r.broken
	case 'F', 'A':
		nested := reader{b: r.long(), broken: r.broken}
		return nested.nested(dst, keeps, kind == 'F', depth+1)
	}
	return r.scalar(dst, byte(kind), keeps)
}

// scalar takes a value that is no text and has no others in it.
func (r *reader) scalar(dst []byte, kind byte, keeps bool) ([]byte, bool) {
	var room [40]byte
	text := room[:0]
	switch kind {
	case 't':
		text = strconv.AppendBool(text, r.number(1) != 0)
	case 'b':
		text = strconv.AppendInt(text, int64(int8(r.number(1))), 10)
	case 'B':
		text = strconv.AppendUint(text, r.number(1), 10)
	case 's':
		text = strconv.AppendInt(text, int64(int16(r.number(2))), 10)
	case 'u':
		text = strconv.AppendUint(text, r.number(2), 10)
	case 'I':
		text = strconv.AppendInt(text, int64(int32(r.number(4))), 10)
	case 'i':
		text = strconv.AppendUint(text, r.number(4), 10)
	case 'l':
		text = strconv.AppendInt(text, int64(r.number(8)), 10)
	case 'T':
		text = strconv.AppendUint(text, r.number(8), 10)
	case 'f':
		text = appendFloat(text, float64(math.Float32frombits(uint32(r.number(4)))))
	case 'd':
		text = appendFloat(text, math.Float64frombits(r.number(8)))
	case 'D':
		scale := r.number(1)
		text = append(strconv.AppendInt(text, int64(int32(r.number(4))), 10), "e-"...)
		text = strconv.AppendUint(text, scale, 10)
	case 'V':
		text = append(text, "null"...)
	default:
		return dst, false
	}
	if keeps {
		dst = append(dst, text...)
	}
	return dst, !r.broken
}

// appendFloat appends a float as JSON has it; JSON has no infinity.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// nested takes all that a table or a list has, and appends it as JSON if keeps.
func (r *reader) nested(dst []byte, keeps, named bool, depth int) ([]byte, bool) {
	if r.broken || depth > depthMost {
		return dst, false
	}
	ends := byte(']')
	if opens := byte('['); keeps {
		if named {
			opens, ends = '{', '}'
		}
		dst = append(dst, opens)
	}
	for first := true; len(r.b) > 0; first = false {
		if keeps && !first {
			dst = append(dst, ',')
		}
		if named {
			name := r.short()
			if keeps {
				quoted, _ := json.Marshal(string(name)) // a text has a form
				dst = append(append(dst, quoted...), ':')
			}
		}
		var ok bool
		if dst, ok = r.value(dst, keeps, true, depth); !ok {
			return dst, false
		}
	}
	if keeps {
		dst = append(dst, ends)
	}
	return dst, true
}

// readTable reads a table: its fields if keeps. False: it is none.
func readTable(b []byte, into Fields, keeps reads) (Fields, bool) {
	r := reader{b: b}
	for n := 0; len(r.b) > 0; n++ {
		name := r.short()
		value, ok := r.value(nil, keeps.has(name), false, 0)
		if !ok || n == fieldsMost {
			return into, false
		}
		if keeps.has(name) {
			into = append(into, field{name, value})
		}
	}
	return into, true
}

// Argument is a named value of a table that goes out: a text, a number or a bool.
type Argument struct {
	Name  string // at most 255 bytes
	Value any    // string, int64 or bool
}

// appendTable appends the fields of a table, without its length.
func appendTable(dst []byte, all []Argument) []byte {
	for _, a := range all {
		dst = appendShort(dst, a.Name)
		switch v := a.Value.(type) {
		case string:
			dst = appendLong(append(dst, 'S'), v)
		case int64:
			dst = binary.BigEndian.AppendUint64(append(dst, 'l'), uint64(v))
		case bool:
			dst = append(dst, 't', 0)
			if v {
				dst[len(dst)-1] = 1
			}
		}
	}
	return dst
}
