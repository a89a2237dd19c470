package builtin

import (
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Bounds of the texts of a failed expectation, so that one long value leaves room for the other.
const (
	whatMax = 60
	gotMax  = 90
	wantMax = 60
)

// Unmet is the error with which a function of expect ends a call. It quotes both values.
type Unmet struct{ Text string }

func (u *Unmet) Error() string { return "expect: " + u.Text }

// Expect is the module whose functions end a call as failed where two values are not as they say.
func Expect() *language.Namespace {
	return language.NewNamespace("expect", starlark.StringDict{
		"equal": expectation("equal", "", func(got, want starlark.Value) (bool, error) { return starlark.Equal(got, want) }),
		"above": expectation("above", "more than ", func(got, want starlark.Value) (bool, error) { return starlark.Compare(syntax.GT, got, want) }),
		"below": expectation("below", "less than ", func(got, want starlark.Value) (bool, error) { return starlark.Compare(syntax.LT, got, want) }),
		"contains": expectation("contains", "in it ", func(got, want starlark.Value) (bool, error) {
			found, err := starlark.Binary(syntax.IN, want, got)
			return found == starlark.True, err
		}),
	})
}

func expectation(word, before string, holds func(got, want starlark.Value) (bool, error)) *guard.Func {
	fn := "expect." + word
	return &guard.Func{Word: fn, Call: func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		got, want, what, err := compared(fn, args, kwargs)
		if err != nil {
			return nil, err
		}
		ok, err := holds(got, want)
		switch {
		case err != nil:
			return nil, err
		case ok:
			return starlark.True, nil
		}
		text := ""
		if what != "" {
			text = language.Clip(what, whatMax) + ": "
		}
		for i, v := range []starlark.Value{got, want} {
			quoted, err := quoted(thread, fn, v, [...]int{gotMax, wantMax}[i])
			if err != nil {
				return nil, err
			}
			text += [...]string{"got ", ", want " + before}[i] + quoted
		}
		return nil, &Unmet{text}
	}}
}

// compared reads the arguments. None is a value like any other.
func compared(fn string, args starlark.Tuple, kwargs []starlark.Tuple) (got, want starlark.Value, what string, err error) {
	var in [3]starlark.Value
	if err = language.Bind(fn, []string{"got", "want", "what"}, 3, args, kwargs, in[:]); err != nil {
		return nil, nil, "", err
	}
	for i, v := range in[:2] {
		if v == nil && i >= len(args) && !named(kwargs, [...]string{"got", "want"}[i]) {
			return nil, nil, "", language.Faultf("%s takes two values", fn).Do("write %s(got, want, \"what\")", fn)
		}
		if v == nil {
			in[i] = starlark.None
		}
		if _, hidden := v.(*secret.Text); hidden {
			return nil, nil, "", secret.Refusal(fn)
		}
	}
	if in[2] != nil {
		text, ok := in[2].(starlark.String)
		if !ok {
			return nil, nil, "", language.WrongType(fn, "what", "a text that says what is compared", in[2])
		}
		what = string(text)
	}
	return in[0], in[1], what, nil
}

func named(kwargs []starlark.Tuple, name string) bool {
	for _, kv := range kwargs {
		if kv[0] == starlark.String(name) {
			return true
		}
	}
	return false
}

// quoted is a value as a file would write it, up to so many bytes.
func quoted(thread *starlark.Thread, fn string, v starlark.Value, most int) (string, error) {
	if s, ok := v.(starlark.String); ok && len(s) > most {
		v = starlark.String(strings.ToValidUTF8(string(s[:most]), "")) // a whole answer may stand here
	}
	n, err := guard.MeterOf(thread).Rendered(v)
	if err == nil {
		err = guard.MeterOf(thread).Text(thread, fn, n)
	}
	if err != nil {
		return "", err
	}
	return language.Clip(v.String(), most), nil
}
