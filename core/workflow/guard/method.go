package guard

import (
	"hyperscale/core/workflow/language"
	"strings"

	"go.starlark.net/starlark"
)

// meteredMethod reports the methods of Starlark's own types that can create more than a step's
// worth.
func meteredMethod(name string) bool {
	switch name {
	case "join", "format", "replace", "upper", "lower", "title", "capitalize", // one text
		"split", "rsplit", "splitlines", "elems", "elem_ords", "codepoints", "codepoint_ords", // many
		"extend", "update", "union", "keys", "values", "items",
		"difference", "intersection", "symmetric_difference":
		return true
	}
	return false
}

func isBuiltinType(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, *starlark.Dict, *starlark.Set:
		return true
	}
	return false
}

// dot is x.name for the names of meteredMethod.
func dot(thread *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	x, name := args[0], string(args[1].(starlark.String))
	holder, ok := x.(starlark.HasAttrs)
	if !ok {
		return nil, language.Faultf("%s has no .%s field or method", x.Type(), name)
	}
	v, err := holder.Attr(name)
	if err != nil {
		return nil, err
	}
	if v == nil {
		f := language.Faultf("%s has no .%s field or method", x.Type(), name)
		if near := language.Nearest(name, holder.AttrNames()); near != "" {
			f.Do("did you mean .%s?", near)
		}
		return nil, f
	}
	method, ok := v.(*starlark.Builtin)
	if !ok || !isBuiltinType(x) {
		return v, nil
	}
	return &Func{Word: name, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := MeterOf(thread).admitMethod(thread, x, name, args, kwargs); err != nil {
			return nil, err
		}
		if v, done, err := MeterOf(thread).secretly(thread, method, x, args, kwargs); done {
			return v, err
		}
		return method.CallInternal(thread, args, kwargs)
	}}, nil
}

// admitMethod checks and charges x.name(...) before it runs. It leaves arguments of wrong types
// for the method to reject.
func (m *Meter) admitMethod(thread *starlark.Thread, x starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	s, isText := x.(starlark.String)
	if !isText {
		n := length(x, m.Limits.Elements)
		for _, arg := range args {
			n += length(arg, m.Limits.Elements)
		}
		return m.Elements(thread, name, n)
	}
	switch name {
	case "join":
		if len(args) == 1 {
			return m.admitJoin(thread, s, args[0])
		}
	case "format":
		all := append(starlark.Tuple{}, args...)
		for _, kv := range kwargs {
			all = append(all, kv[1])
		}
		if len(all) == 0 {
			return m.Text(thread, name, len(s))
		}
		return m.admitFormat(thread, name, string(s), "{", all)
	case "replace":
		return m.admitReplace(thread, s, args)
	case "split", "rsplit", "splitlines":
		pieces := len(s)/2 + 1
		if len(args) > 0 {
			if sep, ok := args[0].(starlark.String); ok && sep != "" {
				pieces = strings.Count(string(s), string(sep)) + 1
			}
		}
		return m.Elements(thread, name, pieces)
	}
	return m.Text(thread, name, len(s))
}

func (m *Meter) admitJoin(thread *starlark.Thread, sep starlark.String, v starlark.Value) error {
	iter := starlark.Iterate(v)
	if iter == nil {
		return nil
	}
	defer iter.Done()
	n := 0
	var x starlark.Value
	for n <= m.Limits.ValueBytes && iter.Next(&x) {
		if s, ok := x.(starlark.String); ok {
			n += len(s) + len(sep)
		}
	}
	return m.Text(thread, "join", n)
}

func (m *Meter) admitReplace(thread *starlark.Thread, s starlark.String, args starlark.Tuple) error {
	if len(args) < 2 {
		return nil
	}
	old, ok1 := args[0].(starlark.String)
	fresh, ok2 := args[1].(starlark.String)
	if !ok1 || !ok2 {
		return nil
	}
	n := len(s)
	if more := len(fresh) - len(old); more > 0 {
		// Both are at most ValueBytes, so the product fits 64 bits.
		n += more * strings.Count(string(s), string(old))
	}
	return m.Text(thread, "replace", n)
}
