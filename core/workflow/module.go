package workflow

import (
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// addModules adds what is built in because users of a hermetic language cannot
// add it to what a file sees.
func addModules(all starlark.StringDict) {
	all["aws"] = newNamespace("aws", starlark.StringDict{"sign": awsSign()})
	all["base64"] = base64Namespace()
	all["feed"] = feedNamespace()
	all["file"] = declaring("file", (*loader).file)
	all["hex"] = hexNamespace()
	all["hmac"] = hmacFunction()
	all["html"] = htmlNamespace()
	all["jwt"] = jwtNamespace()
	all["math"] = mathNamespace()
	for _, name := range []string{"md5", "sha1", "sha256", "sha512"} {
		all[name] = digestFunction(name)
	}
	all["regex"] = callable{regexNamespace(), extractor("regex", "pattern", extractRegex)}
	all["struct"] = &guard{"struct", newStruct}
	all["time"] = timeNamespace()
	all["url"] = urlNamespace()
	all["uuid"] = uuidNamespace()
	all["xml"] = xmlNamespace()
}

// function makes one of a module: its arguments are those named, the first
// positional of them also without a name, and the first required of them must
// be given. What is not given is nil.
func function(fn, name string, names []string, positional, required int, call func(*starlark.Thread, []starlark.Value) (starlark.Value, error)) *guard {
	return &guard{name, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		in := make([]starlark.Value, len(names))
		if err := bind(fn, names, positional, args, kwargs, in); err != nil {
			return nil, err
		}
		for i, v := range in[:required] {
			if v == nil {
				return nil, faultf("%s: %s is missing", fn, names[i]).do("it takes %s", listed(names[:required]))
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

// content reads a text or bytes, of at most so many.
func content(fn, argument string, v starlark.Value, most int) (string, error) {
	var s string
	switch v := v.(type) {
	case starlark.String:
		s = string(v)
	case starlark.Bytes:
		s = string(v)
	default:
		return "", wrongType(fn, argument, "a text or bytes", v)
	}
	if len(s) > most {
		return "", faultf("%s: %s has %s, the limit is %s", fn, argument, size(uint64(len(s))), size(uint64(most))).in(argument)
	}
	return s, nil
}

// worked charges for reading n bytes, and admits a text of made bytes.
func worked(thread *starlark.Thread, fn string, n, made int) error {
	thread.Steps += uint64(n) / 8 // 8 bytes of a digest take about a step's time
	return meterOf(thread).text(thread, fn, made)
}

// oneOf reads one of the words; not given, it is the first.
func oneOf(fn, argument string, v starlark.Value, words []string) (string, error) {
	if v == nil {
		return words[0], nil
	}
	s, ok := v.(starlark.String)
	if !ok {
		return "", wrongType(fn, argument, "a text", v)
	}
	for _, w := range words {
		if w == string(s) {
			return w, nil
		}
	}
	return "", faultf("%s: %s = %q is unknown", fn, argument, clip(string(s), 40)).in(argument).meant(string(s), words)
}

// mathNamespace is Starlark's own.
func mathNamespace() *namespace {
	members := starlark.StringDict{}
	for _, name := range math.Module.Members.Keys() {
		members[name] = math.Module.Members[name]
	}
	return newNamespace("math", members)
}

func newStruct(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		return nil, faultf("struct takes named arguments only").do("write struct(name = value)")
	}
	if err := meterOf(thread).elements(thread, "struct", len(kwargs)); err != nil {
		return nil, err
	}
	s := starlarkstruct.FromKeywords(starlarkstruct.Default, kwargs)
	return s, meterOf(thread).woven(thread, s)
}

// fields are the members of a struct, sorted by name.
func fields(s *starlarkstruct.Struct) []starlark.Tuple {
	names := s.AttrNames()
	out := make([]starlark.Tuple, len(names))
	for i, name := range names {
		v, _ := s.Attr(name) // it has what it lists
		out[i] = starlark.Tuple{starlark.String(name), v}
	}
	return out
}
