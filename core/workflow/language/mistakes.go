package language

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// mistake says in an author's words what the parser has found in its own.
type mistake struct {
	line, col, width int
	message, remedy  string
}

// explain finds the mistake behind the parser's error at a place; false: it is as the parser says.
func explain(data []byte, lines []string, line, col int, message string) (mistake, bool) {
	if m, ok := unbalanced(data, line, col); ok {
		return m, true
	}
	if m, ok := indentation(lines, line, message); ok {
		return m, true
	}
	if line < 1 || line > len(lines) {
		return mistake{}, false
	}
	return operator(lines[line-1], line, col, message)
}

// bracket is an opening one.
type bracket struct {
	sign      byte
	line, col int
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// unbalanced finds the bracket that explains an error at a place: one that is missing, or one
// too many.
func unbalanced(data []byte, line, col int) (mistake, bool) {
	var open []bracket
	at, start := 1, 0
	before := func(l, c int) bool { return l < line || l == line && c <= col }
	missing := func(l, c int, sign string) (mistake, bool) {
		b := open[len(open)-1]
		if !before(b.line, b.col) {
			return mistake{}, false
		}
		return mistake{l, c, 1, fmt.Sprintf("a %c is missing before this %s", closing(b.sign), sign),
			fmt.Sprintf("the %c in line %d, column %d is open", b.sign, b.line, b.col)}, true
	}
	for i := 0; i < len(data); i++ {
		c := data[i]
		column := utf8.RuneCount(data[min(start, i):i]) + 1
		if i == start && len(open) > 0 {
			if word := statement(data[i:]); word != "" {
				return missing(at, 1, word)
			}
		}
		switch c {
		case '\n':
			at, start = at+1, i+1
		case '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			end := stringEnd(data, i)
			at += strings.Count(string(data[i:end]), "\n")
			if k := strings.LastIndexByte(string(data[i:end]), '\n'); k >= 0 {
				start = i + k + 1
			}
			i = end - 1
		case '(', '[', '{':
			open = append(open, bracket{c, at, column})
		case ')', ']', '}':
			if len(open) == 0 {
				return mistake{at, column, 1, fmt.Sprintf("this %c closes nothing", c), "take it out: there is one too many"}, line >= at
			}
			if closing(open[len(open)-1].sign) != c {
				next := bytes.TrimLeft(data[i+1:], " \t\r\n")
				extra := len(next) > 0 && next[0] == closing(open[len(open)-1].sign)
				if extra || !slices.ContainsFunc(open, func(b bracket) bool { return closing(b.sign) == c }) {
					return mistake{at, column, 1, fmt.Sprintf("this %c closes nothing", c), "take it out: there is one too many"}, line >= at
				}
				return missing(at, column, string(c))
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 || !before(open[len(open)-1].line, open[len(open)-1].col) {
		return mistake{}, false
	}
	b := open[len(open)-1]
	return mistake{b.line, b.col, 1, fmt.Sprintf("this %c is never closed", b.sign), fmt.Sprintf("write %c where it ends", closing(b.sign))}, true
}

// statement returns the word with which a line begins that stands in no bracket.
func statement(text []byte) string {
	for _, word := range []string{"def ", "workflow(", "load("} {
		if strings.HasPrefix(string(text[:min(len(text), len(word))]), word) {
			return strings.TrimRight(word, " (")
		}
	}
	return ""
}

// indentation explains the errors of lines that begin in the wrong column.
func indentation(lines []string, line int, message string) (mistake, bool) {
	if strings.Contains(message, "got newline, want ':'") && line > 1 && line-1 <= len(lines) {
		above := strings.TrimRight(lines[line-2], " \t\r")
		return mistake{line - 1, utf8.RuneCountInString(above) + 1, 1, "a : is missing at the end of this line", "write " + clipLine(above) + ":"}, true
	}
	if line < 1 || line > len(lines) {
		return mistake{}, false
	}
	text := lines[line-1]
	begin := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	m := mistake{line: line, col: len(begin) + 1, width: 1}
	above := ""
	for i := line - 2; i >= 0 && strings.TrimSpace(above) == ""; i-- {
		above = lines[i]
	}
	is := above[:len(above)-len(strings.TrimLeft(above, " \t"))]
	mixed := strings.Contains(begin, "\t") != strings.Contains(is, "\t") && begin != "" && is != ""
	switch {
	case strings.Contains(message, "want indent"):
		m.message, m.remedy = "this line belongs to the one above, and is not indented", fmt.Sprintf("begin it with %d spaces", len(is)+4)
	case strings.Contains(message, "got indent,"):
		m.message, m.remedy = "this line is indented more than the one above", fmt.Sprintf("begin it in column %d, as the line above", len(is)+1)
	case strings.Contains(message, "unindent does not match"):
		m.message, m.remedy = "this line begins in a column in which no line above begins", fmt.Sprintf("begin it in column %d, as the line above, or where an outer one begins", len(is)+1)
	default:
		return mistake{}, false
	}
	if mixed {
		m.message, m.remedy = "this line is indented with tabs, and others with spaces", "use spaces only: hyperscale fmt does"
	}
	return m, true
}

func clipLine(s string) string { return Clip(strings.TrimSpace(s), 60) }

// operator explains signs of Python and JavaScript that Starlark does not have, where the parser
// stops at one.
func operator(text string, line, col int, message string) (mistake, bool) {
	code := bare(text)
	first, _, _ := strings.Cut(strings.TrimSpace(code), " ")
	for _, o := range []struct{ sign, message, remedy string }{
		{"&&", "&& is not an operator here", "write and"},
		{"||", "|| is not an operator here", "write or"},
		{"===", "=== is not an operator here", "write =="},
		{"!==", "!== is not an operator here", "write !="},
		{"<>", "<> is not an operator here", "write !="},
		{"(let ", "there is no let", "write for i in range(3):"},
		{"(var ", "there is no var", "write for i in range(3):"},
		{"new ", "nothing is made with new", "take new out: a call makes the value"},
		{"=<", "=< is not an operator", "write <="},
		{") =>", "there are no arrow functions", "write lambda vu: ..., or def"},
		{"=>", "=> is not an operator", "write >= to compare, lambda vu: ... for a function"},
		{"++", "++ is not an operator here", "write x += 1"},
		{"--", "-- is not an operator here", "write x -= 1"},
		{":=", ":= is not an operator here", "assign in a line of its own: x = ..."},
		{"**", "** is not an operator here", "write math.pow(x, y), or x * x"},
		{" is not ", `"is not" is not an operator here`, "write !="},
		{" is ", `"is" is not an operator here`, "write =="},
		{"else if ", "there is no else if", "write elif"},
		{"//", "// divides, and begins no comment", "begin a comment with #"},
		{"/*", "/* begins no comment", "begin each line of a comment with #"},
		{"->", "types of parameters and results are not written", "take them out: def visit(vu):"},
		{"await ", "nothing is awaited: a call waits for its response", "take await out"},
		{"?", "? is not an operator here", "write a if condition else b"},
		{"`", "` begins no text", "write \"...\", and \"a %s\" % x for values"},
		{"@", "there are no decorators", "write step(function, weight = 3) in a workflow's steps"},
		{"$", "$ is not an operator here", "write \"a %s\" % x for values in a text"},
	} {
		at := strings.Index(code, o.sign)
		near := len(o.sign) + 2
		if strings.HasSuffix(o.sign, " ") {
			near += 40 // the parser stops behind the name that follows
		}
		if stop := utf8.RuneCountInString(code[:max(at, 0)]) + 1; col < stop-1 || col > stop+near {
			continue
		}
		if at < 0 || o.sign == "//" && !strings.HasPrefix(strings.TrimSpace(code), "//") {
			continue
		}
		width := utf8.RuneCountInString(strings.TrimSpace(o.sign))
		at += len(o.sign) - len(strings.TrimLeft(o.sign, " "))
		return mistake{line, utf8.RuneCountInString(code[:at]) + 1, width, o.message, o.remedy}, true
	}
	column := func(sign string) int { return utf8.RuneCountInString(code[:max(strings.Index(code, sign), 0)]) + 1 }
	switch {
	case strings.Contains(message, "'!'"):
		return mistake{line, column("!"), 1, "! is not an operator here", "write not"}, true
	case strings.Contains(message, "got '=', want ':'"), (first == "if" || first == "elif" || first == "while") && strings.Contains(message, "got '='"):
		return mistake{line, column("= "), 1, "= assigns, and == compares", "write =="}, true
	case strings.Contains(message, "got '{', want ':'"):
		return mistake{line, column("{"), 1, "blocks have no braces", "write : in place of {, and indent the lines below"}, true
	case first == "def" && strings.Contains(message, "got ':', want ')'"), first == "def" && strings.Contains(message, "got ':', want ','"):
		return mistake{line, column(":"), 1, "types of parameters and results are not written", "take them out: def visit(vu):"}, true
	}
	return mistake{}, false
}

// bare blanks the texts and the comment of a line.
func bare(line string) string {
	out := []byte(line)
	for i := 0; i < len(out); i++ {
		switch out[i] {
		case '#':
			return string(out[:i])
		case '"', '\'':
			end := min(stringEnd(out, i), len(out))
			for k := i + 1; k < end-1; k++ {
				if out[k] < utf8.RuneSelf {
					out[k] = '.'
				}
			}
			i = end - 1
		}
	}
	return string(out)
}
