package convert

import (
	"encoding/json"
	"slices"
	"strings"
)

func (p writer) json(v any) node {
	switch v := v.(type) {
	case nil:
		return atom("None")
	case bool:
		if v {
			return atom("True")
		}
		return atom("False")
	case json.Number:
		return atom(v.String())
	case string:
		return atom(p.text(v))
	case []any:
		var items []item
		for _, e := range v {
			items = append(items, item{value: p.json(e)})
		}
		return list(items...)
	case *Object:
		var items []item
		for i, k := range v.Keys {
			items = append(items, item{key: p.text(k) + ": ", value: p.json(v.Values[i])})
		}
		return dict(items...)
	}
	return atom("None")
}

// numbered says whether a number is filled in: json = has texts only for that.
func numbered(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return Marked(v.String())
	case []any:
		return slices.ContainsFunc(v, numbered)
	case *Object:
		return slices.ContainsFunc(v.Values, numbered)
	}
	return false
}

// encoded prints JSON as a text. Params in it are encoded when the file is loaded.
func (p writer) encoded(v any) string {
	var out []string
	literal := ""
	flush := func() {
		if literal != "" {
			out = append(out, p.text(literal))
			literal = ""
		}
	}
	var write func(v any)
	write = func(v any) {
		switch v := v.(type) {
		case string:
			if slices.ContainsFunc(Pieces(v), func(q piece) bool { return q.Mark == ParamOpen }) {
				flush()
				out = append(out, "json.encode("+p.text(v)+")")
				return
			}
			literal += JsonText(v)
		case []any:
			literal += "["
			for i, e := range v {
				if i > 0 {
					literal += ", "
				}
				write(e)
			}
			literal += "]"
		case *Object:
			literal += "{"
			for i, k := range v.Keys {
				if i > 0 {
					literal += ", "
				}
				literal += JsonText(k) + ": "
				write(v.Values[i])
			}
			literal += "}"
		case json.Number:
			literal += v.String()
		default:
			literal += JsonText(v)
		}
	}
	write(v)
	flush()
	return strings.Join(out, " + ")
}

// JsonText encodes a value without parts.
func JsonText(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // of texts, bools and nil there is none
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
