package language

import (
	"strings"
	"unicode/utf16"
)

// units counts a text as the protocol does: in UTF-16.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// runes is the first n characters of a text.
func runes(text string, n int) string {
	for i := range text {
		if n <= 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// offset is where a position is in the text; its end, or its line's, if it is behind it.
func offset(text string, p position) int {
	at := 0
	for range max(p.Line, 0) {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	left := p.Character
	for i, r := range text[at:] {
		if left <= 0 || r == '\n' {
			return at + i
		}
		left -= max(utf16.RuneLen(r), 1)
	}
	return len(text)
}

func isName(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// wordBefore is the dotted name that ends at i.
func wordBefore(text string, i int) string {
	start := i
	for start > 0 && isName(text[start-1]) {
		start--
	}
	return text[start:i]
}

// wordAt is the dotted name around i, up to the part of it that i is in.
func wordAt(text string, i int) string {
	end := i
	for end < len(text) && isName(text[end]) && text[end] != '.' {
		end++
	}
	return wordBefore(text, end)
}

// surroundings describes a place: the function whose arguments contain it, and, within a text,
// the part of the text before it.
type surroundings struct {
	call     string
	text     string
	inText   bool
	inRemark bool
}

// around reads the text up to i. It knows brackets, texts and remarks, and forgives all else.
func around(text string, i int) surroundings {
	var calls []string
	for at := 0; at < i; at++ {
		switch c := text[at]; c {
		case '#':
			end := strings.IndexByte(text[at:i], '\n')
			if end < 0 {
				return surroundings{inRemark: true}
			}
			at += end
		case '"', '\'':
			end := textEnd(text[:i], at)
			if end < 0 {
				return surroundings{call: last(calls), inText: true, text: text[at+1 : i]}
			}
			at = end - 1
		case '(', '[', '{':
			name := ""
			if c == '(' {
				name = wordBefore(text, at)
			}
			calls = append(calls, name)
		case ')', ']', '}':
			calls = calls[:max(len(calls)-1, 0)]
		}
	}
	return surroundings{call: last(calls)}
}

func last(calls []string) string {
	if len(calls) == 0 {
		return ""
	}
	return calls[len(calls)-1]
}

// textEnd is where the literal that begins at i ends; -1 if it does not. One in single
// quotes ends with its line, whether it is closed or not.
func textEnd(text string, i int) int {
	quote := text[i : i+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], long) {
		end := strings.Index(text[i+3:], long)
		if end < 0 {
			return -1
		}
		return i + 3 + end + 3
	}
	for j := i + 1; j < len(text); j++ {
		switch {
		case text[j] == '\\':
			j++
		case text[j] == quote[0] || text[j] == '\n':
			return j + 1
		}
	}
	return -1
}
