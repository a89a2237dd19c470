package redis

import (
	"slices"
	"strings"
)

// hidden is what is shown of a password.
const hiddenText = "***"

// Describe appends a line about bytes that go out or came in: each whole command of bytes that go
// out, with its passwords hidden, and bytes that came as they are.
func Describe(dst, b []byte, out bool) []byte {
	if !out {
		return append(dst, b...)
	}
	var memory [8][]byte
	for i := 0; len(b) > 0; i++ {
		words, rest, whole := cutCommand(b, memory[:0])
		if !whole {
			break
		}
		if i > 0 {
			dst = append(dst, "; "...)
		}
		dst = appendCommand(dst, words)
		b = rest
	}
	return dst
}

// appendCommand appends a command's words.
func appendCommand(dst []byte, words [][]byte) []byte {
	for i, w := range words {
		switch {
		case i > 0 && secretWord(words, i):
			dst = append(dst, " "+hiddenText...)
		case i == 0:
			dst = append(dst, w...)
		default:
			dst = append(dst, ' ')
			dst = appendWord(dst, w)
		}
	}
	return dst
}

// appendWord appends an argument, quoted where it would not be one word.
func appendWord(dst, w []byte) []byte {
	plain := len(w) > 0 && !slices.ContainsFunc(w, func(c byte) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == ';' })
	if plain {
		return append(dst, w...)
	}
	return appendQuoted(dst, w)
}

// secretWord reports whether a command's argument is a password.
func secretWord(words [][]byte, i int) bool {
	is := func(at int, word string) bool { return at < len(words) && strings.EqualFold(string(words[at]), word) }
	switch {
	case is(0, "AUTH"):
		return true
	case is(0, "HELLO"):
		return i > 2 && is(i-2, "AUTH")
	case is(0, "MIGRATE"):
		return i > 5 && (is(i-1, "AUTH") || is(i-2, "AUTH2"))
	case is(0, "ACL") && is(1, "SETUSER"):
		return i > 2 && strings.ContainsRune("><#!", rune(append(words[i], ' ')[0]))
	case is(0, "CONFIG") && is(1, "SET"):
		return i > 2 && i%2 == 1 && (is(i-1, "requirepass") || is(i-1, "masterauth") || is(i-1, "primaryauth") || is(i-1, "tls-key-file-pass") || is(i-1, "tls-client-key-file-pass"))
	}
	return false
}
