package workflow

import (
	"math"
	"strconv"
	"unicode/utf8"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// decodeJSON reads text that may come from anywhere: its size, its nesting and
// its numbers are bounded before the decoder, which recurses, sees it.
func decodeJSON(thread *starlark.Thread, text string) (starlark.Value, error) {
	m := meterOf(thread)
	if len(text) > m.limits.JSONBytes {
		return nil, faultf("JSON of %s, the limit is %s", size(uint64(len(text))), size(uint64(m.limits.JSONBytes)))
	}
	if err := m.charge(thread, 16*len(text)); err != nil {
		return nil, err
	}
	if err := scanJSON(text, m.limits.Nesting, m.limits.IntBits/4); err != nil {
		return nil, err
	}
	decode := starlarkjson.Module.Members["decode"].(*starlark.Builtin)
	v, err := decode.CallInternal(thread, starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func scanJSON(text string, nesting, digits int) error {
	depth, run := 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= '0' && c <= '9' {
			if run++; run > digits {
				return faultf("JSON with a number of more than %d digits", digits)
			}
			continue
		}
		run = 0
		switch c {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			if depth++; depth > nesting {
				return faultf("JSON nested more than %d deep", nesting)
			}
		case ']', '}':
			depth--
		}
	}
	return nil
}

// encodeJSON writes a value. Keys stay in the order of the dict. Its size and
// nesting are bounded while it grows.
func encodeJSON(thread *starlark.Thread, v starlark.Value) ([]byte, error) {
	m := meterOf(thread)
	out, err := m.appendJSON(nil, v, m.limits.Nesting)
	if err != nil {
		return nil, err
	}
	return out, m.text(thread, "json", len(out))
}

func (m *meter) appendJSON(b []byte, v starlark.Value, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, faultf("json: a value is nested more than %d deep", m.limits.Nesting)
	}
	if len(b) > m.limits.ValueBytes {
		return nil, faultf("json: more than %s", size(uint64(m.limits.ValueBytes)))
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return append(b, "null"...), nil
	case starlark.Bool:
		return strconv.AppendBool(b, bool(v)), nil
	case starlark.Int:
		if small, ok := v.Int64(); ok {
			return strconv.AppendInt(b, small, 10), nil
		}
		return append(b, v.String()...), nil
	case starlark.Float:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.AppendFloat(b, f, 'g', -1, 64), nil
		}
		return nil, faultf("json: %s cannot be written in JSON", v)
	case starlark.String:
		return appendQuoted(b, string(v)), nil
	case *starlark.Dict:
		return m.appendObject(b, v.Items(), depth)
	case *starlarkstruct.Struct:
		return m.appendObject(b, fields(v), depth)
	case *starlark.List, starlark.Tuple:
		b = append(b, '[')
		list := v.(starlark.Indexable)
		var err error
		for i := range list.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = m.appendJSON(b, list.Index(i), depth-1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return nil, faultf("json: %s cannot be written in JSON", describe(v)).do("use texts, numbers, True, False, None, lists, dicts and structs of them")
}

func (m *meter) appendObject(b []byte, items []starlark.Tuple, depth int) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, kv := range items {
		key, ok := kv[0].(starlark.String)
		if !ok {
			return nil, faultf("json: the key %s is not a text", describe(kv[0])).do("write str(key)")
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, string(key)), ':')
		if b, err = m.appendJSON(b, kv[1], depth-1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r) // U+FFFD for what is not UTF-8
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}

// jsonNamespace is the module json.
func jsonNamespace() *namespace {
	one := func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) != 1 || len(kwargs) > 0 {
			return nil, faultf("%s takes one value", fn)
		}
		return args[0], nil
	}
	return newNamespace("json", starlark.StringDict{
		"encode": &guard{"encode", func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			v, err := one("json.encode", args, kwargs)
			if err != nil {
				return nil, err
			}
			out, err := encodeJSON(thread, v)
			return starlark.String(out), err
		}},
		"decode": &guard{"decode", func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			v, err := one("json.decode", args, kwargs)
			if err != nil {
				return nil, err
			}
			switch v := v.(type) {
			case starlark.String:
				return decodeJSON(thread, string(v))
			case starlark.Bytes:
				return decodeJSON(thread, string(v))
			}
			return nil, wrongType("json.decode", "its argument", "a text or bytes", v)
		}},
	})
}
