package curl

import (
	"strings"
)

// command is one command of a shell's line.
type command struct {
	words []string
	stdin string // its standard input, as far as the line shows it
	from  string // the file that it reads
	piped bool   // from another command
}

// shell cuts text as a POSIX shell does, and as far as curl lines go.
type shell struct {
	text     string
	at       int
	variable func(name string) string        // the mark for $name
	set      func(name, value string) string // the mark for one that is set
	output   func(code string) string        // the mark for $(code)
	all      []command
	now      command
	word     strings.Builder
	inWord   bool
	redirect string // how the next word redirects
	docs     []heredoc
	vars     map[string]string // that the text itself sets
	unclosed bool              // a quote is
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
			s.put("&") // of a URL without quotes: it is meant as a part of it
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
		s.put(s.quoted("'"))
	case '"':
		s.inWord = true
		s.double()
	case '$':
		s.dollar(false)
	case '`':
		if blank := lineEnd(s.text[s.at:]); blank > 0 && !s.inWord {
			s.at += blank // PowerShell's line continues
			return
		}
		s.inWord = true
		s.word.WriteString(s.output(s.quoted("`")))
	default:
		s.inWord = true
		s.word.WriteByte(c) // string(c) would make a character of a byte
	}
}

// put adds literal text to the word; it drops marks that the source contains.
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

// quoted is like until, but the text must end.
func (s *shell) quoted(end string) string {
	s.unclosed = s.unclosed || !strings.Contains(s.text[s.at:], end)
	return s.until(end)
}

// lineEnd is how many bytes of blanks end the line; 0 if something else stands before its end.
func lineEnd(text string) int {
	rest := strings.TrimLeft(text, " \t\r")
	if !strings.HasPrefix(rest, "\n") {
		return 0
	}
	return len(text) - len(rest) + 1
}

func (s *shell) escape() {
	if end := lineEnd(s.text[s.at:]); end > 1 { // blanks behind a \ end the command in a shell, which no user means
		s.at += end
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
	s.unclosed = true
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
		s.now.stdin = word + "\n"
	case "<<", "<<-":
		s.docs = append(s.docs, heredoc{word, len(s.all), s.redirect == "<<-"})
	}
	s.redirect = ""
}

func (s *shell) endCommand(pipe bool) {
	s.endWord()
	s.redirect = ""
	if len(s.now.words) > 0 && !s.assign(s.now.words) {
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
			lines = append(lines, line+"\n")
		}
		if doc.index < len(s.all) {
			s.all[doc.index].stdin = strings.Join(lines, "")
		}
	}
	s.docs = nil
}
