package workflow

import (
	"slices"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/plan"
)

// bind sorts a call's arguments into out, in the order of names; what was not
// given stays nil. The first positional of them may be given without a name.
// starlark.UnpackArgs does the same for 180 ns and four allocations; this runs
// in every request that a function sends.
func bind(fn string, names []string, positional int, args starlark.Tuple, kwargs []starlark.Tuple, out []starlark.Value) error {
	if len(args) > positional {
		if positional == 0 {
			return faultf("%s takes named arguments only", fn).meant("", names)
		}
		f := faultf("%s takes at most %d arguments without a name, got %d", fn, positional, len(args))
		return f.do("the others need names: %s = ...", names[min(positional, len(names)-1)])
	}
	copy(out, args)
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		i := slices.Index(names, name)
		if i < 0 {
			f := faultf("%s has no argument %q", fn, name).in(name).meant(name, names)
			f.keyword, f.takes, f.positional = true, names, positional
			return f
		}
		if out[i] != nil {
			return faultf("%s got its argument %q twice", fn, name).in(name)
		}
		out[i] = kv[1]
	}
	for i, v := range out {
		if v == starlark.None {
			out[i] = nil
		}
	}
	return nil
}

func wrongType(fn, argument, want string, got starlark.Value) *fault {
	return faultf("%s: %s must be %s, not %s", fn, argument, want, describe(got)).in(argument)
}

// describe names a value so that a person recognizes it.
func describe(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return "the text " + clip(v.String(), 40)
	case starlark.Int, starlark.Float, starlark.Bool:
		return v.Type() + " " + clip(v.String(), 40)
	case starlark.NoneType:
		return "None"
	case *starlark.Function, *starlark.Builtin:
		return "a function"
	}
	return "a " + v.Type()
}

// clip shortens text to about n bytes, at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}

// duration reads a positive duration.
func duration(fn, argument string, v starlark.Value) (time.Duration, error) {
	s, ok := starlark.AsString(v)
	if !ok {
		f := wrongType(fn, argument, "a duration such as \"250ms\"", v)
		if i, ok := v.(starlark.Int); ok {
			f.do("write %s = \"%ss\" for seconds", argument, i)
		}
		return 0, f
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, faultf("%s: %s = %q is not a duration", fn, argument, clip(s, 40)).in(argument).do("write a number and a unit: \"250ms\", \"10s\", \"1m30s\", \"2h\"")
	case d < 0:
		return 0, faultf("%s: %s = %q is negative", fn, argument, s).in(argument).do("write how long it lasts, such as \"10s\"")
	case d == 0:
		return 0, faultf("%s: %s = %q is no time at all", fn, argument, s).in(argument).do("leave %s out for the default", argument)
	case d > plan.DurationMax:
		return 0, faultf("%s: %s = %q is more than a month", fn, argument, s).in(argument).do("at most \"744h\"")
	}
	return d, nil
}

// list reads a list or a tuple.
func list(fn, argument, of string, v starlark.Value) ([]starlark.Value, error) {
	switch v := v.(type) {
	case *starlark.List:
		out := make([]starlark.Value, v.Len())
		for i := range out {
			out[i] = v.Index(i)
		}
		return out, nil
	case starlark.Tuple:
		return v, nil
	}
	f := wrongType(fn, argument, "a list of "+of, v)
	if s, ok := v.(starlark.String); ok {
		f.do("write %s = [%s]", argument, clip(s.String(), 40))
	}
	return nil, f
}

// names reads a list of texts, which are called what.
func names(fn, argument, what string, v starlark.Value) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	values, err := list(fn, argument, what, v)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(values))
	for i, v := range values {
		s, ok := starlark.AsString(v)
		if !ok {
			f := wrongType(fn, argument, "a list of "+what, v).at(i)
			if c, ok := v.(starlark.Callable); ok {
				f.do("write its name: %q", c.Name())
			}
			return nil, f
		}
		out[i] = s
	}
	return out, nil
}

// checkName refuses names that could not be told apart in a table, a threshold
// or a flag.
func checkName(fn, argument, name string) error {
	if name == "" {
		return faultf("%s: the name is empty", fn).in(argument).do("give it a name of letters, digits, _ and -")
	}
	if len(name) > plan.NameMax {
		return faultf("%s: the name %q is longer than %d characters", fn, clip(name, 20), plan.NameMax).in(argument)
	}
	for _, r := range name {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return faultf("%s: the name %q has a %q in it", fn, name, r).in(argument).do("use letters, digits, _ and -")
		}
	}
	return nil
}
