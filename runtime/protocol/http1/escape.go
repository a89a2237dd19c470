package http1

import "unicode/utf8"

const hexUpper = "0123456789ABCDEF"

// refuses says why a value would break out of its place; it returns "" if it would not.
func (e Escape) refuses(v []byte) string {
	switch e {
	case escapePath:
		// Servers resolve such segments, however they are encoded.
		if string(v) == "." || string(v) == ".." {
			return "only dots"
		}
		return ""
	case escapeField, escapeCookie, escapeHost:
	case escapeUser:
		for _, c := range v {
			if c == ':' {
				return "a colon"
			}
		}
		return ""
	default:
		return ""
	}
	for _, c := range v {
		switch {
		case c < ' ' && c != '\t' || c == 0x7f:
			return "a control character"
		case e == escapeCookie && (c == ';' || c == ',' || c == ' ' || c == '\t' || c == '\\'):
			return "a character that ends a cookie"
		case e == escapeHost && (c == ' ' || c == '\t' || c == ',' || c == '/' || c == '\\' || c == '@' || c == '?' || c == '#'):
			return "a character that ends a host"
		}
	}
	return ""
}

// append adds a value so that its reader gets it back.
func (e Escape) append(b, v []byte) []byte {
	switch e {
	case EscapeJSON:
		return AppendJSON(b, v)
	case EscapeForm, escapeQuery:
		return appendPercent(b, v, true)
	case escapePath:
		return appendPercent(b, v, false)
	}
	return append(b, v...)
}

// unreserved are the characters that stand for themselves everywhere in a URL.
var unreserved = func() (t [256]bool) {
	for c := range t {
		l := lower(byte(c))
		t[c] = l >= 'a' && l <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
	}
	return t
}()

func appendPercent(b, v []byte, plus bool) []byte {
	from := 0
	for i, c := range v {
		if unreserved[c] {
			continue
		}
		b = append(b, v[from:i]...)
		from = i + 1
		if c == ' ' && plus {
			b = append(b, '+')
		} else {
			b = append(b, '%', hexUpper[c>>4], hexUpper[c&15])
		}
	}
	return append(b, v[from:]...)
}

// AppendJSON escapes the inside of a string. What is not UTF-8 becomes U+FFFD.
func AppendJSON(b, v []byte) []byte {
	from := 0
	for i := 0; i < len(v); {
		c, n := v[i], 1
		switch {
		case c == '"' || c == '\\':
			b = append(append(b, v[from:i]...), '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(append(b, v[from:i]...), '\\', 'u', '0', '0', hexUpper[c>>4], hexUpper[c&15])
		case c < utf8.RuneSelf:
			i++
			continue
		default:
			var r rune
			if r, n = utf8.DecodeRune(v[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			b = utf8.AppendRune(append(b, v[from:i]...), utf8.RuneError)
		}
		i += n
		from = i
	}
	return append(b, v[from:]...)
}
