package postgres

import (
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"

	"hyperscale/runtime/protocol/http1"
)

// show appends a row that is checked to the view.
func (c *Conn) show(b []byte) *http1.Error {
	in := &c.in
	if in.table == nil || in.columns != len(in.table.columns) {
		return errOrder('D') // NoData promised none
	}
	view := in.view
	if len(view) > 1 {
		view = append(view, ',')
	}
	view = append(view, '{')
	b = b[2:]
	start := 0
	for i, k := range in.table.columns {
		if i > 0 {
			view = append(view, ',')
		}
		view = append(view, in.table.names[start:k.end]...)
		start = k.end
		length := int32(binary.BigEndian.Uint32(b))
		if b = b[4:]; length < 0 {
			view = append(view, "null"...)
			continue
		}
		view = appendValue(view, b[:length], k.format)
		b = b[length:]
	}
	if in.view = append(view, '}'); int64(len(in.view)) > in.most {
		return errLarge(in.most)
	}
	return nil
}

// appendValue appends a value as JSON. What is not of its format is a text.
func appendValue(dst, b []byte, f format) []byte {
	switch {
	case f == formatNumber && isNumber(b), f == formatJSON && utf8.Valid(b) && json.Valid(b):
		return append(dst, b...)
	case f == formatBool && string(b) == "t":
		return append(dst, "true"...)
	case f == formatBool && string(b) == "f":
		return append(dst, "false"...)
	}
	return appendQuoted(dst, b)
}

// isNumber reports whether JSON has the number as it stands: NaN and Infinity it has not.
func isNumber(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	whole, rest := digits(b)
	if whole == 0 || whole > 1 && b[0] == '0' {
		return false
	}
	if len(rest) > 0 && rest[0] == '.' {
		var n int
		if n, rest = digits(rest[1:]); n == 0 {
			return false
		}
	}
	if len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') {
		if rest = rest[1:]; len(rest) > 0 && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		var n int
		if n, rest = digits(rest); n == 0 {
			return false
		}
	}
	return len(rest) == 0
}

// digits counts the digits at the beginning of b.
func digits(b []byte) (n int, rest []byte) {
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n, b[n:]
}

// appendQuoted appends a text as JSON. Bytes that are no UTF-8 become U+FFFD.
func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		dst = append(dst, text[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst, i = append(dst, '\\', c), i+1
		case c < ' ':
			dst, i = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf]), i+1
		default:
			r, size := utf8.DecodeRune(text[i:])
			dst, i = utf8.AppendRune(dst, r), i+size
		}
		from = i
	}
	return append(append(dst, text[from:]...), '"')
}
