package extract

import (
	"bytes"
	"hyperscale/core/workflow/language"
	"strconv"

	"go.starlark.net/starlark"
)

// scalar is a value for json_is.
type scalar struct {
	source string // as written in JSON
	text   string // of a text
	isText bool
	isInt  bool
	number float64
	whole  int64
}

func newScalar(v starlark.Value) (scalar, bool) {
	switch v := v.(type) {
	case starlark.String:
		return scalar{source: string(language.AppendQuoted(nil, string(v))), text: string(v), isText: true}, true
	case starlark.Bool:
		return scalar{source: strconv.FormatBool(bool(v))}, true
	case starlark.NoneType:
		return scalar{source: "null"}, true
	case starlark.Int:
		n, ok := v.Int64()
		return scalar{source: v.String(), isInt: true, whole: n, number: float64(v.Float())}, ok
	case starlark.Float:
		return scalar{source: v.String(), number: float64(v), whole: -1}, true
	}
	return scalar{}, false
}

// is compares a value as written.
func (s *scalar) is(raw []byte, r *View) bool {
	switch {
	case s.isText:
		if raw[0] != '"' {
			return false
		}
		inside := raw[1 : len(raw)-1]
		if bytes.IndexByte(inside, '\\') < 0 {
			return string(inside) == s.text
		}
		ok := false
		r.scratch, ok = appendUnescaped(r.scratch[:0], inside)
		return ok && string(r.scratch) == s.text
	case string(raw) == s.source:
		return true
	case raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') || s.source[0] != '-' && (s.source[0] < '0' || s.source[0] > '9'):
		return false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && s.isInt {
		return n == s.whole
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && f == s.number
}
