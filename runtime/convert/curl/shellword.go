package curl

import (
	"hyperscale/runtime/convert"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dollar reads the expression after a dollar sign.
func (s *shell) dollar(quoted bool) {
	s.inWord = true
	rest := s.text[s.at:]
	switch {
	case !quoted && strings.HasPrefix(rest, "'"):
		s.at++
		s.ansi()
	case !quoted && strings.HasPrefix(rest, "\""):
		s.at++
		s.double()
	case strings.HasPrefix(rest, "("):
		s.at++
		s.word.WriteString(s.output(s.nested()))
	case strings.HasPrefix(rest, "{"):
		s.at++
		name, other := s.until("}"), ""
		if i := strings.IndexFunc(name, func(r rune) bool { return r > 0x7f || !convert.InName(byte(r)) }); i >= 0 {
			other, _ = strings.CutPrefix(strings.TrimPrefix(name[i:], ":"), "-")
			if other == strings.TrimPrefix(name[i:], ":") {
				other = ""
			}
			name = name[:i]
		}
		s.word.WriteString(s.value(name, other))
	default:
		n := 0
		for n < len(rest) && convert.InName(rest[n]) {
			n++
		}
		if n == 0 {
			s.word.WriteByte('$')
			return
		}
		s.at += n
		s.word.WriteString(s.value(rest[:n], ""))
	}
}

// value returns a variable's value: the one that the text has set, or a mark, or the given
// default.
func (s *shell) value(name, other string) string {
	if value, ok := s.vars[name]; ok {
		return value
	}
	if other != "" {
		return other
	}
	return s.variable(name)
}

// nested reads up to the parenthesis that closes.
func (s *shell) nested() string {
	depth, from := 1, s.at
	for s.at < len(s.text) {
		s.at++
		switch s.text[s.at-1] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s.text[from : s.at-1]
			}
		}
	}
	s.unclosed = true
	return s.text[from:]
}

// assign stores the variables of a command that consists of assignments.
func (s *shell) assign(words []string) bool {
	if len(words) > 1 && words[0] == "export" {
		words = words[1:]
	}
	for _, w := range words {
		name, _, ok := strings.Cut(w, "=")
		if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f || !convert.InName(byte(r)) }) {
			return false
		}
	}
	if s.vars == nil {
		s.vars = map[string]string{}
	}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if s.vars[name] = value; s.set != nil {
			s.vars[name] = s.set(name, value)
		}
	}
	return true
}

// ansi reads $'...'.
func (s *shell) ansi() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		if c == '\'' {
			return
		}
		if c != '\\' || s.at == len(s.text) {
			s.word.WriteByte(c)
			continue
		}
		c = s.text[s.at]
		s.at++
		if i := strings.IndexByte("abefnrtv", c); i >= 0 {
			s.word.WriteByte("\a\b\x1b\f\n\r\t\v"[i])
			continue
		}
		if c >= '0' && c <= '7' {
			s.octal()
			continue
		}
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		n := 0
		for n < digits && s.at+n < len(s.text) && convert.IsHex(s.text[s.at+n]) {
			n++
		}
		code, _ := strconv.ParseUint(s.text[s.at:s.at+n], 16, 32)
		switch {
		case n == 0:
			s.word.WriteByte(c)
		case c == 'x':
			s.word.WriteByte(byte(code))
		default:
			s.word.Write(utf8.AppendRune(nil, rune(code)))
		}
		s.at += n
	}
}

// octal reads up to three digits, the first of which has been read.
func (s *shell) octal() {
	from := s.at - 1
	for s.at < len(s.text) && s.at < from+3 && s.text[s.at] >= '0' && s.text[s.at] <= '7' {
		s.at++
	}
	code, _ := strconv.ParseUint(s.text[from:s.at], 8, 16) // they are digits
	s.word.WriteByte(byte(code))
}
