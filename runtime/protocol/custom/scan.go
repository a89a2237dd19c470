package custom

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// object reads the fields of a JSON object, one after the other. Its bytes are known to be JSON.
type object struct {
	b  []byte
	at int
}

// fields begins to read an object; false: the value is none.
func fields(value []byte) (object, bool) {
	if len(value) == 0 || value[0] != '{' {
		return object{}, false
	}
	return object{b: value, at: 1}, true
}

// next returns a field; false: there is no other. A key that is written with escapes is no key of the
// protocol, and keeps them.
func (o *object) next() (key, value []byte, ok bool) {
	o.skip(",")
	if o.b[o.at] != '"' {
		return nil, nil, false
	}
	key = o.value()
	o.skip(":")
	return key[1 : len(key)-1], o.value(), true
}

// skip passes blanks, and one of the bytes in also.
func (o *object) skip(also string) {
	for ; o.at < len(o.b); o.at++ {
		switch c := o.b[o.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case len(also) > 0 && c == also[0]:
			also = ""
		default:
			return
		}
	}
}

// value returns the value that begins here, and goes behind it.
func (o *object) value() []byte {
	begin, depth := o.at, 0
	for o.at < len(o.b) {
		c := o.b[o.at]
		o.at++
		switch c {
		case '"':
			o.text()
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			for o.at < len(o.b) && bytes.IndexByte([]byte(",]} \t\r\n"), o.b[o.at]) < 0 {
				o.at++
			}
		}
		if depth == 0 {
			break
		}
	}
	return o.b[begin:o.at]
}

// text goes behind the end of a text.
func (o *object) text() {
	for {
		i := bytes.IndexAny(o.b[o.at:], `"\`)
		o.at += i + 1
		if o.b[o.at-1] == '"' {
			return
		}
		o.at++ // what a backslash escapes
	}
}

// textOf returns a text; false: the value is none. It is valid until the line is.
func textOf(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner, true
	}
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return nil, false
	}
	return []byte(s), true
}

// wholeMost is the largest whole number that every language's JSON keeps.
const wholeMost = 1 << 53

// whole returns a number that is whole, from 0 to wholeMost; false: the value is none.
func whole(value []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(value), 10, 64)
	return n, err == nil && n <= wholeMost
}

// truth returns true or false; ok: the value is one of them.
func truth(value []byte) (is, ok bool) {
	is = string(value) == "true"
	return is, is || string(value) == "false"
}

// printable reports whether a text is a word or a name that results may show.
func printable(text []byte, most int) bool {
	if len(text) > most {
		return false
	}
	for _, r := range string(text) {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}
