package convert

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// command is one command of a shell's line.
type command struct {
	words []string
	stdin string // what it reads, as far as the line says
	from  string // the file that it reads
	piped bool   // from another command
}

// shell cuts text as a POSIX shell does, and as far as curl lines go.
type shell struct {
	text     string
	at       int
	variable func(name string) string // the mark for $name
	output   func(code string) string // the mark for $(code)
	all      []command
	now      command
	word     strings.Builder
	inWord   bool
	redirect string // what the next word is for
	docs     []heredoc
}

type heredoc struct {
	word  string
	index int
	tabs  bool
}

const (
	commandsMax = 200
	wordsMax    = 5000
)

func (s *shell) commands() []command {
	for s.at < len(s.text) && len(s.all) < commandsMax && len(s.now.words) < wordsMax {
		s.step()
	}
	s.endCommand(false)
	return s.all
}

func (s *shell) step() {
	c := s.text[s.at]
	s.at++
	switch c {
	case ' ', '\t', '\r':
		s.endWord()
	case '\n':
		s.endCommand(false)
		s.readDocs()
	case ';', '&':
		if c == '&' && s.redirect == ">" && !s.inWord {
			return // 2>&1
		}
		if c == '&' && s.inWord && s.at < len(s.text) && strings.IndexByte(" \t\r\n&", s.text[s.at]) < 0 {
			s.put("&") // of a URL that nobody has quoted: it is meant as a part of it
			return
		}
		s.endCommand(false)
	case '|':
		s.endCommand(true)
	case '<', '>':
		s.operator(c)
	case '#':
		if s.inWord {
			s.put("#")
			return
		}
		if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
			s.at += i
		} else {
			s.at = len(s.text)
		}
	case '\\':
		s.escape()
	case '\'':
		s.inWord = true
		s.put(s.until("'"))
	case '"':
		s.inWord = true
		s.double()
	case '$':
		s.dollar(false)
	case '`':
		s.inWord = true
		s.word.WriteString(s.output(s.until("`")))
	default:
		s.put(string(c))
	}
}

// put adds literal text to the word; marks of the source are taken out at the end of it.
func (s *shell) put(text string) {
	s.inWord = true
	s.word.WriteString(text)
}

func (s *shell) until(end string) string {
	rest := s.text[s.at:]
	i := strings.Index(rest, end)
	if i < 0 {
		s.at = len(s.text)
		return rest
	}
	s.at += i + len(end)
	return rest[:i]
}

func (s *shell) escape() {
	if strings.HasPrefix(s.text[s.at:], "\r\n") {
		s.at += 2
		return
	}
	if s.at == len(s.text) {
		return
	}
	if s.text[s.at] != '\n' {
		s.put(s.text[s.at : s.at+1])
	}
	s.at++
}

func (s *shell) double() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch c {
		case '"':
			return
		case '\\':
			if s.at < len(s.text) && strings.IndexByte("$`\"\\\n", s.text[s.at]) >= 0 {
				if s.text[s.at] != '\n' {
					s.word.WriteByte(s.text[s.at])
				}
				s.at++
				continue
			}
			s.word.WriteByte('\\')
		case '$':
			s.dollar(true)
		case '`':
			s.word.WriteString(s.output(s.until("`")))
		default:
			s.word.WriteByte(c)
		}
	}
}

// dollar reads what stands behind one.
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
		s.word.WriteString(s.output(s.until(")")))
	case strings.HasPrefix(rest, "{"):
		s.at++
		name := s.until("}")
		if i := strings.IndexFunc(name, func(r rune) bool { return r > 0x7f || !inName(byte(r)) }); i >= 0 {
			name = name[:i]
		}
		s.word.WriteString(s.variable(name))
	default:
		n := 0
		for n < len(rest) && inName(rest[n]) {
			n++
		}
		if n == 0 {
			s.word.WriteByte('$')
			return
		}
		s.at += n
		s.word.WriteString(s.variable(rest[:n]))
	}
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
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		n := 0
		for n < digits && s.at+n < len(s.text) && isHex(s.text[s.at+n]) {
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

func (s *shell) operator(c byte) {
	if w := s.word.String(); s.inWord && (w == "1" || w == "2" || w == "0") {
		s.word.Reset() // of 2>file
		s.inWord = false
	}
	s.endWord()
	op := string(c)
	for s.at < len(s.text) && s.text[s.at] == c && len(op) < 3 {
		op += string(c)
		s.at++
	}
	if op == "<<" && s.at < len(s.text) && s.text[s.at] == '-' {
		op += "-"
		s.at++
	}
	s.redirect = op
}

func (s *shell) endWord() {
	if !s.inWord {
		return
	}
	word := s.word.String()
	s.word.Reset()
	s.inWord = false
	switch s.redirect {
	case "":
		s.now.words = append(s.now.words, word)
	case "<":
		s.now.from = word
	case "<<<":
		s.now.stdin = word
	case "<<", "<<-":
		s.docs = append(s.docs, heredoc{word, len(s.all), s.redirect == "<<-"})
	}
	s.redirect = ""
}

func (s *shell) endCommand(pipe bool) {
	s.endWord()
	s.redirect = ""
	if len(s.now.words) > 0 {
		s.all = append(s.all, s.now)
	}
	s.now = command{piped: pipe}
}

// readDocs reads the lines of here-documents.
func (s *shell) readDocs() {
	for _, doc := range s.docs {
		var lines []string
		for s.at < len(s.text) {
			line, _, found := strings.Cut(s.text[s.at:], "\n")
			s.at += len(line)
			if found {
				s.at++
			}
			line = strings.TrimSuffix(line, "\r")
			if doc.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == doc.word {
				break
			}
			lines = append(lines, line)
		}
		if doc.index < len(s.all) {
			s.all[doc.index].stdin = strings.Join(lines, "\n")
		}
	}
	s.docs = nil
}

// unixLine makes a line of Windows' cmd one of a shell: ^ escapes there.
func unixLine(text string) string {
	if !strings.Contains(text, "^\n") && !strings.Contains(text, "^\r\n") && !strings.Contains(text, "^\"") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '^' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
		case '\n':
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
