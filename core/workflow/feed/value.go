package feed

import (
	"unicode/utf16"
	"unicode/utf8"
)

const depthMax = 64 // of brackets in a row

// skipValue returns the end of the value at a place; false if there is none.
func skipValue(data []byte, at, depth int) (end int, ok bool) {
	if at >= len(data) || depth > depthMax {
		return at, false
	}
	switch c := data[at]; {
	case c == '"':
		return skipString(data, at)
	case c == '{':
		return skipMany(data, at, '}', true, depth)
	case c == '[':
		return skipMany(data, at, ']', false, depth)
	case c == '-' || c >= '0' && c <= '9':
		return skipNumber(data, at)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(data)-at >= len(word) && string(data[at:at+len(word)]) == word {
			return at + len(word), true
		}
	}
	return at, false
}

// skipMany skips an object or an array.
func skipMany(data []byte, at int, close byte, named bool, depth int) (end int, ok bool) {
	at = space(data, at+1)
	if at < len(data) && data[at] == close {
		return at + 1, true
	}
	for at < len(data) {
		if named {
			if data[at] != '"' {
				return at, false
			}
			if at, ok = skipString(data, at); !ok {
				return at, false
			}
			if at = space(data, at); at >= len(data) || data[at] != ':' {
				return at, false
			}
			at = space(data, at+1)
		}
		if at, ok = skipValue(data, at, depth+1); !ok {
			return at, false
		}
		at = space(data, at)
		switch {
		case at >= len(data):
			return at, false
		case data[at] == close:
			return at + 1, true
		case data[at] != ',':
			return at, false
		}
		at = space(data, at+1)
	}
	return at, false
}

// skipString skips a text, which must be valid UTF-8.
func skipString(data []byte, at int) (end int, ok bool) {
	for at++; at < len(data); {
		switch c := data[at]; {
		case c == '"':
			return at + 1, true
		case c < ' ':
			return at, false
		case c == '\\':
			if at+1 >= len(data) {
				return at, false
			}
			switch data[at+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				at += 2
			case 'u':
				if _, ok := hex4(data, at+2); !ok {
					return at, false
				}
				at += 6
			default:
				return at, false
			}
		case c < utf8.RuneSelf:
			at++
		default:
			r, size := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && size == 1 {
				return at, false
			}
			at += size
		}
	}
	return at, false
}

func skipNumber(data []byte, at int) (end int, ok bool) {
	digits := func() bool {
		from := at
		for at < len(data) && data[at] >= '0' && data[at] <= '9' {
			at++
		}
		return at > from
	}
	if data[at] == '-' {
		at++
	}
	if at < len(data) && data[at] == '0' {
		at++
	} else if !digits() {
		return at, false
	}
	if at < len(data) && data[at] == '.' {
		at++
		if !digits() {
			return at, false
		}
	}
	if at < len(data) && (data[at] == 'e' || data[at] == 'E') {
		at++
		if at < len(data) && (data[at] == '+' || data[at] == '-') {
			at++
		}
		if !digits() {
			return at, false
		}
	}
	return at, true
}

func hex4(data []byte, at int) (r rune, ok bool) {
	if len(data)-at < 4 {
		return 0, false
	}
	for _, c := range data[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendString appends the decoded form of a checked text between its quotes.
func appendString(to, written []byte) []byte {
	for i := 0; i < len(written); i++ {
		c := written[i]
		if c != '\\' {
			to = append(to, c)
			continue
		}
		i++
		switch c = written[i]; c {
		case 'b':
			to = append(to, '\b')
		case 'f':
			to = append(to, '\f')
		case 'n':
			to = append(to, '\n')
		case 'r':
			to = append(to, '\r')
		case 't':
			to = append(to, '\t')
		case 'u':
			r, _ := hex4(written, i+1)
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+2 < len(written) && written[i+1] == '\\' && written[i+2] == 'u' {
					low, ok = hex4(written, i+3)
				}
				if both := utf16.DecodeRune(r, low); ok && both != utf8.RuneError {
					r, i = both, i+6
				} else {
					r = utf8.RuneError
				}
			}
			to = utf8.AppendRune(to, r)
		default:
			to = append(to, c)
		}
	}
	return to
}
