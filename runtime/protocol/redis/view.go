package redis

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"
)

// shows reports whether the value under way is read.
func (c *Conn) shows() bool {
	return c.in.aside == 0 && c.in.hidden == 0 && len(c.open) > 0 && c.open[0].keeps
}

// isKey reports whether the value under way is a map's key.
func (c *Conn) isKey() bool {
	last := len(c.in.stack) - 1
	return last >= 0 && c.in.stack[last].kind == typeMap && c.in.stack[last].had%2 == 0
}

// separate writes what stands before a value.
func (c *Conn) separate() {
	if !c.shows() {
		return
	}
	if c.view == nil {
		c.view = c.pool.buffer()
	}
	last := len(c.in.stack) - 1
	if last < 0 {
		switch a := c.oldest(); {
		case !a.list:
		case a.done == 0:
			c.view = append(c.view, '[')
		default:
			c.view = append(c.view, ',')
		}
		return
	}
	top := &c.in.stack[last]
	switch {
	case top.kind == typeMap && top.had%2 != 0:
		c.view = append(c.view, ':')
	case top.had > 0:
		c.view = append(c.view, ',')
	}
	top.key = len(c.view)
}

func opening(t byte) byte {
	if t == typeMap {
		return '{'
	}
	return '['
}

func closing(t byte) byte { return opening(t) + 2 }

// quoteKey makes a text of the key that begins there.
func quoteKey(view []byte, at int) []byte {
	if view[at] == '"' {
		return view
	}
	return append(slices.Insert(view, at, '"'), '"')
}

// appendQuoted appends a text in JSON. Bytes that are no UTF-8 become U+FFFD.
func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] >= ' ' && text[n] < utf8.RuneSelf && text[n] != '"' && text[n] != '\\' {
			n++
		}
		if dst, text = append(dst, text[:n]...), text[n:]; len(text) == 0 {
			break
		}
		c := text[0]
		switch {
		case c == '"' || c == '\\':
			dst, text = append(dst, '\\', c), text[1:]
		case c == '\n':
			dst, text = append(dst, `\n`...), text[1:]
		case c < ' ':
			dst, text = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf]), text[1:]
		default:
			r, size := utf8.DecodeRune(text)
			dst, text = utf8.AppendRune(dst, r), text[size:]
		}
	}
	return append(dst, '"')
}

// integer reads an integer of 64 bits.
func integer(b []byte) (int64, bool) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative, b = b[0] == '-', b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	n := uint64(0)
	for _, d := range b {
		if d < '0' || d > '9' || n > (math.MaxUint64-9)/10 {
			return 0, false
		}
		n = 10*n + uint64(d-'0')
	}
	switch {
	case negative && n <= 1<<63:
		return -int64(n), true
	case !negative && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}

// appendNumber appends a number as JSON writes it; what is not finite is a text.
func appendNumber(dst, b []byte, fraction bool) ([]byte, bool) {
	if fraction {
		switch string(b) {
		case "inf", "-inf", "nan":
			return append(append(append(dst, '"'), b...), '"'), true
		}
	}
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			dst = append(dst, '-')
		}
		b = b[1:]
	}
	whole, rest := digits(b)
	if len(whole) == 0 {
		return dst, false
	}
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		whole = []byte("0")
	}
	dst = append(dst, whole...)
	if fraction && len(rest) > 0 && rest[0] == '.' {
		part, behind := digits(rest[1:])
		if len(part) == 0 {
			return dst, false
		}
		dst, rest = append(dst, rest[:1+len(part)]...), behind
	}
	if fraction && len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') {
		sign := 1
		if len(rest) > 1 && (rest[1] == '-' || rest[1] == '+') {
			sign = 2
		}
		part, behind := digits(rest[sign:])
		if len(part) == 0 {
			return dst, false
		}
		dst, rest = append(dst, rest[:sign+len(part)]...), behind
	}
	return dst, len(rest) == 0
}

// digits cuts the digits from the beginning of b.
func digits(b []byte) (all, rest []byte) {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return b[:n], b[n:]
}
