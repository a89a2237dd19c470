package builtin

import (
	"hyperscale/core/workflow/language"
	"hyperscale/core/workflow/secret"
	"net/url"

	"go.starlark.net/starlark"
)

// Pairs reads a dict of texts; a list of texts as a value repeats the name.
func Pairs(fn, argument string, v starlark.Value) ([]Pair, error) {
	return pairs(fn, argument, v, false)
}

// SentPairs reads those of a request, whose values may be secrets.
func SentPairs(fn, argument string, v starlark.Value) ([]Pair, error) {
	return pairs(fn, argument, v, true)
}

func pairs(fn, argument string, v starlark.Value, sent bool) ([]Pair, error) {
	if v == nil {
		return nil, nil
	}
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, language.WrongType(fn, argument, "a dict such as {\"name\": \"value\"}", v)
	}
	out := make([]Pair, 0, d.Len())
	for _, kv := range d.Items() {
		name, value := kv[0], kv[1]
		key, ok := name.(starlark.String)
		if !ok {
			return nil, language.Faultf("%s: %s has the name %s, which is not a text", fn, argument, language.Describe(name)).In(argument)
		}
		values := []starlark.Value{value}
		if l, ok := value.(*starlark.List); ok {
			values, _ = language.List(fn, argument, "texts", l)
		}
		for _, value := range values {
			switch value := value.(type) {
			case starlark.String:
				out = append(out, Pair{string(key), string(value)})
			case starlark.Int:
				out = append(out, Pair{string(key), value.String()})
			case *secret.Text:
				if !sent {
					return nil, secret.Refusal(fn)
				}
				text, err := value.Sent()
				if err != nil {
					return nil, err
				}
				out = append(out, Pair{string(key), text})
			default:
				return nil, language.Faultf("%s: %s: the value of %q must be a text, not %s", fn, argument, language.Clip(string(key), 40), language.Describe(value)).In(argument)
			}
		}
	}
	return out, nil
}

// EncodeForm writes pairs as application/x-www-form-urlencoded.
func EncodeForm(fields []Pair) []byte {
	var out []byte
	for i, p := range fields {
		if i > 0 {
			out = append(out, '&')
		}
		out = append(append(append(out, url.QueryEscape(p.Name)...), '='), url.QueryEscape(p.Value)...)
	}
	return out
}

// Pair is a name with its value: a header, a parameter, a cookie.
type Pair struct{ Name, Value string }
