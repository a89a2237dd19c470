package language

import (
	"errors"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"hyperscale/core/plan"
)

// Bind sorts a call's arguments into out, in the order of names; a missing one stays nil. The
// first positional ones may be given without a name. starlark.UnpackArgs does the same for 180
// ns and four allocations; this runs in every request that a function sends.
func Bind(fn string, names []string, positional int, args starlark.Tuple, kwargs []starlark.Tuple, out []starlark.Value) error {
	if len(args) > positional {
		if positional == 0 {
			return Faultf("%s takes named arguments only", fn).Meant("", names)
		}
		f := Faultf("%s takes at most %d arguments without a name, got %d", fn, positional, len(args))
		return f.Do("the others need names: %s = ...", names[min(positional, len(names)-1)])
	}
	copy(out, args)
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		i := slices.Index(names, name)
		if i < 0 {
			f := Faultf("%s has no argument %q", fn, name).In(name).Meant(name, names)
			f.keyword, f.Takes, f.Positional = true, names, positional
			if absent := Absent(fn, name); absent != "" {
				f.Remedy = absent
			}
			return f
		}
		if out[i] != nil {
			return Faultf("%s got its argument %q twice", fn, name).In(name)
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

// BindRest is Bind for a function that takes any number of arguments behind the positional ones. It
// returns them.
func BindRest(fn string, names []string, positional int, rest string, args starlark.Tuple, kwargs []starlark.Tuple, out []starlark.Value) (starlark.Tuple, error) {
	n := min(positional, len(args))
	err := Bind(fn, names, positional, args[:n], kwargs, out)
	var why *Fault
	if errors.As(err, &why) {
		why.Rest = rest
	}
	return args[n:], err
}

// WrongType returns the fault of an argument of the wrong type.
func WrongType(fn, argument, want string, got starlark.Value) *Fault {
	return Faultf("%s: %s must be %s, not %s", fn, argument, want, Describe(got)).In(argument)
}

// Describe names a value so that users recognize it.
func Describe(v starlark.Value) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case starlark.String:
		return "the text " + Clip(v.String(), 40)
	case starlark.Int, starlark.Float, starlark.Bool:
		return v.Type() + " " + Clip(v.String(), 40)
	case starlark.NoneType:
		return "None"
	case *starlark.Function, *starlark.Builtin:
		return "a function"
	}
	return "a " + v.Type()
}

// Clip shortens text to about n bytes, at a character.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "..."
}

// Duration reads a positive duration.
func Duration(fn, argument string, v starlark.Value) (time.Duration, error) {
	s, ok := starlark.AsString(v)
	if !ok {
		f := WrongType(fn, argument, "a duration such as \"250ms\"", v)
		if i, ok := v.(starlark.Int); ok {
			f.Do("write %s = \"%ss\" for seconds", argument, i)
		}
		return 0, f
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, Faultf("%s: %s = %q is not a duration", fn, argument, Clip(s, 40)).In(argument).Do("write a number and a unit: \"250ms\", \"10s\", \"1m30s\", \"2h\"")
	case d < 0:
		return 0, Faultf("%s: %s = %q is negative", fn, argument, s).In(argument).Do("write how long it lasts, such as \"10s\"")
	case d == 0:
		return 0, Faultf("%s: %s = %q is no time at all", fn, argument, s).In(argument).Do("leave %s out for the default", argument)
	case d > plan.DurationMax:
		return 0, Faultf("%s: %s = %q is more than a month", fn, argument, s).In(argument).Do("at most \"744h\"")
	}
	return d, nil
}

// List reads a list or a tuple.
func List(fn, argument, of string, v starlark.Value) ([]starlark.Value, error) {
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
	f := WrongType(fn, argument, "a list of "+of, v)
	if s, ok := v.(starlark.String); ok {
		f.Do("write %s = [%s]", argument, Clip(s.String(), 40))
	}
	return nil, f
}

// Names reads a list of texts; what names them in errors.
func Names(fn, argument, what string, v starlark.Value) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	values, err := List(fn, argument, what, v)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(values))
	for i, v := range values {
		s, ok := starlark.AsString(v)
		if !ok {
			f := WrongType(fn, argument, "a list of "+what, v).At(i)
			if c, ok := v.(starlark.Callable); ok {
				f.Do("write its name: %q", c.Name())
			}
			return nil, f
		}
		out[i] = s
	}
	return out, nil
}

// CheckName rejects names that readers could not distinguish in a table, a threshold or a flag.
func CheckName(fn, argument, name string) error {
	if name == "" {
		return Faultf("%s: the name is empty", fn).In(argument).Do("give it a name of letters, digits, _ and -")
	}
	if len(name) > plan.NameMax {
		return Faultf("%s: the name %q is longer than %d characters", fn, Clip(name, 20), plan.NameMax).In(argument)
	}
	for _, r := range name {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return Faultf("%s: the name %q has a %q in it", fn, name, r).In(argument).Do("use letters, digits, _ and -")
		}
	}
	return nil
}

// Integer reads a number between low and high.
func Integer(fn, argument string, v starlark.Value, low, high int) (int, error) {
	i, ok := v.(starlark.Int)
	if !ok {
		return 0, WrongType(fn, argument, "a whole number", v)
	}
	n, ok := i.Int64()
	if !ok || n < int64(low) || n > int64(high) {
		return 0, Faultf("%s: %s = %s is not between %d and %d", fn, argument, Clip(i.String(), 24), low, high).In(argument)
	}
	return int(n), nil
}

// IsToken says whether s is a token of HTTP: a method, the name of a header.
func IsToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// Texts binds arguments that are all texts; the first required ones must be given.
func Texts(fn string, names []string, required int, args starlark.Tuple, kwargs []starlark.Tuple, out []string) error {
	in := make([]starlark.Value, len(names))
	if err := Bind(fn, names, len(names), args, kwargs, in); err != nil {
		return err
	}
	for i, v := range in {
		if v == nil && i >= required {
			continue
		}
		s, ok := v.(starlark.String)
		if v == nil {
			return Faultf("%s: %s is missing", fn, names[i])
		}
		if !ok {
			return WrongType(fn, names[i], "a text", v)
		}
		out[i] = string(s)
	}
	return nil
}

// Variable is how the environment spells a name: in upper case, with _ for -.
func Variable(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }
