package openapi

import (
	"encoding/json"
	"hyperscale/runtime/convert"
	"math"
	"slices"
	"strconv"
	"strings"
)

// schemas makes examples of schemas. Its output is bounded: by depth, by a budget of steps, and
// because it follows no reference within itself.
type schemas struct {
	root  *convert.Object
	left  int
	inner []string

	missed []string // references that lead nowhere
}

const depthMax = 8

// follow resolves a reference within the document.
func (s *schemas) follow(v any) any {
	for range 20 {
		o, ok := v.(*convert.Object)
		if !ok {
			return v
		}
		ref, ok := o.Get("$ref").(string)
		if !ok {
			return v
		}
		if v = s.resolve(ref); v == nil {
			s.miss(ref)
		}
	}
	return nil
}

func (s *schemas) miss(ref string) {
	ref = convert.OneLine(ref, 60)
	if len(s.missed) < 5 && !slices.Contains(s.missed, ref) {
		s.missed = append(s.missed, ref)
	}
}

func (s *schemas) resolve(ref string) any {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok || len(ref) > 500 {
		return nil
	}
	var at any = s.root
	for _, name := range strings.Split(rest, "/") {
		o, ok := at.(*convert.Object)
		if !ok {
			return nil
		}
		name = strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}").Replace(name)
		at = o.Get(name)
	}
	return at
}

// example is the text of a parameter, and whether the description gives it.
func (s *schemas) example(q *convert.Object) (string, bool) {
	for _, v := range []any{q.Get("example"), first(q.Object("examples")), q.Get("x-example")} {
		if text := convert.Scalar(v); text != "" {
			return text, true
		}
	}
	schema, _ := s.follow(q.Get("schema")).(*convert.Object)
	if schema == nil {
		schema = q
	}
	if content := q.Object("content"); content != nil && len(content.Values) > 0 {
		media, _ := content.Values[0].(*convert.Object)
		schema, _ = s.follow(media.Get("schema")).(*convert.Object)
	}
	v, given := s.make(schema, depthMax)
	if all, ok := v.([]any); ok && len(all) > 0 {
		v = all[0]
	}
	if text := convert.Scalar(v); text != "" {
		return text, given
	}
	return "value", false
}

// first is the value of the first of some named examples.
func first(examples *convert.Object) any {
	if examples == nil || len(examples.Values) == 0 {
		return nil
	}
	if o, ok := examples.Values[0].(*convert.Object); ok {
		return o.Get("value")
	}
	return nil
}

// make is a value of a schema, and whether the description gives it.
func (s *schemas) make(v any, depth int) (any, bool) {
	if s.left--; s.left < 0 || depth == 0 {
		return nil, false
	}
	if o, ok := v.(*convert.Object); ok {
		if ref, ok := o.Get("$ref").(string); ok {
			if slices.Contains(s.inner, ref) {
				return nil, false
			}
			s.inner = append(s.inner, ref)
			defer func() { s.inner = s.inner[:len(s.inner)-1] }()
			v = s.follow(v)
		}
	}
	schema, ok := v.(*convert.Object)
	if !ok || schema == nil {
		return nil, false
	}
	for _, key := range []string{"example", "default", "const"} {
		if v := schema.Get(key); v != nil {
			return v, true
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if all := schema.List(key); len(all) > 0 && all[0] != nil {
			return all[0], true
		}
	}
	if all := schema.List("allOf"); len(all) > 0 {
		return s.merged(schema, all, depth), false
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if all := schema.List(key); len(all) > 0 {
			return s.make(all[0], depth-1)
		}
	}
	return s.typed(schema, depth)
}

// merged is one object of all that allOf names.
func (s *schemas) merged(schema *convert.Object, all []any, depth int) any {
	out := &convert.Object{}
	add := func(v any) bool {
		o, ok := v.(*convert.Object)
		if ok {
			for i, k := range o.Keys {
				out.Put(k, o.Values[i])
			}
		}
		return ok
	}
	for _, one := range all[:min(len(all), 20)] {
		v, _ := s.make(one, depth-1)
		if !add(v) && v != nil && len(out.Keys) == 0 && schema.Object("properties") == nil {
			return v
		}
	}
	v, _ := s.properties(schema, depth)
	add(v)
	return out
}

func (s *schemas) typed(schema *convert.Object, depth int) (any, bool) {
	kind := schema.Text("type")
	if all := schema.List("type"); len(all) > 0 { // 3.1
		kind = convert.Scalar(all[0])
		if kind == "null" && len(all) > 1 {
			kind = convert.Scalar(all[1])
		}
	}
	if kind == "" && schema.Object("properties") != nil {
		kind = "object"
	}
	switch kind {
	case "integer", "number":
		return json.Number(number(schema)), false
	case "boolean":
		return true, false
	case "array":
		one, given := s.make(schema.Get("items"), depth-1)
		if one == nil {
			return []any{}, false
		}
		return []any{one}, given
	case "object":
		return s.properties(schema, depth)
	}
	return sampleText(schema), false
}

func number(schema *convert.Object) string {
	for _, key := range []string{"minimum", "exclusiveMinimum"} {
		if f, err := strconv.ParseFloat(schema.Text(key), 64); err == nil && f > 1 && f < 1e9 {
			return strconv.FormatInt(int64(math.Floor(f))+1, 10)
		}
	}
	return "1"
}

// properties returns the required properties, or all if none is required. It omits read-only
// ones, which a client does not send.
func (s *schemas) properties(schema *convert.Object, depth int) (any, bool) {
	out := &convert.Object{}
	all := schema.Object("properties")
	if all == nil {
		return out, false
	}
	required := schema.List("required")
	for i, name := range all.Keys {
		property, _ := s.follow(all.Values[i]).(*convert.Object)
		if property == nil || property.Get("readOnly") == true || len(out.Keys) >= 50 {
			continue
		}
		if len(required) > 0 && !slices.Contains(required, any(name)) && property.Get("example") == nil {
			continue
		}
		if v, _ := s.make(all.Values[i], depth-1); v != nil {
			out.Put(name, v)
		}
	}
	return out, false
}

func sampleText(schema *convert.Object) string {
	switch schema.Text("format") {
	case "uuid":
		return "00000000-0000-4000-8000-000000000000"
	case "date":
		return "2025-01-01"
	case "date-time":
		return "2025-01-01T00:00:00Z"
	case "email":
		return "user@example.com"
	case "uri", "url":
		return "https://example.com/"
	case "ipv4":
		return "192.0.2.1"
	case "byte":
		return "dGV4dA=="
	case "password":
		return convert.Placeholder
	}
	text := "text"
	if n, err := strconv.Atoi(schema.Text("minLength")); err == nil && n > len(text) && n < 200 {
		text = strings.Repeat("x", n)
	}
	if n, err := strconv.Atoi(schema.Text("maxLength")); err == nil && n >= 0 && n < len(text) {
		text = text[:n]
	}
	return text
}

// cleanJSON copies a value without parts that JSON cannot express.
func cleanJSON(v any) any {
	switch v := v.(type) {
	case string:
		return convert.Clean(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cleanJSON(v[i])
		}
		return out
	case *convert.Object:
		out := &convert.Object{}
		for i, k := range v.Keys {
			out.Put(convert.Clean(k), cleanJSON(v.Values[i]))
		}
		return out
	}
	return v
}
