package extract

import (
	"bytes"
	"hyperscale/core/workflow/language"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// pathMax bounds the steps of a path: a search walks over the body at most so many times.
const pathMax = 32

// jsonPath finds a value in JSON text without decoding it.
//
//	$              all of it
//	.name          the member of an object; its first, if it is there twice
//	["any name"]   the same, for names with other characters
//	[0]            the element of a list, from 0
//	[*]            the first element in which the rest of the path is found
type jsonPath struct {
	source string
	steps  []pathStep
}

type pathStep struct {
	kind pathKind
	name string
	at   int
}

type pathKind uint8

const (
	pathMember pathKind = iota
	pathElement
	pathAny
)

func parsePath(fn, source string) (jsonPath, error) {
	p := jsonPath{source: source}
	wrong := func(why string) (jsonPath, error) {
		return jsonPath{}, language.Faultf("%s: %q: %s", fn, language.Clip(source, 80), why).In("#1").Do("write it like \"$.items[0].name\"; there is .name, [\"name\"], [0] and [*]")
	}
	rest, ok := strings.CutPrefix(source, "$")
	if !ok {
		return wrong("a path begins with $")
	}
	for rest != "" {
		if len(p.steps) == pathMax {
			return wrong("more than " + strconv.Itoa(pathMax) + " names")
		}
		var s pathStep
		switch rest[0] {
		case '.':
			end := len(rest)
			if k := strings.IndexAny(rest[1:], ".["); k >= 0 {
				end = 1 + k
			}
			if s.name, rest = rest[1:end], rest[end:]; s.name == "" || s.name == "*" {
				return wrong("a name is missing behind a dot")
			}
		case '[':
			var why string
			if s, rest, why = parseBracket(rest[1:]); why != "" {
				return wrong(why)
			}
		default:
			return wrong("after $ come .name and [...]")
		}
		p.steps = append(p.steps, s)
	}
	return p, nil
}

// parseBracket reads what follows a bracket.
func parseBracket(s string) (step pathStep, rest, why string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		var name strings.Builder
		i := 1
		for ; i < len(s) && s[i] != s[0]; i++ {
			if s[i] == '\\' && i+1 < len(s) {
				i++
			}
			name.WriteByte(s[i])
		}
		if !strings.HasPrefix(s[min(i+1, len(s)):], "]") {
			return step, "", "a name in quotes ends with a quote and ]"
		}
		return pathStep{name: name.String()}, s[i+2:], ""
	}
	inside, rest, ok := strings.Cut(s, "]")
	if !ok {
		return step, "", "] is missing"
	}
	if inside == "*" {
		return pathStep{kind: pathAny}, rest, ""
	}
	n, err := strconv.ParseUint(inside, 10, 31)
	if err != nil {
		return step, "", "in brackets stands an index from 0, * or a name in quotes, not " + language.Clip(inside, 20)
	}
	return pathStep{kind: pathElement, at: int(n)}, rest, ""
}

// find returns the value as written in the body; why is empty if there is one.
func (p *jsonPath) find(body []byte) (raw []byte, why string) {
	w := walk{b: body, steps: p.steps}
	if from, to, ok := w.value(0, 0); ok {
		return body[from:to], ""
	}
	if at := skipSpace(body, 0); at == len(body) || body[at] != '{' && body[at] != '[' {
		return nil, "is not there: the body is no JSON object or list: " + excerpt(body)
	}
	if w.deepest < len(p.steps) {
		return nil, "is not there, " + p.steps[w.deepest].String() + " is not found: " + excerpt(body)
	}
	return nil, "is not there: " + excerpt(body)
}

func (s pathStep) String() string {
	switch s.kind {
	case pathElement:
		return "[" + strconv.Itoa(s.at) + "]"
	case pathAny:
		return "[*]"
	}
	return starlark.String(s.name).String()
}

// text returns the value for users: a text without its quotes.
func (p *jsonPath) text(r *View) (value []byte, why string) {
	raw, why := p.find(r.Body)
	if why != "" {
		return nil, why
	}
	switch {
	case string(raw) == "null":
		return nil, "is null: " + excerpt(r.Body)
	case raw[0] != '"':
		return raw, ""
	}
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return inside, ""
	}
	ok := false
	if r.scratch, ok = appendUnescaped(r.scratch[:0], inside); !ok {
		return nil, "is a broken text: " + excerpt(raw)
	}
	return r.scratch, ""
}

