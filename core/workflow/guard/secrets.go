package guard

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"hyperscale/core/workflow/secret"
)

// secretSize is about the length of x + y, if one of them is a secret; else zero.
func secretSize(x, y starlark.Value) int {
	if !isSecret(x) && !isSecret(y) {
		return 0
	}
	return sizeOf(x) + sizeOf(y)
}

func sizeOf(v starlark.Value) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case *secret.Text:
		return v.Size()
	}
	return 0
}

// hasSecret reports whether v is a secret, or a tuple or a dict with one in it.
func hasSecret(v starlark.Value) bool {
	switch v := v.(type) {
	case *secret.Text:
		return true
	case starlark.Tuple:
		return slices.ContainsFunc(v, isSecret)
	case *starlark.Dict:
		for _, x := range v.Entries() {
			if isSecret(x) {
				return true
			}
		}
	}
	return false
}

func isSecret(v starlark.Value) bool {
	_, ok := v.(*secret.Text)
	return ok
}

// hideArguments replaces the secrets among the arguments of a format.
func hideArguments(f *secret.Formatting, v starlark.Value) starlark.Value {
	switch v := v.(type) {
	case starlark.Tuple:
		out := make(starlark.Tuple, len(v))
		for i, x := range v {
			out[i] = f.Hide(x)
		}
		return out
	case *starlark.Dict:
		out := starlark.NewDict(v.Len())
		for _, kv := range v.Items() {
			_ = out.SetKey(kv[0], f.Hide(kv[1])) // it was a key before
		}
		return out
	}
	return f.Hide(v)
}

// formatted is x % y, in which secrets stay secret.
func formatted(x, y starlark.Value) (starlark.Value, error) {
	if _, ok := x.(starlark.String); !ok || !hasSecret(y) {
		return starlark.Binary(syntax.PERCENT, x, y)
	}
	var f secret.Formatting
	v, err := starlark.Binary(syntax.PERCENT, x, hideArguments(&f, y))
	if err != nil {
		return nil, err
	}
	return f.Fill("%", string(v.(starlark.String)))
}

// secretly runs a method of a text that takes secrets. False: it gets none.
func (m *Meter) secretly(thread *starlark.Thread, method *starlark.Builtin, x starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, bool, error) {
	if _, ok := x.(starlark.String); !ok || method.Name() != "format" && method.Name() != "join" {
		return nil, false, nil
	}
	var f secret.Formatting
	if method.Name() == "join" && len(args) == 1 {
		list, ok := listed(args[0])
		if !ok {
			return nil, false, nil
		}
		args = starlark.Tuple{hideArguments(&f, list)}
	} else {
		if !hasSecret(args) && !slices.ContainsFunc(kwargs, func(kv starlark.Tuple) bool { return isSecret(kv[1]) }) {
			return nil, false, nil
		}
		args = hideArguments(&f, args).(starlark.Tuple)
		named := make([]starlark.Tuple, len(kwargs))
		for i, kv := range kwargs {
			named[i] = starlark.Tuple{kv[0], f.Hide(kv[1])}
		}
		kwargs = named
	}
	v, err := method.CallInternal(thread, args, kwargs)
	if err != nil {
		return nil, true, err
	}
	out, err := f.Fill(method.Name(), string(v.(starlark.String)))
	if err != nil {
		return nil, true, err
	}
	return out, true, m.Text(thread, method.Name(), out.Size())
}

// listed collects what is joined, if there are secrets in it.
func listed(v starlark.Value) (all starlark.Tuple, ok bool) {
	iter := starlark.Iterate(v)
	if iter == nil {
		return nil, false
	}
	defer iter.Done()
	var x starlark.Value
	for !ok && iter.Next(&x) {
		ok = isSecret(x)
	}
	if !ok {
		return nil, false
	}
	again := starlark.Iterate(v)
	defer again.Done()
	for again.Next(&x) {
		all = append(all, x)
	}
	return all, true
}
