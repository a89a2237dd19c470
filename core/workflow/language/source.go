package language

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// nestingMax bounds nested brackets: the parser recurses, and a stack that outgrows its limit
// is fatal.
const nestingMax = 200

// Place is the position of a call: its opening bracket.
type Place struct {
	File      string
	Line, Col int32
}

// Sources keeps the text that errors quote.
type Sources struct {
	lines map[string][]string
	Calls map[Place]*syntax.CallExpr
}

// NewSources returns a Sources without files.
func NewSources() *Sources {
	return &Sources{lines: map[string][]string{}, Calls: map[Place]*syntax.CallExpr{}}
}

func (s *Sources) add(name string, data []byte) {
	s.lines[name] = strings.Split(string(data), "\n")
}

// options returns the dialect: Starlark with while, if and for at the top level and sets; no
// recursion.
func options() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}
}

// Parse reads one file.
func (s *Sources) Parse(name string, data []byte) (*syntax.File, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors of Windows write a byte order mark
	s.add(name, data)
	if !utf8.Valid(data) {
		return nil, &Error{File: name, Message: "the file is not UTF-8 text", Remedy: "save it as UTF-8"}
	}
	if line, col, what := nesting(data); what != "" {
		return nil, s.ErrorAt(name, line, col, 1, fmt.Sprintf("%s nested more than %d deep", what, nestingMax), "give a part of it a name")
	}
	file, err := options().Parse(name, data, 0)
	if err != nil {
		var wrong syntax.Error
		if errors.As(err, &wrong) {
			return nil, s.syntax(name, wrong)
		}
		return nil, &Error{File: name, Message: err.Error()}
	}
	return file, nil
}

// ErrorAt returns an Error at a place of a file, with its source line.
func (s *Sources) ErrorAt(file string, line, col, width int, message, remedy string) *Error {
	e := &Error{File: file, Line: line, Col: col, Width: width, Message: message, Remedy: remedy}
	if lines := s.lines[file]; line >= 1 && line <= len(lines) {
		e.Source = strings.TrimSuffix(lines[line-1], "\r")
	}
	return e
}

func (s *Sources) syntax(name string, wrong syntax.Error) *Error {
	message, remedy := wrong.Msg, ""
	if strings.HasPrefix(message, "got ") {
		message = "syntax error: " + message
	}
	value := strings.Contains(message, "got identifier, want ") || strings.Contains(message, " literal, want ")
	switch {
	case strings.Contains(message, "got newline, want ')'"), strings.Contains(message, "got end of file"):
		remedy = "is a bracket left open above?"
	case value && strings.HasSuffix(message, "want newline"):
		remedy = "write one statement in a line: is an operator or a comma missing before this?"
	case value:
		remedy = "is a comma missing before this?"
	}
	e := s.ErrorAt(name, int(wrong.Pos.Line), int(wrong.Pos.Col), 1, message, remedy)
	if e.Remedy = foreign(e); e.Remedy != "" {
		return e
	}
	lines := s.lines[name]
	if message == "not an identifier" {
		return s.reserved(e)
	}
	if strings.HasSuffix(message, "in string") {
		e.Remedy = "close the text with its quote; \"\"\" begins one of several lines"
		return e
	}
	if m, ok := explain([]byte(strings.Join(lines, "\n")), lines, e.Line, e.Col, message); ok {
		return s.ErrorAt(name, m.line, m.col, m.width, m.message, m.remedy)
	}
	e.Remedy = remedy
	return e
}

// reserved explains a word that Python has taken and a file uses as a name; the error is behind it.
func (s *Sources) reserved(e *Error) *Error {
	before := string([]rune(e.Source)[:min(max(e.Col-1, 0), utf8.RuneCountInString(e.Source))])
	word := before[strings.LastIndexAny(before, " .\t(,[{=")+1:]
	e.Message = fmt.Sprintf("%q is a word of Python, and no name", word)
	e.Col, e.Width = e.Col-utf8.RuneCountInString(word), max(utf8.RuneCountInString(word), 1)
	switch word {
	case "":
		e.Message, e.Remedy = "a name is missing", "write a name of letters, digits and _"
	case "del":
		e.Remedy = "write vu.http.delete(url) for a request, dict.pop(key) for a key"
	default:
		e.Remedy = fmt.Sprintf("write [%q] for the value of a key, or another name", word)
	}
	return e
}