// walk is the state of one search. It recurses once a step of the path, not with the text.
type walk struct {
	b       []byte
	steps   []pathStep
	deepest int // the step without a match
}

func (w *walk) value(i, step int) (from, to int, ok bool) {
	w.deepest = max(w.deepest, step)
	i = skipSpace(w.b, i)
	if step == len(w.steps) {
		to, ok = skipValue(w.b, i)
		return i, to, ok
	}
	if i == len(w.b) {
		return 0, 0, false
	}
	s := &w.steps[step]
	if s.kind == pathMember {
		if w.b[i] != '{' {
			return 0, 0, false
		}
		return w.member(i+1, step, s.name)
	}
	if w.b[i] != '[' {
		return 0, 0, false
	}
	return w.element(i+1, step, s)
}

func (w *walk) member(i, step int, name string) (from, to int, ok bool) {
	for {
		i = skipSpace(w.b, i)
		if i == len(w.b) || w.b[i] != '"' {
			return 0, 0, false
		}
		end, ok := skipString(w.b, i)
		if !ok {
			return 0, 0, false
		}
		key := w.b[i+1 : end-1]
		if i = skipSpace(w.b, end); i == len(w.b) || w.b[i] != ':' {
			return 0, 0, false
		}
		if isText(key, name) {
			return w.value(i+1, step+1)
		}
		if i, ok = w.comma(i + 1); !ok {
			return 0, 0, false
		}
	}
}

func (w *walk) element(i, step int, s *pathStep) (from, to int, ok bool) {
	if i = skipSpace(w.b, i); i < len(w.b) && w.b[i] == ']' {
		return 0, 0, false
	}
	for at := 0; ; at++ {
		if s.kind == pathAny || at == s.at {
			from, to, ok = w.value(i, step+1)
			if ok || s.kind == pathElement {
				return from, to, ok
			}
		}
		if i, ok = w.comma(i); !ok {
			return 0, 0, false
		}
	}
}

// comma skips a value and the comma after it.
func (w *walk) comma(i int) (int, bool) {
	i, ok := skipValue(w.b, skipSpace(w.b, i))
	if !ok {
		return 0, false
	}
	if i = skipSpace(w.b, i); i == len(w.b) || w.b[i] != ',' {
		return 0, false
	}
	return i + 1, true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) (int, bool) {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
		}
	}
	return 0, false
}

// skipValue returns the index after the value that begins at i. Inside it reads only strings
// and brackets.
func skipValue(b []byte, i int) (int, bool) {
	if i == len(b) {
		return 0, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
	default:
		from := i
		for i < len(b) && (b[i] >= '0' && b[i] <= '9' || low(b[i]) >= 'a' && low(b[i]) <= 'z' || b[i] == '-' || b[i] == '+' || b[i] == '.') {
			i++
		}
		return i, i > from
	}
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end, ok := skipString(b, i)
			if !ok {
				return 0, false
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// isText compares the inside of a JSON string with a text.
func isText(inside []byte, text string) bool {
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside) == text
	}
	if len(inside) > 6*len(text) {
		return false
	}
	decoded, ok := appendUnescaped(nil, inside)
	return ok && string(decoded) == text
}

// appendUnescaped decodes the inside of a JSON string.
func appendUnescaped(b, inside []byte) ([]byte, bool) {
	for i := 0; i < len(inside); i++ {
		if inside[i] != '\\' {
			b = append(b, inside[i])
			continue
		}
		if i++; i == len(inside) {
			return b, false
		}
		if inside[i] == 'u' {
			r, n := unescapeRune(inside[i-1:])
			if n == 0 {
				return b, false
			}
			b, i = utf8.AppendRune(b, r), i-2+n
			continue
		}
		k := strings.IndexByte(`"\/bfnrt`, inside[i])
		if k < 0 {
			return b, false
		}
		b = append(b, "\"\\/\b\f\n\r\t"[k])
	}
	return b, true
}

// unescapeRune reads \uXXXX, or two of them that belong together; n is their length.
func unescapeRune(b []byte) (r rune, n int) {
	one := func(b []byte) (rune, bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0, false
		}
		var r rune
		for _, c := range b[2:6] {
			switch c = low(c); {
			case c >= '0' && c <= '9':
				r = r<<4 | rune(c-'0')
			case c >= 'a' && c <= 'f':
				r = r<<4 | rune(c-'a'+10)
			default:
				return 0, false
			}
		}
		return r, true
	}
	r, ok := one(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if second, ok := one(b[6:]); ok {
		if both := utf16.DecodeRune(r, second); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}
