package workflow

import (
	"bytes"
	"fmt"
	"regexp"

	"go.starlark.net/starlark"
)

type extractKind uint8

const (
	extractJSON extractKind = iota
	extractRegex
	extractHeader
	extractCookie
	extractForm
)

// ValueMax bounds an extracted value in bytes: virtual users keep theirs.
const ValueMax = 64 << 10

// ExtractWorkMax is as patternWorkMax, for who keeps other virtual users waiting.
const extractWorkMax = patternWorkMax / 4

// Extract takes a value out of a response. It is plain data, compiled at load.
type Extract struct {
	Var int // index into Workflow.Vars

	kind  extractKind
	name  string // of the header, the cookie, the input; the pattern
	path  jsonPath
	regex *regexp.Regexp
	cost  int // of regex: see patternWorkMax
}

// From finds the value. It lies in the response or in r, and nothing is allocated, where
// it does not have to be decoded and is not a regex's. Without one, why says what was found.
func (e *Extract) From(r *View) (value []byte, ok bool, why string) {
	switch e.kind {
	case extractJSON:
		value, why = e.path.text(r)
	case extractRegex:
		if work := e.cost * (len(r.Body) + 1); work > extractWorkMax {
			why = "takes too long on " + size(uint64(len(r.Body))) + ": use json_path, or a simpler pattern"
		} else if at := e.regex.FindSubmatchIndex(r.Body); at != nil {
			value, ok = within(r.Body, at[min(2, len(at)-2):]) // the first group, or all of it without one
		}
		if !ok && why == "" {
			why = "does not match " + excerpt(r.Body)
		}
	case extractHeader:
		if value, ok = r.field(e.name); !ok {
			why = "the response has no such header"
		}
	case extractCookie:
		if value, ok = r.cookie(e.name); !ok {
			why = "the response does not set it"
		}
	case extractForm:
		if value, ok = inputValue(r.Body, e.name); !ok {
			why = "no <input> of that name with a value in " + excerpt(r.Body)
		}
	}
	if why == "" && len(value) > ValueMax {
		why = fmt.Sprintf("it has %s, the limit is %s", size(uint64(len(value))), size(ValueMax))
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

// String is the extract as it was written.
func (e *Extract) String() string {
	return []string{"json_path", "regex", "header", "cookie", "form_value"}[e.kind] + "(" + starlark.String(clip(e.name, 60)).String() + ")"
}

// cookie finds the last one of that name that the response sets.
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

type extractValue struct {
	opaque
	extract Extract
}

// named is one entry of a step's extract.
type named struct {
	name    string
	extract Extract
}

// CompareMax bounds texts that responses are compared with.
const compareMax = 4096

// extractor makes the function of one kind.
func extractor(fn, argument string, kind extractKind) *guard {
	return &guard{fn, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var in [1]starlark.Value
		if err := bind(fn, []string{argument}, 1, args, kwargs, in[:]); err != nil {
			return nil, err
		}
		if in[0] == nil {
			return nil, faultf("%s: the %s is missing", fn, argument)
		}
		e, err := newExtract(thread, fn, kind, in[0])
		if f, ok := err.(*fault); ok {
			f.in("#1")
		}
		if err != nil {
			return nil, err
		}
		return &extractValue{opaque{fn}, *e}, nil
	}}
}

func newExtract(thread *starlark.Thread, fn string, kind extractKind, v starlark.Value) (*Extract, error) {
	if kind == extractRegex {
		p, err := pattern(thread, fn, v)
		if err != nil {
			return nil, err
		}
		return &Extract{kind: kind, name: p.re.String(), regex: p.re, cost: p.cost}, nil
	}
	name, ok := v.(starlark.String)
	switch {
	case !ok:
		return nil, faultf("%s takes a text, not %s", fn, describe(v))
	case name == "" || len(name) > compareMax:
		return nil, faultf("%s: its argument must have 1 to %d bytes", fn, compareMax)
	case kind == extractHeader && !isToken(string(name)):
		return nil, faultf("%s: %q is not a header's name", fn, clip(string(name), 40))
	}
	e := &Extract{kind: kind, name: string(name)}
	if kind != extractJSON {
		return e, nil
	}
	var err error
	e.path, err = parsePath(fn, e.name)
	return e, err
}

// readExtract reads a step's extract.
func (s *stepValue) readExtract(v starlark.Value) error {
	if v == nil {
		return nil
	}
	const like = "a dict such as {\"token\": json_path(\"$.token\")}"
	d, ok := v.(*starlark.Dict)
	if !ok {
		return wrongType("step", "extract", like, v)
	}
	for _, kv := range d.Items() {
		name, ok := kv[0].(starlark.String)
		if !ok {
			return wrongType("step", "extract", like, kv[0])
		}
		if err := checkName("step", "extract", string(name)); err != nil {
			return err
		}
		e, ok := kv[1].(*extractValue)
		if !ok {
			f := faultf("step %q: extract has %s for %q", s.name, describe(kv[1]), string(name)).in("extract")
			return f.do("use json_path, regex, header, cookie or form_value")
		}
		s.extract = append(s.extract, named{string(name), e.extract})
	}
	return nil
}
