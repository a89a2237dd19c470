package builtin

import (
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"math"
	"strconv"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// DecodeJSON decodes untrusted text: it bounds size, nesting and numbers before the decoder,
// which recurses, reads it.
func DecodeJSON(thread *starlark.Thread, text string) (starlark.Value, error) {
	m := guard.MeterOf(thread)
	if len(text) > m.Limits.JSONBytes {
		return nil, language.Faultf("JSON of %s, the limit is %s", guard.Size(uint64(len(text))), guard.Size(uint64(m.Limits.JSONBytes)))
	}
	if err := m.Charge(thread, 16*len(text)); err != nil {
		return nil, err
	}
	if err := ScanJSON(text, m.Limits.Nesting, m.Limits.IntBits/4); err != nil {
		return nil, err
	}
	decode := starlarkjson.Module.Members["decode"].(*starlark.Builtin)
	v, err := decode.CallInternal(thread, starlark.Tuple{starlark.String(text)}, nil)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// ScanJSON rejects a text that nests too deep, or has an integer of too many digits.
func ScanJSON(text string, nesting, digits int) error {
	depth, run := 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= '0' && c <= '9' {
			if run++; run > digits {
				return language.Faultf("JSON with a number of more than %d digits", digits)
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
				return language.Faultf("JSON nested more than %d deep", nesting)
			}
		case ']', '}':
			depth--
		}
	}
	return nil
}

// EncodeJSON encodes a value. Keys stay in the order of the dict. It checks size and nesting
// while the result grows.
func EncodeJSON(thread *starlark.Thread, v starlark.Value) ([]byte, error) {
	m := guard.MeterOf(thread)
	out, err := AppendJSON(m, nil, v, m.Limits.Nesting)
	if err != nil {
		return nil, err
	}
	return out, m.Text(thread, "json", len(out))
}

// EncodeBody encodes the body of a request, which may have secrets in it.
func EncodeBody(thread *starlark.Thread, v starlark.Value) ([]byte, error) {
	m := guard.MeterOf(thread)
	m.Sends = true
	defer func() { m.Sends = false }()
	return EncodeJSON(thread, v)
}

// AppendJSON appends v as JSON, and charges m for it.
func AppendJSON(m *guard.Meter, b []byte, v starlark.Value, depth int) ([]byte, error) {
	if depth == 0 {
		return nil, language.Faultf("json: a value is nested more than %d deep", m.Limits.Nesting)
	}
	if len(b) > m.Limits.ValueBytes {
		return nil, language.Faultf("json: more than %s", guard.Size(uint64(m.Limits.ValueBytes)))
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
		return nil, language.Faultf("json: %s cannot be written in JSON", v)
	case starlark.String:
		return language.AppendQuoted(b, string(v)), nil
	case *starlark.Dict:
		return appendObject(m, b, v.Items(), depth)
	case *starlarkstruct.Struct:
		return appendObject(m, b, guard.Fields(v), depth)
	case *starlark.List, starlark.Tuple:
		b = append(b, '[')
		list := v.(starlark.Indexable)
		var err error
		for i := range list.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = AppendJSON(m, b, list.Index(i), depth-1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	if t, ok := v.(*secret.Text); ok {
		if !m.Sends {
			return nil, secret.Refusal("json")
		}
		text, err := t.Sent()
		return language.AppendQuoted(b, text), err
	}
	return nil, language.Faultf("json: %s cannot be written in JSON", language.Describe(v)).Do("use texts, numbers, True, False, None, lists, dicts and structs of them")
}

func appendObject(m *guard.Meter, b []byte, items []starlark.Tuple, depth int) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, kv := range items {
		key, ok := kv[0].(starlark.String)
		if !ok {
			return nil, language.Faultf("json: the key %s is not a text", language.Describe(kv[0])).Do("write str(key)")
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(language.AppendQuoted(b, string(key)), ':')
		if b, err = AppendJSON(m, b, kv[1], depth-1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// JSON is the module json.
func JSON() *language.Namespace {
	one := func(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) != 1 || len(kwargs) > 0 {
			return nil, language.Faultf("%s takes one value", fn)
		}
		return args[0], nil
	}
	return language.NewNamespace("json", starlark.StringDict{
		"encode": &guard.Func{Word: "encode", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			v, err := one("json.encode", args, kwargs)
			if err != nil {
				return nil, err
			}
			out, err := EncodeJSON(thread, v)
			return starlark.String(out), err
		}},
		"decode": &guard.Func{Word: "decode", Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			v, err := one("json.decode", args, kwargs)
			if err != nil {
				return nil, err
			}
			switch v := v.(type) {
			case starlark.String:
				return DecodeJSON(thread, string(v))
			case starlark.Bytes:
				return DecodeJSON(thread, string(v))
			}
			return nil, language.WrongType("json.decode", "its argument", "a text or bytes", v)
		}},
	})
}
