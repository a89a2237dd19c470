package mail

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/request"
)

// arguments are those of a call, by name.
type arguments struct {
	fn    string
	names []string
	in    []starlark.Value
}

// bind reads the arguments of a call.
func bind(fn string, names []string, positional int, args starlark.Tuple, kwargs []starlark.Tuple) (arguments, error) {
	a := arguments{fn: fn, names: names, in: make([]starlark.Value, len(names))}
	return a, language.Bind(fn, names, positional, args, kwargs, a.in)
}

func (a *arguments) of(name string) starlark.Value { return a.in[slices.Index(a.names, name)] }

// proof checks a text that proves a user. Example is a call that has it.
func (a *arguments) proof(name, example string) error {
	v := a.of(name)
	text, ok, err := request.SentText(v)
	switch {
	case err != nil:
		return err
	case v == nil:
		return language.Faultf("%s: the %s is missing", a.fn, name).Do("write %s", example)
	case !ok:
		return language.WrongType(a.fn, name, "a text or a secret", v).Do("write %s, and give the secret by --secret NAME=file:PATH", example)
	case text == "" || strings.ContainsAny(text, "\r\n\x00"):
		return language.Faultf("%s: %s is empty, or has a line break or a zero byte", a.fn, name).In(name).Do("write %s", example)
	case strings.Contains(text, "${"):
		return language.Faultf("%s: %s has ${ in it, and a connection serves all iterations of its user", a.fn, name).In(name).Do("write it out, or take it from a secret")
	}
	return nil
}
