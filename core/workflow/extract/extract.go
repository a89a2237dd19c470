package extract

import (
	"bytes"
	"fmt"
	"hyperscale/core/workflow/builtin"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/markup"
	"regexp"

	"go.starlark.net/starlark"
)

type extractKind uint8

const (
	JSON extractKind = iota
	Regex
	Header
	Cookie
	Form
	CSS
	XPath
)

// ValueMax bounds an extracted value in bytes: virtual users keep theirs.
const ValueMax = 64 << 10

// extractWorkMax is lower than PatternWorkMax, because an extract keeps other virtual users
// waiting.
const extractWorkMax = builtin.PatternWorkMax / 4

// Extract extracts a value from a response. It is plain data, compiled at load.
type Extract struct {
	Var int // index into Workflow.Vars

	Kind  extractKind
	name  string // of the header, the cookie, the input; the pattern
	path  jsonPath
	regex *regexp.Regexp
	cost  int    // of regex: see builtin.PatternWorkMax
	attr  string // of CSS: empty is the element's text
	css   *markup.Selector
	xpath *markup.Path
}

// From finds the value, in the response or in r. It allocates nothing unless the value must be
// decoded or is a regex's. Without a value, why says what it found.
func (e *Extract) From(r *View) (value []byte, ok bool, why string) {
	switch e.Kind {
	case JSON:
		value, why = e.path.text(r)
	case Regex:
		if work := e.cost * (len(r.Body) + 1); work > extractWorkMax {
			why = "takes too long on " + guard.Size(uint64(len(r.Body))) + ": use json_path, or a simpler pattern"
		} else if at := e.regex.FindSubmatchIndex(r.Body); at != nil {
			value, ok = within(r.Body, at[min(2, len(at)-2):]) // the first group, or the whole match without one
		}
		if !ok && why == "" {
			why = "does not match " + excerpt(r.Body)
		}
	case Header:
		if value, ok = r.field(e.name); !ok {
			why = "the response has no such header"
		}
	case Cookie:
		if value, ok = r.cookie(e.name); !ok {
			why = "the response does not set it"
		}
	case Form:
		if value, ok = inputValue(r.Body, e.name); !ok {
			why = "no <input> of that name with a value in " + excerpt(r.Body)
		}
	case CSS, XPath:
		value, why = e.marked(r.Body)
	}
	if why == "" && len(value) > ValueMax {
		why = fmt.Sprintf("it has %s, the limit is %s", guard.Size(uint64(len(value))), guard.Size(ValueMax))
	}
	if why != "" {
		return nil, false, e.String() + ": " + why
	}
	return value, true, ""
}

func within(b []byte, at []int) ([]byte, bool) {
	if at[0] < 0 {
		return nil, false
	}
	return b[at[0]:at[1]], true
}

// String returns the extract as written.
func (e *Extract) String() string {
	return []string{"json_path", "regex", "header", "cookie", "form_value", "css", "xpath"}[e.Kind] + "(" + starlark.String(language.Clip(e.name, 60)).String() + ")"
}

// cookie returns the last cookie of that name that the response sets.
func (r *View) cookie(name string) (value []byte, ok bool) {
	if r.Fields == nil {
		return nil, false
	}
	for i := range r.Fields.Len() {
		n, v := r.Fields.At(i)
		if !equalFold(n, "set-cookie") {
			continue
		}
		pair := v
		if end := bytes.IndexByte(v, ';'); end >= 0 {
			pair = v[:end]
		}
		key, val, has := bytes.Cut(pair, []byte{'='})
		if has && string(bytes.TrimSpace(key)) == name {
			value, ok = bytes.TrimSpace(val), true
		}
	}
	return value, ok
}

// Value is the result of json_path(), header() and their like.
type Value struct {
	language.Opaque
	Extract Extract
}

// Named is one entry of a step's extract.
type Named struct {
	Name    string
	Extract Extract
}

// compareMax bounds texts to compare with responses.
const compareMax = 4096

// Extractor returns the function of one kind.
func Extractor(fn, argument string, kind extractKind) *guard.Func {
	return &guard.Func{Word: fn, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var in [1]starlark.Value
		if err := language.Bind(fn, []string{argument}, 1, args, kwargs, in[:]); err != nil {
			return nil, err
		}
		if in[0] == nil {
			return nil, language.Faultf("%s: the %s is missing", fn, argument)
		}
		e, err := newExtract(thread, fn, kind, in[0])
		if f, ok := err.(*language.Fault); ok {
			f.In("#1")
		}
		if err != nil {
			return nil, err
		}
		return &Value{language.Opaque{Kind: fn}, *e}, nil
	}}
}

// NewCSS is css(selector, attr).
func NewCSS(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	const fn = "css"
	var in [2]starlark.Value
	if err := language.Bind(fn, []string{"selector", "attr"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, language.Faultf("%s: the selector is missing", fn)
	}
	e, err := newExtract(thread, fn, CSS, in[0])
	if err != nil {
		if f, ok := err.(*language.Fault); ok {
			f.In("#1")
		}
		return nil, err
	}
	if in[1] != nil {
		text, ok := in[1].(starlark.String)
		if !ok || text == "" {
			return nil, language.WrongType(fn, "attr", "an attribute's name", in[1])
		}
		e.attr = string(text)
	}
	return &Value{language.Opaque{Kind: fn}, *e}, nil
}

func newExtract(thread *starlark.Thread, fn string, kind extractKind, v starlark.Value) (*Extract, error) {
	if kind == Regex {
		p, err := builtin.CompilePattern(thread, fn, v)
		if err != nil {
			return nil, err
		}
		return &Extract{Kind: kind, name: p.Re.String(), regex: p.Re, cost: p.Cost}, nil
	}
	name, ok := v.(starlark.String)
	switch {
	case !ok:
		return nil, language.Faultf("%s takes a text, not %s", fn, language.Describe(v))
	case name == "" || len(name) > compareMax:
		return nil, language.Faultf("%s: its argument must have 1 to %d bytes", fn, compareMax)
	case kind == Header && !language.IsToken(string(name)):
		return nil, language.Faultf("%s: %q is not a header's name", fn, language.Clip(string(name), 40))
	}
	e := &Extract{Kind: kind, name: string(name)}
	var err error
	switch kind {
	case JSON:
		e.path, err = parsePath(fn, e.name)
	case CSS:
		if e.css, err = markup.ParseSelector(e.name); err != nil {
			err = language.Faultf("%s: %v", fn, err)
		}
	case XPath:
		if e.xpath, err = markup.ParsePath(e.name); err != nil {
			err = language.Faultf("%s: %v", fn, err)
		}
	}
	return e, err
}
