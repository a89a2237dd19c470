package convert

import (
	"slices"
	"strings"
)

// consumes is the type that an operation of Swagger 2 takes.
func (a *api) consumes(op *object) string {
	all := op.list("consumes")
	if len(all) == 0 {
		all = a.root.list("consumes")
	}
	for _, v := range all {
		if strings.Contains(scalar(v), "json") {
			return scalar(v)
		}
	}
	if len(all) > 0 {
		return scalar(all[0])
	}
	return ""
}

// bodyOf is the body of Swagger 2.
func (a *api) bodyOf(s *step, kind string, q *object) {
	v, _ := a.make(q.get("schema"), depthMax)
	if kind == "" {
		kind = "application/json"
	}
	a.setBody(s, kind, v)
}

func (a *api) formOf(s *step, kind string, form *object) {
	files := false
	v := &object{}
	for i, name := range form.keys {
		q := form.values[i].(*object)
		if q.text("type") == "file" {
			files = true
			v.put(name, &object{keys: []string{"format"}, values: []any{"binary"}})
			continue
		}
		if q.get("required") == true {
			text, _ := a.example(q)
			v.put(name, text)
		}
	}
	if files || strings.Contains(kind, "multipart") {
		kind = "multipart/form-data"
	} else {
		kind = "application/x-www-form-urlencoded"
	}
	a.setBody(s, kind, v)
}

// content is the body of OpenAPI 3: JSON if it may be.
func (a *api) content(s *step, op *object) {
	request, _ := a.follow(op.get("requestBody")).(*object)
	content := request.object("content")
	if content == nil || len(content.keys) == 0 {
		return
	}
	at := 0
	for _, want := range []string{"multipart/", "x-www-form-urlencoded", "json"} {
		if i := slices.IndexFunc(content.keys, func(k string) bool { return strings.Contains(k, want) }); i >= 0 {
			at = i
		}
	}
	media, _ := content.values[at].(*object)
	v := media.get("example")
	if v == nil {
		v = first(media.object("examples"))
	}
	if v == nil {
		if schema, _ := a.follow(media.get("schema")).(*object); strings.HasPrefix(content.keys[at], "multipart/") && schema != nil {
			v = a.fileFields(schema)
		} else {
			v, _ = a.make(media.get("schema"), depthMax)
		}
	}
	a.setBody(s, clean(content.keys[at]), v)
}

// fileFields is an example of a form whose files are told as such.
func (a *api) fileFields(schema *object) any {
	v, _ := a.make(schema, depthMax)
	out, ok := v.(*object)
	if !ok {
		return v
	}
	for i, name := range schema.object("properties").keysOf() {
		if q, _ := a.follow(schema.object("properties").values[i]).(*object); q.text("format") == "binary" && out.index(name) >= 0 {
			out.put(name, &object{keys: []string{"format"}, values: []any{"binary"}})
		}
	}
	return out
}

func (a *api) setBody(s *step, kind string, v any) {
	o, isObject := v.(*object)
	switch {
	case v == nil:
		a.p.warn(s, "its body (%s) is not described: write one", clip(kind, 60))
	case strings.Contains(kind, "json") || kind == "*/*":
		text := cleanJSON(v)
		if !plainNumbers(text) {
			a.p.warn(s, "its body has numbers that cannot be kept as they are written: write them")
			return
		}
		s.body = body{kind: bodyJSON, json: text}
		if kind != "application/json" && kind != "*/*" {
			s.headers = append(s.headers, pair{"Content-Type", kind})
		}
	case strings.HasPrefix(kind, "multipart/") && isObject:
		s.body.kind = bodyMultipart
		for i, name := range o.keys {
			q := part{name: clean(name), value: flat(o.values[i])}
			if f, ok := o.values[i].(*object); ok && f.text("format") == "binary" {
				q.filename, q.value = clean(name)+".bin", "contents of "+clean(name)
				a.p.warn(s, "%s is a file: put one beside this and write http.part(file(\"name\"), filename = \"name\")", clip(name, 40))
			}
			s.body.parts = append(s.body.parts, q)
		}
		a.p.tidyParts(s)
	case strings.Contains(kind, "x-www-form-urlencoded") && isObject:
		s.body.kind = bodyForm
		for i, name := range o.keys {
			s.body.form = append(s.body.form, pair{clean(name), flat(o.values[i])})
		}
	default:
		s.body = body{kind: bodyText, text: flat(v)}
		s.headers = append(s.headers, pair{"Content-Type", kind})
		if _, text := v.(string); !text {
			a.p.warn(s, "its body is to be %s, which is not made here: write one", clip(kind, 60))
			s.body.text = "text"
		}
	}
}

// flat is a value as one text.
func flat(v any) string {
	if all, ok := v.([]any); ok {
		var out []string
		for _, e := range all {
			out = append(out, flat(e))
		}
		return strings.Join(out, ",")
	}
	return scalar(v)
}