// foreign explains syntax of Python or JavaScript, which authors of a first file know.
func foreign(e *Error) string {
	first, _, _ := strings.Cut(strings.TrimSpace(e.Source), " ")
	switch strings.TrimRight(first, ":({") {
	case "import", "from":
		if strings.HasSuffix(e.Message, "identifier, want newline") || strings.Contains(e.Message, "got "+first) {
			return "nothing is imported: http, step, feed and the others are there (hyperscale docs lists them)"
		}
	case "async":
		return "nothing is awaited, a call waits for its response: write def visit(vu):"
	case "global", "nonlocal":
		return "a function cannot change the file's variables: keep values of a virtual user in vu.vars"
	case "assert":
		return "write expect.equal(got, want, \"what\") in a function: a failure shows both values"
	case "raise":
		return "write fail(\"what is wrong\") in a function, which ends its step"
	case "del":
		return "write dict.pop(key), or list.remove(x)"
	case "with":
		return "nothing is opened and closed: write r = vu.http.get(url)"
	case "yield":
		return "a function returns once: write return"
	case "switch":
		return "write if, elif and else"
	case "export", "const", "let", "var", "function":
		return "this is JavaScript: workflow files are Starlark, much like Python (hyperscale new writes one)"
	case "class":
		return "there are no classes: write def visit(vu), and steps = [step(visit)]"
	case "try", "except", "finally", "catch":
		return "Starlark has no " + strings.TrimRight(first, ":({") + ": a step whose function fails is counted as failed, and says why"
	}
	if strings.Contains(e.Message, "got string literal") && formatted(e.Source) {
		return "there are no f-strings: write \"a {}\".format(x) or \"a %s\" % x"
	}
	return ""
}

// formatted reports whether a line has an f-string of Python.
func formatted(line string) bool {
	for i := 0; i+1 < len(line); i++ {
		alone := i == 0 || strings.IndexByte(" \t=(,[{+%:", line[i-1]) >= 0
		if line[i] == 'f' && alone && (line[i+1] == '"' || line[i+1] == '\'') {
			return true
		}
	}
	return false
}

// Unresolved explains the resolver's errors. remedy returns what to write for a name that only
// other languages have; empty: it is not known.
func (s *Sources) Unresolved(err error, declared []string, remedy func(name string, at syntax.Position) string) []*Error {
	var list resolve.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return []*Error{{Message: err.Error()}}
	}
	out := make([]*Error, len(list))
	for i, e := range list {
		out[i] = s.unresolved(e, declared, remedy)
	}
	return out
}

func (s *Sources) unresolved(e resolve.Error, declared []string, remedy func(name string, at syntax.Position) string) *Error {
	name, unknown := strings.CutPrefix(e.Msg, "undefined: ")
	if !unknown {
		return s.ErrorAt(e.Pos.Filename(), int(e.Pos.Line), int(e.Pos.Col), 1, e.Msg, "")
	}
	name, hint, _ := strings.Cut(name, " (did you mean ")
	hint = strings.TrimSuffix(hint, "?)")
	do := remedy(name, e.Pos)
	switch near := Nearest(name, append(slices.Clone(declared), starlark.Universe.Keys()...)); {
	case do != "":
	case hint != "" && !strings.Contains(hint, Mark):
		do = fmt.Sprintf("did you mean %q?", hint)
	case name == strings.ToUpper(name) && !strings.EqualFold(name, near):
		do = fmt.Sprintf("write %s = ... at the top of the file, or %[1]s = param(%q, default = ...)", name, strings.ToLower(name))
	case near != "":
		do = fmt.Sprintf("did you mean %q?", near)
	default:
		do = "known: " + strings.Join(declared, ", ") + ", and Starlark's own functions"
	}
	return s.ErrorAt(e.Pos.Filename(), int(e.Pos.Line), int(e.Pos.Col), utf8.RuneCountInString(name), fmt.Sprintf("unknown name %q", name), do)
}

// Explain converts the error of an interpreter run to an Error.
func (s *Sources) Explain(main string, err error) *Error {
	var done *Error
	if errors.As(err, &done) {
		return done
	}
	var wrong *Fault
	var eval *starlark.EvalError
	message, remedy := err.Error(), ""
	var pos syntax.Position
	if errors.As(err, &eval) {
		message = eval.Msg
		pos = ScriptPosition(eval)
	}
	if errors.As(err, &wrong) {
		message, remedy = wrong.Message, wrong.Remedy
		if wrong.site.IsValid() {
			pos = wrong.site
		}
		return s.locate(main, pos, wrong, message, remedy)
	}
	if before, hint, ok := strings.Cut(message, " (did you mean "); ok {
		message, remedy = before, "did you mean "+strings.TrimSuffix(hint, ")")
	}
	if cancelled, ok := strings.CutPrefix(message, "Starlark computation cancelled: "); ok {
		message, remedy = cancelled, "a file only declares: move work into a step's function, or do less of it"
	}
	if hint := RecursionRemedy(message); hint != "" {
		remedy = hint
	}
	return s.locate(main, pos, &Fault{}, message, remedy)
}

// RecursionRemedy returns the remedy for the interpreter's own error, else empty.
func RecursionRemedy(message string) string {
	if strings.HasSuffix(message, "called recursively") {
		return "functions cannot call themselves: use a loop"
	}
	return ""
}

// ScriptPosition returns the innermost position in a user's file.
func ScriptPosition(e *starlark.EvalError) syntax.Position {
	for i := range e.CallStack {
		if pos := e.CallStack.At(i).Pos; pos.Filename() != "<builtin>" {
			return pos
		}
	}
	return syntax.Position{}
}

