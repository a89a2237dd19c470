package builtin

import (
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
)

// function returns a function of a module. Its arguments have the given names. The first
// positional ones may be given without a name, and the first required ones must be given. A
// missing argument is nil.
func function(fn, name string, names []string, positional, required int, call func(*starlark.Thread, []starlark.Value) (starlark.Value, error)) *guard.Func {
	return &guard.Func{Word: name, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := make([]starlark.Value, len(names))
		if err := language.Bind(fn, names, positional, args, kwargs, in); err != nil {
			return nil, err
		}
		for i, v := range in[:required] {
			if v == nil {
				return nil, language.Faultf("%s: %s is missing", fn, names[i]).Do("it takes %s", listed(names[:required]))
			}
		}
		return call(thread, in)
	}}
}

func listed(names []string) string {
	out := ""
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			out += " and "
		default:
			out += ", "
		}
		out += name
	}
	return out
}

// Content reads a text or bytes of bounded length.
func Content(fn, argument string, v starlark.Value, most int) (string, error) {
	var s string
	switch v := v.(type) {
	case starlark.String:
		s = string(v)
	case starlark.Bytes:
		s = string(v)
	default:
		return "", language.WrongType(fn, argument, "a text or bytes", v)
	}
	if len(s) > most {
		return "", language.Faultf("%s: %s has %s, the limit is %s", fn, argument, guard.Size(uint64(len(s))), guard.Size(uint64(most))).In(argument)
	}
	return s, nil
}

// secretly reads a text or bytes that may be secret. It charges for what is made of it: made
// times as many bytes and some more.
func secretly(thread *starlark.Thread, fn, argument string, v starlark.Value, most, made, more int) (secret.Input, error) {
	in, ok := secret.InputOf(v)
	if !ok {
		return in, language.WrongType(fn, argument, "a text, bytes or a secret", v)
	}
	if in.Size() > most {
		return in, language.Faultf("%s: %s has %s, the limit is %s", fn, argument, guard.Size(uint64(in.Size())), guard.Size(uint64(most))).In(argument)
	}
	return in, worked(thread, fn, in.Size(), made*in.Size()+more)
}

// derived returns what d makes of its inputs: a secret, if one of them is.
func derived(d secret.Derivation, inputs ...secret.Input) (starlark.Value, error) {
	if t := secret.Secret(inputs...); t != nil {
		out, err := t.Derive(d)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	text, err := d.Derive()
	return starlark.String(text), err
}

// worked charges for reading n bytes, and admits a text of made bytes.
func worked(thread *starlark.Thread, fn string, n, made int) error {
	thread.Steps += uint64(n) / 8 // a digest of 8 bytes takes about the time of a step
	return guard.MeterOf(thread).Text(thread, fn, made)
}

// OneOf reads one of the words; without an argument it is the first.
func OneOf(fn, argument string, v starlark.Value, words []string) (string, error) {
	if v == nil {
		return words[0], nil
	}
	s, ok := v.(starlark.String)
	if !ok {
		return "", language.WrongType(fn, argument, "a text", v)
	}
	for _, w := range words {
		if w == string(s) {
			return w, nil
		}
	}
	return "", language.Faultf("%s: %s = %q is unknown", fn, argument, language.Clip(string(s), 40)).In(argument).Meant(string(s), words)
}

// Math is Starlark's own.
func Math() *language.Namespace {
	members := starlark.StringDict{}
	for _, name := range math.Module.Members.Keys() {
		members[name] = math.Module.Members[name]
	}
	return language.NewNamespace("math", members)
}

// NewStruct is the function struct.
func NewStruct(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		return nil, language.Faultf("struct takes named arguments only").Do("write struct(name = value)")
	}
	if err := guard.MeterOf(thread).Elements(thread, "struct", len(kwargs)); err != nil {
		return nil, err
	}
	s := starlarkstruct.FromKeywords(starlarkstruct.Default, kwargs)
	return s, guard.MeterOf(thread).Woven(thread, s)
}
