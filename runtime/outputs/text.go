package outputs

import (
	"strings"
	"unicode/utf8"
)

// Text makes a text UTF-8, for formats that take nothing else. Texts that differ stay different: a byte that is no UTF-8 becomes
// U+FFFD and its two digits, as in \xE9 -> U+FFFD E 9, and so do the bytes of a U+FFFD that two such digits follow. bytesOf
// gives the text back.
func Text(s string) string { return plain(s, false) }

// TextWithoutNUL is Text for databases whose texts have no NUL: it becomes U+FFFD and 00.
func TextWithoutNUL(s string) string { return plain(s, true) }

func plain(s string, nul bool) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, utf8.RuneError) && !(nul && strings.Contains(s, "\x00")) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		here := s[:size]
		s = s[size:]
		switch {
		case r == utf8.RuneError && (size == 1 || digits(s)), nul && r == 0:
			for i := range len(here) {
				const hex = "0123456789ABCDEF"
				b.WriteRune(utf8.RuneError)
				b.WriteByte(hex[here[i]>>4])
				b.WriteByte(hex[here[i]&15])
			}
		default:
			b.WriteString(here)
		}
	}
	return b.String()
}

// digits says that a text begins with two digits as Text writes them.
func digits(s string) bool { return len(s) >= 2 && digit(s[0]) && digit(s[1]) }

func digit(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' }

// bytesOf is what Text and TextWithoutNUL made a text of. A place that takes a row from a file gets the keys that it got from the run.
func bytesOf(s string) string {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if rest := s[size:]; r == utf8.RuneError && digits(rest) {
			b.WriteByte(valueOf(rest[0])<<4 | valueOf(rest[1]))
			s = rest[2:]
			continue
		}
		b.WriteString(s[:size])
		s = s[size:]
	}
	return b.String()
}

// valueOf is a digit's.
func valueOf(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'A' + 10
}
