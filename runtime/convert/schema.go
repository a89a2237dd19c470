package convert

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// schemas makes examples of what is described. What it makes is bounded: by depth, by a
// budget of steps, and by not following a reference within itself.
type schemas struct {
	root  *object
	left  int
	inner []string

	missed []string // references that lead nowhere
}

const depthMax = 8

// follow resolves a reference within the document.
func (s *schemas) follow(v any) any {
	for range 20 {
		o, ok := v.(*object)
		if !ok {
			return v
		}
		ref, ok := o.get("$ref").(string)
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
	ref = oneLine(ref, 60)
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
		o, ok := at.(*object)
		if !ok {
			return nil
		}
		name = strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}").Replace(name)
		at = o.get(name)
	}
	return at
}

// example is the text of a parameter, and whether the description gives it.
func (s *schemas) example(q *object) (string, bool) {
	for _, v := range []any{q.get("example"), first(q.object("examples")), q.get("x-example")} {
		if text := scalar(v); text != "" {
			return text, true
		}
	}
	schema, _ := s.follow(q.get("schema")).(*object)
	if schema == nil {
		schema = q
	}
	if content := q.object("content"); content != nil && len(content.values) > 0 {
		media, _ := content.values[0].(*object)
		schema, _ = s.follow(media.get("schema")).(*object)
	}
	v, given := s.make(schema, depthMax)
	if all, ok := v.([]any); ok && len(all) > 0 {
		v = all[0]
	}
	if text := scalar(v); text != "" {
		return text, given
	}
	return "value", false
}

// first is the value of the first of some named examples.
func first(examples *object) any {
	if examples == nil || len(examples.values) == 0 {
		return nil
	}
	if o, ok := examples.values[0].(*object); ok {
		return o.get("value")
	}
	return nil
}

// make is a value of a schema, and whether the description gives it.
func (s *schemas) make(v any, depth int) (any, bool) {
	if s.left--; s.left < 0 || depth == 0 {
		return nil, false
	}
	if o, ok := v.(*object); ok {
		if ref, ok := o.get("$ref").(string); ok {
			if slices.Contains(s.inner, ref) {
				return nil, false
			}
			s.inner = append(s.inner, ref)
			defer func() { s.inner = s.inner[:len(s.inner)-1] }()
			v = s.follow(v)
		}
	}
	schema, ok := v.(*object)
	if !ok || schema == nil {
		return nil, false
	}
	for _, key := range []string{"example", "default", "const"} {
		if v := schema.get(key); v != nil {
			return v, true
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if all := schema.list(key); len(all) > 0 && all[0] != nil {
			return all[0], true
		}
	}
	if all := schema.list("allOf"); len(all) > 0 {
		return s.merged(schema, all, depth), false
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if all := schema.list(key); len(all) > 0 {
			return s.make(all[0], depth-1)
		}
	}
	return s.typed(schema, depth)
}

// merged is one object of all that allOf names.
func (s *schemas) merged(schema *object, all []any, depth int) any {
	out := &object{}
	add := func(v any) bool {
		o, ok := v.(*object)
		if ok {
			for i, k := range o.keys {
				out.put(k, o.values[i])
			}
		}
		return ok
	}
	for _, one := range all[:min(len(all), 20)] {
		v, _ := s.make(one, depth-1)
		if !add(v) && v != nil && len(out.keys) == 0 && schema.object("properties") == nil {
			return v
		}
	}
	v, _ := s.properties(schema, depth)
	add(v)
	return out
}

func (s *schemas) typed(schema *object, depth int) (any, bool) {
	kind := schema.text("type")
	if all := schema.list("type"); len(all) > 0 { // 3.1
		kind = scalar(all[0])
		if kind == "null" && len(all) > 1 {
			kind = scalar(all[1])
		}
	}
	if kind == "" && schema.object("properties") != nil {
		kind = "object"
	}
	switch kind {
	case "integer", "number":
		return json.Number(number(schema)), false
	case "boolean":
		return true, false
	case "array":
		one, given := s.make(schema.get("items"), depth-1)
		if one == nil {
			return []any{}, false
		}
		return []any{one}, given
	case "object":
		return s.properties(schema, depth)
	}
	return sampleText(schema), false
}

func number(schema *object) string {
	for _, key := range []string{"minimum", "exclusiveMinimum"} {
		if f, err := strconv.ParseFloat(schema.text(key), 64); err == nil && f > 1 && f < 1e9 {
			return strconv.FormatInt(int64(math.Floor(f))+1, 10)
		}
	}
	return "1"
}

// properties are those that are required, or all if none is said to be; what is only read is not sent.
func (s *schemas) properties(schema *object, depth int) (any, bool) {
	out := &object{}
	all := schema.object("properties")
	if all == nil {
		return out, false
	}
	required := schema.list("required")
	for i, name := range all.keys {
		property, _ := s.follow(all.values[i]).(*object)
		if property == nil || property.get("readOnly") == true || len(out.keys) >= 50 {
			continue
		}
		if len(required) > 0 && !slices.Contains(required, any(name)) && property.get("example") == nil {
			continue
		}
		if v, _ := s.make(all.values[i], depth-1); v != nil {
			out.put(name, v)
		}
	}
	return out, false
}

func sampleText(schema *object) string {
	switch schema.text("format") {
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
		return placeholder
	}
	text := "text"
	if n, err := strconv.Atoi(schema.text("minLength")); err == nil && n > len(text) && n < 200 {
		text = strings.Repeat("x", n)
	}
	if n, err := strconv.Atoi(schema.text("maxLength")); err == nil && n >= 0 && n < len(text) {
		text = text[:n]
	}
	return text
}

// cleanJSON copies a value without what cannot be written.
func cleanJSON(v any) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cleanJSON(v[i])
		}
		return out
	case *object:
		out := &object{}
		for i, k := range v.keys {
			out.put(clean(k), cleanJSON(v.values[i]))
		}
		return out
	}
	return v
}

// fromYAML makes of what the library reads what parseJSON makes.
func fromYAML(v any, depth int, nodes *int) (any, error) {
	if *nodes--; *nodes < 0 || depth == 0 {
		return nil, errDeep
	}
	switch v := v.(type) {
	case yaml.MapSlice:
		o := &object{}
		for _, m := range v {
			value, err := fromYAML(m.Value, depth-1, nodes)
			if err != nil {
				return nil, err
			}
			o.put(fmt.Sprint(m.Key), value)
		}
		return o, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			value, err := fromYAML(v[i], depth-1, nodes)
			if err != nil {
				return nil, err
			}
			out[i] = value
		}
		return out, nil
	case nil, bool, string:
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil
		}
		return json.Number(strconv.FormatFloat(v, 'f', -1, 64)), nil
	case int, int64, uint64:
		return json.Number(fmt.Sprint(v)), nil
	}
	return clean(fmt.Sprint(v)), nil
}