// locate narrows a call's position to the wrong argument.
func (s *Sources) locate(main string, pos syntax.Position, f *Fault, message, remedy string) *Error {
	if !pos.IsValid() {
		return &Error{File: main, Message: message, Remedy: remedy}
	}
	start, width := pos, 1
	if call := s.Calls[Place{pos.Filename(), pos.Line, pos.Col}]; call != nil {
		var from, to syntax.Position
		if part := argument(call, f); part != nil {
			from, to = span(part)
		} else {
			from, to = span(call.Fn)
		}
		start, width = from, s.Width(from, to)
		if at, ok := s.find(from, to, f.text); ok {
			start, width = at, utf8.RuneCountInString(f.text)
		}
	}
	return s.ErrorAt(pos.Filename(), int(start.Line), int(start.Col), width, message, remedy)
}

// find searches a text between two places of a file.
func (s *Sources) find(from, to syntax.Position, text string) (syntax.Position, bool) {
	lines := s.lines[from.Filename()]
	for line := from.Line; text != "" && line <= to.Line && int(line) <= len(lines); line++ {
		rest, skipped := []rune(lines[line-1]), 0
		if line == from.Line {
			skipped = min(int(from.Col)-1, len(rest))
		}
		before, _, ok := strings.Cut(string(rest[skipped:]), text)
		if ok {
			from.Line, from.Col = line, int32(skipped+utf8.RuneCountInString(before)+1)
			return from, true
		}
	}
	return from, false
}

// Width returns how many characters an Error marks.
func (s *Sources) Width(from, to syntax.Position) int {
	if from.Line == to.Line {
		return int(to.Col - from.Col)
	}
	if lines := s.lines[from.Filename()]; int(from.Line) <= len(lines) {
		return utf8.RuneCountInString(strings.TrimRight(lines[from.Line-1], " \t\r")) - int(from.Col) + 1
	}
	return 1
}

// argument finds the wrong argument of a call: by name, or by position if its name is "#1"; or
// an element of it if it is a literal list.
func argument(call *syntax.CallExpr, f *Fault) syntax.Expr {
	for i, arg := range call.Args {
		named, isNamed := arg.(*syntax.BinaryExpr)
		isNamed = isNamed && named.Op == syntax.EQ
		switch {
		case isNamed && named.X.(*syntax.Ident).Name == f.argument:
			if f.keyword {
				return named.X
			}
			arg = named.Y
		case !isNamed && fmt.Sprintf("#%d", i+1) == f.argument:
		case !isNamed && i == 0 && f.argument == "url":
		default:
			continue
		}
		if list, ok := arg.(*syntax.ListExpr); ok && f.element > 0 && f.element <= len(list.List) {
			return list.List[f.element-1]
		}
		return arg
	}
	return nil
}

// span returns the position of an expression in the file, also after rewriting.
func span(e syntax.Expr) (start, end syntax.Position) {
	if call, ok := e.(*syntax.CallExpr); ok {
		if fn, ok := call.Fn.(*syntax.Ident); ok && strings.HasPrefix(fn.Name, Mark) && len(call.Args) > 0 {
			start, _ = span(call.Args[0])
			_, end = span(call.Args[len(call.Args)-1])
			return start, end
		}
	}
	return e.Span()
}

// nesting finds the first place where brackets or signs nest too deep. Strings and comments do
// not count.
func nesting(data []byte) (line, col int, what string) {
	depth, signs := 0, 0
	line, start := 1, 0
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch c {
		case '\n':
			line, start = line+1, i+1
		case '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			end := stringEnd(data, i)
			for j := i; j < end; j++ {
				if data[j] == '\n' {
					line, start = line+1, j+1
				}
			}
			i = end - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
		switch c {
		case '-', '+', '~':
			signs++
		case ' ', '\t':
		default:
			signs = 0
		}
		if depth > nestingMax {
			return line, utf8.RuneCount(data[min(start, i):i]) + 1, "brackets"
		}
		if signs > nestingMax {
			return line, utf8.RuneCount(data[min(start, i):i]) + 1, "signs"
		}
	}
	return 0, 0, ""
}

// stringEnd returns the index after the string literal that begins at i.
func stringEnd(data []byte, i int) int {
	quote := data[i]
	long := i+2 < len(data) && data[i+1] == quote && data[i+2] == quote
	if long {
		i += 3
	} else {
		i++
	}
	for ; i < len(data); i++ {
		switch {
		case data[i] == '\\':
			i++
		case !long && (data[i] == quote || data[i] == '\n'):
			return i + 1
		case long && data[i] == quote && i+2 < len(data) && data[i+1] == quote && data[i+2] == quote:
			return i + 3
		}
	}
	return len(data)
}

// Mark begins the names that rewriting adds. It is no letter, so no file can use them.
const Mark = "·"
